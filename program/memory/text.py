"""Small text rules that every reader of memory shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_DIGITS: Final = re.compile("([0-9]+)")

NaturalKey = tuple[tuple[tuple[int, str], ...], str]
"""What `natural_key` returns."""


def natural_key(text: str) -> NaturalKey:
    """A sort key that puts ``"2"`` before ``"10"`` and tells ``"1"`` from ``"01"``.

    Digits are compared as text of equal length: ``int`` refuses very long ones.
    """
    parts = _DIGITS.split(text)
    return tuple(_part(part) for part in parts), text


def _part(part: str) -> tuple[int, str]:
    # split() alternates text and digits, so that like meets like.
    digits = part.lstrip("0")
    return (len(digits), digits) if _DIGITS.fullmatch(part) else (0, part)


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
