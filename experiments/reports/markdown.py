"""How numbers and tables are written: fixed decimals, padded markdown, the same bytes always.

A figure that does not exist is a dash, never a zero; whatever prints a dash prints
:data:`DASH_NOTE` below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import regex

from stateauditor.metrics import CELLS, DIMENSIONS, TYPES, Interval, Rate

COLUMNS: Final = tuple(CELLS.index((kind, dim)) for dim in DIMENSIONS for kind in TYPES)
"""The paper's columns as places in :data:`CELLS`: by dimension, then by type."""
CELL_NAMES: Final = tuple(f"{CELLS[i][1]} {CELLS[i][0]}" for i in COLUMNS)

DASH: Final = "–"
DASH_NOTE: Final = f"{DASH}: there is no such figure (nothing scored, or a price is unknown)."
_ESCAPED: Final = str.maketrans({"|": "\\|", "\n": " ", "\r": " ", "<": "&lt;", "`": "'"})
_WIDE: Final = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Emoji_Presentation}]")
_NO_WIDTH: Final = regex.compile(r"[\p{Mn}\p{Me}\p{Cf}]")


def share(value: float | None) -> str:
    """A share as the paper prints it.

    >>> share(0.7357), share(1.0), share(None)
    ('.736', '1.000', '–')
    """
    if value is None:
        return DASH
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def difference(value: float | None) -> str:
    """A difference of two shares, always with its sign.

    >>> difference(0.05), difference(-0.0125), difference(0.0)
    ('+.050', '-.013', '+.000')
    """
    if value is None:
        return DASH
    rounded = f"{abs(value):.3f}"
    sign = "-" if value < 0 and float(rounded) else "+"
    return sign + (rounded[1:] if rounded.startswith("0") else rounded)


def bounds(interval: Interval | Rate, *, signed: bool = False) -> str:
    """The two ends of an interval, in brackets."""
    write = difference if signed else share
    if interval.low is None or interval.high is None:
        return DASH
    return f"[{write(interval.low)}, {write(interval.high)}]"


def rate_text(rate: Rate) -> str:
    """A share with its counts and its interval."""
    if rate.value is None:
        return DASH
    return f"{share(rate.value)} {bounds(rate)} ({rate.hits}/{rate.n})"


def p_text(p: float) -> str:
    """A p-value with as many digits as it deserves.

    >>> p_text(0.0028), p_text(2.3e-5), p_text(1.0)
    ('.003', '2.3e-05', '1.000')
    """
    return share(p) if p >= 0.0005 else f"{p:.1e}"


def number(value: float | None, digits: int = 0) -> str:
    """A count or a mean with thousands separators."""
    return DASH if value is None else f"{value:,.{digits}f}"


def dollars(value: float | None) -> str:
    """An amount of US dollars; unknown where one price is."""
    return DASH if value is None else f"${value:,.4f}"


def escape(text: str) -> str:
    """Text that changes no table and no markup around it."""
    return " ".join(text.translate(_ESCAPED).split())


@dataclass(frozen=True)
class Grid:
    """A table as text cells; its first ``left`` columns lean left, numbers right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


def table(grid: Grid) -> str:
    """A markdown table, padded to read well as plain text."""
    lines = [[escape(cell) for cell in line] for line in (grid.header, *grid.rows)]
    widths = [max(3, *(_width(line[i]) for line in lines)) for i in range(len(grid.header))]
    rule = [
        "-" * width if i < grid.left else "-" * (width - 1) + ":" for i, width in enumerate(widths)
    ]
    padded = [
        [_pad(cell, widths[i], left=i < grid.left) for i, cell in enumerate(line)] for line in lines
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in [padded[0], rule, *padded[1:]])


def blocks(*parts: str) -> str:
    """Paragraphs with one blank line between them; empty ones fall away."""
    return "\n\n".join(part for part in parts if part) + "\n"


def caveats(labels: Sequence[str]) -> str:
    """The labels of a run as a quoted list, to stand above each of its tables."""
    return "\n".join(f"> - {escape(label)}" for label in labels)


def _pad(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(text: str) -> int:
    return len(_NO_WIDTH.sub("", text)) + len(_WIDE.findall(text))
