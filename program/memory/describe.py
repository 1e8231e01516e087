"""How a value of a memory is told of in an error message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def clipped(value: object, limit: int = 60) -> str:
    """``repr(value)`` of an id, a time or a role, cut for an error message."""
    if isinstance(value, Mapping | list | tuple | set):
        return kind(value)
    try:
        shown = repr(value)
    except ValueError:  # an integer of more digits than Python writes out
        return kind(value)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def kind(value: object) -> str:
    """What sort of value it is, in the words of JSON: messages must not quote a memory's text."""
    if isinstance(value, bool):
        return "true or false"
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return f"a value of type {type(value).__name__}"


_KINDS: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (type(None), "null"),
    (str, "text"),
    ((int, float), "a number"),
    (Mapping, "an object"),
    ((list, tuple), "a list"),
)
