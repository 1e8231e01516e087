"""From the text that an LM wrote to the typed outputs of a Signature.

Pure functions. They read JSON with prose, fences or thinking around it, repair
what is unambiguous, drop the items that are not, keep the rest, and count what
was dropped. They never guess: an empty reply, an echoed schema or a reply cut
in the middle of its only answer is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import json_repair
from pydantic import BaseModel, TypeAdapter, ValidationError

from stateauditor.signatures.errors import (
    EmptyOutputError,
    ModelOutputError,
    TruncatedOutputError,
)
from stateauditor.signatures.surrogates import replace_surrogates
from stateauditor.signatures.wire import as_text

REASONING = "reasoning"
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_SCHEMA_KEYS = {"properties", "$defs", "$schema", "$ref"}


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The typed outputs; ``dropped`` counts items left out, ``cut`` tells of truncation."""

    values: dict[str, Any]
    dropped: int = 0
    cut: bool = False


def parse_reply(text: str, outputs: Mapping[str, Any], *, truncated: bool = False) -> ParsedReply:
    """Read ``text`` as one JSON object with the fields of ``outputs`` (name -> annotation).

    ``truncated`` says that the backend stopped at its token limit. Raises
    :class:`EmptyOutputError`, :class:`TruncatedOutputError` or
    :class:`ModelOutputError`; messages never contain the text itself.
    """
    text = _THINKING.sub("", replace_surrogates(text)).strip()
    if not text:
        raise EmptyOutputError("the reply was empty")
    found, cut = _find_object(text, outputs)
    if found is None:
        if truncated:
            raise TruncatedOutputError("the reply was cut before any whole JSON object")
        raise ModelOutputError(f"no JSON object with any of the fields {sorted(outputs)}")
    cut = cut or (truncated and not text.endswith(("}", "```")))
    dropped = 0
    values: dict[str, Any] = {}
    last_key = list(found)[-1] if found else None
    for name, annotation in outputs.items():
        incomplete = cut and name == last_key
        value, lost = _read_field(name, annotation, found, incomplete=incomplete)
        values[name] = value
        dropped += lost
    answered = [name for name in outputs if name != REASONING and name in found]
    if cut and not answered:
        raise TruncatedOutputError("the reply was cut before its answer")
    return ParsedReply(values, dropped, cut)


def _find_object(text: str, outputs: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
    """The object that answers, and whether it had to be closed for the model."""
    best: dict[str, Any] | None = None
    best_score = 0
    for candidate in _json_candidates(text):
        shaped = _shape(candidate, outputs)
        score = len(shaped) if shaped else 0
        if shaped and score >= best_score:  # later wins: forged JSON in prose comes first
            best, best_score = shaped, score
    if best is not None:
        return best, False
    start = text.find("{")
    if start < 0:
        return None, False
    repaired = json_repair.loads(text[start:])
    if isinstance(repaired, list):  # several objects, or an object and trailing prose
        repaired = next((item for item in reversed(repaired) if isinstance(item, dict)), None)
    shaped = _shape(repaired, outputs)
    return shaped, shaped is not None and _unclosed(text[start:])


def _json_candidates(text: str) -> Iterator[Any]:
    """Values in the text: the whole, else each fenced block, else each balanced object."""
    whole = _loads(text)
    if whole is not None:
        yield whole
        return
    fenced = [value for block in _FENCE.findall(text) if (value := _loads(block)) is not None]
    if fenced:
        yield from fenced
        return
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            position = text.find("{", position + 1)
            continue
        yield value
        position = text.find("{", end)


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (json.JSONDecodeError, RecursionError):
        return None


def _unclosed(text: str) -> bool:
    """Whether brackets opened in ``text`` outside strings are still open at its end."""
    depth, in_string, escaped = 0, False, False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
    return in_string or depth > 0


def _shape(value: Any, outputs: Mapping[str, Any]) -> dict[str, Any] | None:
    """``value`` as an object keyed by output names, or None where it answers nothing."""
    lists = [name for name, annotation in outputs.items() if _item_type(annotation) is not None]
    if isinstance(value, list) and len(lists) == 1:
        return {lists[0]: value}
    if not isinstance(value, dict):
        return None
    names = {name.casefold(): name for name in outputs}
    shaped = {
        names[key.strip().casefold()]: item
        for key, item in value.items()
        if isinstance(key, str) and key.strip().casefold() in names
    }
    if shaped:
        return shaped
    if _SCHEMA_KEYS & value.keys():
        raise ModelOutputError("the reply echoed the schema instead of an answer")
    inner = [item for item in value.values() if isinstance(item, dict)]
    return _shape(inner[0], outputs) if len(value) == 1 and inner else None


def _item_type(annotation: Any) -> type[BaseModel] | None:
    """The model ``M`` of a field annotated ``list[M]``."""
    if get_origin(annotation) is list:
        (item,) = get_args(annotation)
        if isinstance(item, type) and issubclass(item, BaseModel):
            return item
    return None


def _read_field(
    name: str, annotation: Any, found: Mapping[str, Any], *, incomplete: bool
) -> tuple[Any, int]:
    """One output field and how many of its items were dropped."""
    item = _item_type(annotation)
    if item is not None:
        return _read_items(item, found.get(name), incomplete=incomplete)
    if annotation is str:
        text = as_text(found.get(name))
        if not isinstance(text, str):
            text = json.dumps(text, ensure_ascii=False)
        if name == REASONING:
            return text, 0
        if incomplete:
            raise TruncatedOutputError(f"the reply was cut inside {name!r}")
        if name not in found:
            raise ModelOutputError(f"the reply has no {name!r}")
        return text, 0
    if name not in found:
        raise ModelOutputError(f"the reply has no {name!r}")
    try:
        return TypeAdapter(annotation).validate_python(found[name]), 0
    except ValidationError as error:
        raise ModelOutputError(f"{name!r} is not of its type: {_kinds(error)}") from None


def _read_items(item: type[BaseModel], raw: Any, *, incomplete: bool) -> tuple[list[Any], int]:
    """Every item that validates; one that is cut off at the end cannot be trusted."""
    if isinstance(raw, str):
        raw = _loads(raw) if raw.strip() else None
        if raw is None:
            return [], 0
    if raw is None:
        return [], 0
    if isinstance(raw, dict):
        raw = [raw]
    if not isinstance(raw, list):
        return [], 1
    dropped = 0
    if incomplete and raw:
        raw, dropped = raw[:-1], 1
    items = []
    for value in raw:
        try:
            items.append(item.model_validate(value))
        except ValidationError:
            dropped += 1
    return items, dropped


def _kinds(error: ValidationError) -> str:
    """What was wrong, without the offending input (it may be memory text)."""
    return "; ".join(sorted({detail["type"] for detail in error.errors(include_input=False)}))
