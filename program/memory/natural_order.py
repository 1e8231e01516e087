"""Ids in the order in which people count."""

from __future__ import annotations

import re
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
