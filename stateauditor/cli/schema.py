"""``stateauditor schema``: JSON Schemas of what goes in and what comes out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from stateauditor.cli import options
from stateauditor.cli.console import write_json

EXAMPLES = options.examples(
    "stateauditor schema input > input.schema.json",
    "stateauditor schema result",
)


class SchemaName(StrEnum):
    """What there is a schema of."""

    INPUT = "input"
    RESULT = "result"
    CONFIG = "config"


def schema(
    name: Annotated[
        SchemaName,
        typer.Argument(
            metavar="|".join(SchemaName),
            help="INPUT.json, the result of audit --json, or a backend file.",
        ),
    ],
) -> None:
    """Print the JSON Schema of input, result or config.

    For editors, code generators and validation in other languages.
    """
    write_json(json_schema(name))


def json_schema(name: SchemaName) -> dict[str, Any]:
    """The JSON Schema called ``name``."""
    from stateauditor.program.backends.config import BackendConfig
    from stateauditor.signatures.models import AuditResult

    if name is SchemaName.INPUT:
        return INPUT
    if name is SchemaName.RESULT:
        return AuditResult.model_json_schema(mode="serialization")
    return BackendConfig.model_json_schema()


_SOME_TEXT = {"type": "string", "pattern": "\\S"}
_TIME = {
    "type": ["string", "number"],
    "description": "ISO 8601 with or without zone (naive is UTC), YYYY-MM-DD, YYYY-MM-DD HH:MM, "
    "YYYY/MM/DD (Sat) HH:MM, '1:56 pm on 8 May, 2023', or epoch seconds.",
}
_CONTENT = {
    "description": "Text, a list of parts whose text parts are joined, or null.",
    "type": ["string", "array", "null"],
}

INPUT: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "INPUT.json",
    "description": "A user's memory with one question and draft, or with several as pairs. "
    "For retrieval the draft may be left out.",
    "type": "object",
    "properties": {
        "$schema": {"type": "string"},
        "memory": {
            "description": "Facts and sessions in any order and mixture, or a Stale record. What "
            "other stores write is read, too (see --format), and has no schema here.",
            "anyOf": [
                {
                    "type": "array",
                    "items": {"anyOf": [{"$ref": "#/$defs/fact"}, {"$ref": "#/$defs/session"}]},
                },
                {"$ref": "#/$defs/stale_record"},
            ],
        },
        "question": _SOME_TEXT,
        "draft": _SOME_TEXT,
        "pairs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"question": _SOME_TEXT, "draft": _SOME_TEXT},
                "required": ["question", "draft"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["memory"],
    "additionalProperties": False,
    "oneOf": [
        {"required": ["question"]},
        {
            "required": ["pairs"],
            "not": {"anyOf": [{"required": ["question"]}, {"required": ["draft"]}]},
        },
    ],
    "$defs": {
        "fact": {
            "description": "A stored statement about the user. Other keys are ignored.",
            "type": "object",
            "properties": {
                "id": {"type": ["string", "integer", "null"]},
                "timestamp": _TIME,
                "text": {"type": "string"},
                "invalid_at": {**_TIME, "description": "When it stopped being true, if it did."},
            },
            "required": ["timestamp", "text"],
        },
        "session": {
            "description": "A conversation. A turn may have a time of its own.",
            "type": "object",
            "properties": {
                "id": {"type": ["string", "integer", "null"]},
                "timestamp": _TIME,
                "turns": {"type": "array", "items": {"$ref": "#/$defs/turn"}},
            },
            "required": ["turns"],
        },
        "turn": {
            "type": "object",
            "properties": {
                "role": {"type": "string"},
                "content": _CONTENT,
                "timestamp": _TIME,
            },
            "required": ["role", "content"],
        },
        "stale_record": {
            "description": "A record of the Stale benchmark; no other field is looked at.",
            "type": "object",
            "properties": {
                "haystack_session": {"type": ["array", "string"]},
                "timestamps": {"type": ["array", "string"]},
            },
            "required": ["haystack_session", "timestamps"],
        },
    },
}
