"""One spelling for the many ways to write the same words (paper, section 4.4).

An LM that quotes memory changes its typography: curly quotation marks become
straight, ligatures come apart, no-break spaces turn into spaces. Folding removes
such differences and keeps, for every folded character, where it came from, so
that a match can be reported in code points of the original text.

The folded form is decomposed (NFKD), not composed: decomposition works character
by character, which is what keeps the map right, and composing adds nothing to a
comparison of two folded texts. Folding twice is folding once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import regex

# What neither NFKD nor case folding joins, though readers take it for one.
_LETTERS: Final = {
    "œ": "oe", "Œ": "oe", "æ": "ae", "Æ": "ae", "ß": "ss", "ẞ": "ss", "ø": "o", "Ø": "o",
    "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i",
}  # fmt: skip
_SINGLE_QUOTES: Final = "'`´‘’‚‛′‵‹›ʹʻʼʽˈˊˋ՚׳❛❜"
_DOUBLE_QUOTES: Final = '"“”„‟«»″‶〝〞〟״＂❝❞「」『』《》'
_DASHES: Final = "-‐‑‒–—―−⁃﹘﹣－⸺⸻־"
_ELLIPSES: Final = "…‥⋯"
_SEPARATORS: Final = {"⁄": "/", "∕": "/", "٫": ".", "٬": ","}

# Invisible, yet letters or marks by category: fillers, variation selectors, grapheme joiner.
_INVISIBLE: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
    + "".join(map(chr, range(0x180B, 0x1810)))
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_LINE_BREAKS: Final = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")

_TABLE: Final[dict[str, str]] = {
    **_LETTERS,
    **dict.fromkeys(_SINGLE_QUOTES, "'"),
    **dict.fromkeys(_DOUBLE_QUOTES, '"'),
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_ELLIPSES, "..."),
    **_SEPARATORS,
}
_MARKS: Final = regex.compile(r"\p{M}{2,}")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text with its way back.

    ``starts[i]`` and ``ends[i]`` are the code-point offsets, in the original, of
    the character that folded character ``i`` came from (end exclusive).
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def fold(text: str) -> str:
    """Return ``text`` in its folded form."""
    return fold_with_map(text).text


def fold_with_map(text: str) -> Folded:
    """Fold ``text`` and keep the offsets of every folded character."""
    if text.isascii():  # one to one, and most memories are mostly ASCII
        folded = "".join(map(_fold_character, text))
        return Folded(folded, range(len(text)), range(1, len(text) + 1))
    characters: list[str] = []
    starts: list[int] = []
    for position, character in enumerate(text):
        piece = _fold_character(character)
        characters.extend(piece)
        starts.extend([position] * len(piece))
    ends = [start + 1 for start in starts]
    joined = "".join(characters)
    for run in _MARKS.finditer(joined):
        _order_marks(run.start(), run.end(), characters, starts, ends)
    return Folded("".join(characters), starts, ends)


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    """Fold one code point; every character of the result folds to itself."""
    if character in _TABLE:
        return _TABLE[character]
    category = unicodedata.category(character)
    if category == "Cf" or character in _INVISIBLE:
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if character.isspace():
        return "\n" if character in _LINE_BREAKS else " "
    decomposed = unicodedata.normalize("NFKD", character)
    if decomposed != character:
        folded = "".join(map(_fold_character, decomposed))
        # "1½" is not 11/2 and "10²" is not 102: such a sign stands on its own.
        return f" {folded} " if any(c.isdigit() for c in folded) else folded
    lowered = character.casefold()
    return character if lowered == character else "".join(map(_fold_character, lowered))


def _order_marks(
    first: int, last: int, characters: list[str], starts: list[int], ends: list[int]
) -> None:
    """Put one run of combining marks into canonical order, the map along with it."""
    while first < last:
        stop = first
        while stop < last and unicodedata.combining(characters[stop]):
            stop += 1
        if stop == first:  # a mark of class 0 stays where it is
            first += 1
            continue
        order = sorted(range(first, stop), key=lambda i: unicodedata.combining(characters[i]))
        characters[first:stop] = [characters[i] for i in order]
        starts[first:stop] = [starts[i] for i in order]
        ends[first:stop] = [ends[i] for i in order]
        first = stop
