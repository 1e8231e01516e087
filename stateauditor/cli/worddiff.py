"""What changed between draft and reply, word by word."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

import regex
from rich.text import Text

# A run of spaces, one character of a script without spaces, a word, or one other character.
_PIECE = regex.compile(
    r"\s+|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{M}\p{N}_'’]+|\X", regex.DOTALL
)


class Change(StrEnum):
    """What happened to a piece of text."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text that was kept, removed or added."""

    change: Change
    text: str


def word_diff(before: str, after: str) -> list[Span]:
    """The spans of an edit script; kept and removed ones together are ``before``."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    spans: list[Span] = []
    removed, added = "", ""

    def flush() -> None:
        nonlocal removed, added
        if removed:
            spans.append(Span(Change.REMOVED, removed))
        if added:
            spans.append(Span(Change.ADDED, added))
        removed, added = "", ""

    matcher = SequenceMatcher(a=old, b=new, autojunk=False)
    for operation, i, j, k, m in matcher.get_opcodes():
        if operation != "equal":
            removed += "".join(old[i:j])
            added += "".join(new[k:m])
            continue
        kept = "".join(old[i:j])
        if kept.isspace() and "\n" not in kept and (removed or added) and j < len(old):
            # One space between two changed words: read them as one change.
            removed += kept
            added += kept
            continue
        flush()
        spans.append(Span(Change.KEPT, kept))
    flush()
    return spans


_STYLES = {Change.KEPT: "", Change.REMOVED: "red strike", Change.ADDED: "green"}
_MARKS = {Change.KEPT: ("", ""), Change.REMOVED: ("[-", "-]"), Change.ADDED: ("{+", "+}")}


def render_diff(spans: list[Span], *, colour: bool) -> Text:
    """The spans in colour, or with ``[-removed-]{+added+}`` marks where there is none."""
    text = Text()
    for span in spans:
        before, after = ("", "") if colour else _MARKS[span.change]
        for line in span.text.splitlines(keepends=True):
            body = line.rstrip("\n")  # marks stand on the line that they are about
            marked = f"{before}{body}{after}" if body else ""
            text.append(marked + line[len(body) :], style=_STYLES[span.change])
    return text
