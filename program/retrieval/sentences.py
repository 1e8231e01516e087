"""Where sentences begin and end, in any script (paper, section 4.1: sentence windows).

A sentence is a pair of code-point offsets into the text that it was found in,
so that whatever is rendered later can be traced to its entry. No model and no
network: a terminal mark followed by space ends a sentence, unless the mark
belongs to an abbreviation, an initial, a list number or a decimal; marks of
scripts that write no space (``。``, ``！``, ``？``) end one at once.
"""

from __future__ import annotations

import re
from typing import Final

import regex

MAX_SENTENCE_CHARS: Final = 600
"""A longer "sentence" (pasted logs, a text without stops) is cut into pieces."""

BLANK_LINE: Final = "\n\n"
"""Always ends a sentence, so that texts joined by it are split as if one by one."""

Span = tuple[int, int]

_CLOSERS: Final = "\"'”’»)\\]}】」』）*_"
_SPACED: Final = ".!?…؟۔।॥։።"
_UNSPACED: Final = "。！？｡‼⁇"
# One character class in front, so that the scan is fast. The group is what still
# belongs to the sentence.
_MARKS: Final = _SPACED + _UNSPACED
_BOUNDARY: Final = re.compile(rf"([{_MARKS}\n](?:(?<!\n)[{_MARKS}]*[{_CLOSERS}]*)?)\s*")
# Titles go on whatever follows. The others go on before a small letter or a
# digit only: "on Sat. we row", "fig. 3", but "there we sat. Then it rained".
_TITLES: Final = frozenset(
    ("mr", "mrs", "ms", "mx", "dr", "prof", "sr", "jr", "rev", "capt", "lt", "sgt", "gov",
     "vs", "e.g", "i.e", "eg", "ie", "cf", "z.b", "d.h", "sra", "dra", "mme", "mlle")
)  # fmt: skip
_SHORTENED: Final = frozenset(
    ("etc", "al", "approx", "dept", "est", "ext", "fig", "inc", "ltd", "co", "corp", "no", "nr",
     "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
     "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "am", "pm",
     "a.m", "p.m", "u.s", "u.k", "ph.d", "b.a", "m.a", "min", "max", "hr", "hrs", "wk", "wks",
     "yr", "yrs", "lb", "lbs", "oz", "ft", "st", "ave", "bzw", "ca", "usw", "p.ej", "uds")
)  # fmt: skip
_LONGEST_TITLE: Final = max(map(len, _TITLES)) + 1
_OPENERS: Final = "\"'“‘([{«"
# A mark that must not be torn from the character before it.
_EXTENDS: Final = regex.compile(r"[\p{M}\p{Emoji_Modifier}\u200d\ufe0f]")
_WRAPPED_LINE_CHARS: Final = 60


def sentence_spans(text: str, limit: int = MAX_SENTENCE_CHARS) -> list[Span]:
    """The sentences of ``text`` as (start, end), in order, without outer space.

    Every character that is not space belongs to exactly one span, and no span
    is longer than ``limit``: a longer one is cut at a space, or anywhere
    between two characters in scripts that write none.
    """
    spans: list[Span] = []
    start = 0
    if text[:1].isspace():
        start = len(text) - len(text.lstrip())
    for match in _BOUNDARY.finditer(text, start):
        mark, end = match.span(1)
        after = match.end()
        first = text[mark]
        if first == "\n":
            if not _ends_line(text, start, mark):
                continue
            end = start + len(text[start:mark].rstrip())
            after = _next_visible(text, mark)
        elif first in _UNSPACED:
            pass
        elif end == after < len(text):
            continue  # "3.5", "v2.0": a plain mark needs a space after it
        elif (
            first not in "!?"
            and not _ends_sentence(text, start, mark, end)
            and BLANK_LINE not in text[end:after]
        ):
            continue
        if end - start > limit:
            _cut_up(spans, text, start, end, limit)
        elif start < end:
            spans.append((start, end))
        start = after
    end = len(text)
    if start < end and text[-1].isspace():
        end = len(text.rstrip())
    if end - start > limit:
        _cut_up(spans, text, start, end, limit)
    elif start < end:
        spans.append((start, end))
    return spans


def _ends_sentence(text: str, begin: int, start: int, end: int) -> bool:
    """Whether the mark at ``start:end`` really ends the sentence that began at ``begin``."""
    if text[start] == "…" or text.startswith("..", start):
        return not _continues(text, end)
    return text[start] != "." or not _is_shortened(text, begin, start, end)


def _is_shortened(text: str, begin: int, start: int, end: int) -> bool:
    """Whether the stop at ``start`` belongs to the word before it and ends no sentence."""
    at = text.rfind(" ", begin, start) + 1 or begin
    if start - at > _LONGEST_TITLE and not _continues(text, end):
        return False  # most sentences end here: a longer word before, a capital after
    tail = text[at:start].split()
    word = tail[-1].lstrip(_OPENERS) if tail else ""
    if start - begin == len(word) and (len(word) == 1 or (len(word) <= 3 and word.isdigit())):
        return word.isalnum()  # "1." or "b." at the head of a list item
    plain = word.casefold()
    if plain in _TITLES:
        return True
    if plain in _SHORTENED:
        return _continues(text, end)
    return len(plain) == 1 and plain != "i" and word.isupper()


def _ends_line(text: str, begin: int, start: int) -> bool:
    """A line break ends a sentence, except where a long line was only wrapped."""
    at = _next_visible(text, start)
    if text.count("\n", start, at) > 1:
        return True
    line = start - max(begin, text.rfind("\n", begin, start) + 1)
    return line < _WRAPPED_LINE_CHARS or not (at < len(text) and text[at].islower())


def _continues(text: str, at: int) -> bool:
    """Whether what follows ``at`` reads like the same sentence going on."""
    at = _next_visible(text, at)
    return at < len(text) and (text[at].islower() or text[at].isdigit())


def _next_visible(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _cut_up(spans: list[Span], text: str, start: int, end: int, limit: int) -> None:
    """Add the pieces of a giant sentence, none longer than ``limit``."""
    while end - start > limit:
        cut = _cut(text, start, limit)
        spans.append((start, start + len(text[start:cut].rstrip())))
        start = _next_visible(text, cut)
    if start < end:
        spans.append((start, end))


def _cut(text: str, start: int, limit: int) -> int:
    """The best place, at most ``limit`` characters on, to cut a giant sentence."""
    cut = start + limit
    if text[cut].isspace():
        return cut
    for place in range(cut, start + limit // 2, -1):
        if text[place - 1].isspace():
            return place
    for place in range(cut, start + limit // 2, -1):
        if not _EXTENDS.match(text[place]) and text[place - 1] != "\u200d":
            return place
    return cut
