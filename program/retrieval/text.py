"""Where sentences begin and end, in any script (paper, section 4.1: sentence windows).

A sentence is a pair of code-point offsets into the text that it was found in,
so that whatever is rendered later can be traced to its entry. No model and no
network: a terminal mark followed by space ends a sentence, unless the mark
belongs to an abbreviation, an initial, a list number or a decimal; marks of
scripts that write no space (``。``, ``！``, ``？``) end one at once.
"""

from __future__ import annotations

from typing import Final

import regex

MAX_SENTENCE_CHARS: Final = 600
"""A longer "sentence" (pasted logs, a text without stops) is cut into pieces."""

Span = tuple[int, int]

_CLOSERS = "\"'”’»)\\]}】」』）*_"
# One alternative for each kind of boundary. The plain stop needs a space after
# it (so "3.5", "e.g.this" and "v2.0" stay whole); a full-width stop does not.
_BOUNDARY: Final = regex.compile(
    rf"[.!?…؟۔।॥։።]+[{_CLOSERS}]*(?=\s)"
    rf"|[。！？｡‼⁇]+[…]*[{_CLOSERS}]*"
    r"|[ \t\r\f\v]*(?:\n[ \t\r\f\v]*)+"
)
_ONLY_ONE_SENTENCE: Final = regex.compile(r"[.!?…؟۔।॥։።]\S*\s|[。！？｡‼⁇\n]")

# Words that end in a stop which ends no sentence. "no." and "st." are left out
# on purpose: as a whole sentence ("No.") and as a street they end one too often.
_ABBREVIATIONS: Final = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "mx",
        "dr",
        "prof",
        "sr",
        "jr",
        "rev",
        "hon",
        "capt",
        "lt",
        "col",
        "gen",
        "sgt",
        "gov",
        "sen",
        "rep",
        "pres",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "eg",
        "ie",
        "cf",
        "al",
        "approx",
        "dept",
        "est",
        "ext",
        "fig",
        "inc",
        "ltd",
        "co",
        "corp",
        "bros",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "mon",
        "tue",
        "tues",
        "wed",
        "thu",
        "thur",
        "thurs",
        "fri",
        "a.m",
        "p.m",
        "am",
        "pm",
        "u.s",
        "u.k",
        "ph.d",
        "b.a",
        "m.a",
        "min",
        "max",
        "hr",
        "hrs",
        "wk",
        "wks",
        "yr",
        "yrs",
        "lb",
        "lbs",
        "oz",
        "ft",
        "bzw",
        "z.b",
        "d.h",
        "u.a",
        "usw",
        "ca",
        "nr",
        "str",
        "bspw",
        "p.ej",
        "sra",
        "dra",
        "ud",
        "uds",
        "av",
        "mme",
        "mlle",
    ]
)
_LAST_WORD: Final = regex.compile(r"[\p{L}.]+$")
_LIST_NUMBER: Final = regex.compile(r"\s*(?:\d{1,3}|[A-Za-z])")
# A mark that must not be torn from the character before it.
_EXTENDS: Final = regex.compile(r"[\p{M}\p{Emoji_Modifier}\u200d\ufe0f]")
_WRAPPED_LINE_CHARS: Final = 60


def sentence_spans(text: str, limit: int = MAX_SENTENCE_CHARS) -> list[Span]:
    """The sentences of ``text`` as (start, end), in order, without outer space.

    Every character that is not space belongs to exactly one span, and no span
    is longer than ``limit``: a longer one is cut at a space, or anywhere
    between two characters in scripts that write none.
    """
    if len(text) <= limit and not _ONLY_ONE_SENTENCE.search(text):
        start, end = _trim(text, 0, len(text))
        return [(start, end)] if start < end else []
    spans: list[Span] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if not _ends_sentence(text, start, match.start(), match.end()):
            continue
        _append(spans, text, start, match.end(), limit)
        start = match.end()
    _append(spans, text, start, len(text), limit)
    return spans


def _ends_sentence(text: str, begin: int, start: int, end: int) -> bool:
    """Whether the boundary mark at ``start:end`` really ends the sentence from ``begin``."""
    mark = text[start]
    if mark == "…" or text.startswith("..", start):
        return not _continues(text, end)
    if mark == ".":
        return not _is_abbreviation(text, begin, start, end)
    if mark.isspace():
        return _ends_line(text, begin, start, end)
    return True


def _is_abbreviation(text: str, begin: int, start: int, end: int) -> bool:
    if _LIST_NUMBER.fullmatch(text, begin, start):
        return True
    word = _LAST_WORD.search(text, max(begin, start - 12), start)
    if word is None:
        return False
    plain = word[0].casefold()
    if plain in _ABBREVIATIONS:
        # "at 5 p.m. Then" ends a sentence although "p.m." is an abbreviation.
        return _continues(text, end) or plain not in {"am", "pm", "a.m", "p.m", "etc"}
    return len(plain) == 1 and plain != "i" and word[0].isupper()


def _ends_line(text: str, begin: int, start: int, end: int) -> bool:
    """A line break ends a sentence, except where a long line was only wrapped."""
    if text.count("\n", start, end) > 1:
        return True
    line = start - max(begin, text.rfind("\n", begin, start) + 1)
    return line < _WRAPPED_LINE_CHARS or not _continues(text, end)


def _continues(text: str, at: int) -> bool:
    """Whether what follows ``at`` reads like the same sentence going on."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at < len(text) and text[at].islower()


def _trim(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _append(spans: list[Span], text: str, start: int, end: int, limit: int) -> None:
    start, end = _trim(text, start, end)
    while end - start > limit:
        cut = _cut(text, start, limit)
        spans.append(_trim(text, start, cut))
        start, end = _trim(text, cut, end)
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
