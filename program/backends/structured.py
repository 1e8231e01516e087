"""Typed output: how strictly an address can be asked for it, and the schema to ask with."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import ConfigDict, create_model

from stateauditor.program.backends.config import StructuredOutput

SECOND_THOUGHT = 50  # answers after which a doubtful refusal is put to the test


class StructuredMode:
    """The strictest output mode that an address has been seen to accept.

    Shared by all LMs of one address and model: a refusal is paid for once. A refusal by a
    server error may have been a fault of the moment, so after some answers the stricter
    mode is tried once more; what is refused twice stays refused.
    """

    _LADDER = (StructuredOutput.JSON_SCHEMA, StructuredOutput.JSON_OBJECT, StructuredOutput.NONE)

    def __init__(self, configured: StructuredOutput) -> None:
        automatic = configured is StructuredOutput.AUTO
        self._ladder: tuple[StructuredOutput, ...] = self._LADDER if automatic else (configured,)
        self._modes: tuple[StructuredOutput, ...] = self._ladder
        self._proven = False
        self._doubted: StructuredOutput | None = None
        self._tested: set[StructuredOutput] = set()
        self._answers = 0

    @property
    def candidates(self) -> tuple[StructuredOutput, ...]:
        """The modes still worth trying, strictest first."""
        return self._modes

    @property
    def proven(self) -> bool:
        """Whether the strictest of them has been answered, so that a fault is no refusal."""
        return self._proven

    def accept(self, mode: StructuredOutput, *, doubtful: bool = False) -> None:
        """Remember that ``mode`` works, so that stricter ones are not tried again.

        ``doubtful`` says that the stricter one fell to a server error.
        """
        if doubtful and mode in self._modes[1:] and self._modes[0] not in self._tested:
            self._doubted, self._answers = self._modes[0], 0
        self._modes = self._ladder[self._ladder.index(mode) :]
        self._proven = True
        self._answers += 1
        if self._doubted is not None and self._answers > SECOND_THOUGHT:
            self._tested.add(self._doubted)
            self._modes = self._ladder[self._ladder.index(self._doubted) :]
            self._proven, self._doubted = False, None


def response_format(mode: StructuredOutput, signature: Any) -> dict[str, Any]:
    """The ``response_format`` setting for a mode, with the Signature's schema where asked."""
    if mode is StructuredOutput.NONE:
        return {}
    if mode is StructuredOutput.JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    schema = {"name": signature.__name__, "schema": _output_schema(signature), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


@lru_cache(maxsize=64)
def _output_schema(signature: Any) -> Any:
    fields: dict[str, Any] = {
        name: (field.annotation, ...) for name, field in signature.output_fields.items()
    }
    model = create_model(signature.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    return _strict(model.model_json_schema())


def _strict(schema: Any) -> Any:
    """A JSON schema as strict mode takes it: all keys required, no others, no defaults."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _strict_values(value) if key in _NAMED else _strict(value)
        for key, value in schema.items()
        if key not in _NOT_STRICT
    }
    if kept.get("type") == "object" and "properties" in kept:
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept


def _strict_values(named: dict[str, Any]) -> dict[str, Any]:
    """Sub-schemas under names of our own choosing, which may look like keywords."""
    return {name: _strict(part) for name, part in named.items()}


_NAMED = {"properties", "$defs"}
# Keywords that strict mode refuses; code checks lengths and defaults anyway.
_NOT_STRICT = {"default", "minLength", "maxLength", "title"}
