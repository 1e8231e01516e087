"""From chosen sentences to the readout: dated lines, oldest first, within a budget.

Lines are first as short as they can be (the chosen sentence alone), so that a
small budget holds as many statements as possible; whatever the budget leaves
is then spent on context, line by line in order of preference, up to each
sentence's window. Ranges of one turn that touch become one line, because a
quotation must stand in one line (DESIGN: the unit that a quotation must match).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from stateauditor.program.retrieval.selection import Choice, Selection
from stateauditor.program.retrieval.tokens import CHARS_PER_TOKEN, count_tokens
from stateauditor.program.retrieval.windows import SentenceLists
from stateauditor.signatures.models import (
    MemoryEntry,
    Precision,
    Readout,
    RenderedEntry,
    RetrievalStep,
    Timestamp,
)
from stateauditor.signatures.readout import UNDATED, render_line, validity_mark

_log = logging.getLogger(__name__)

Redact = Callable[[str], str]
_CHEAPEST_LINE: Final = 4
_MARKS: Final = len(' [] ""\n')
_WHEN_CHARS: Final = {
    Precision.DAY: len("2024-02-20"),
    Precision.MINUTE: len("2024-02-20T02:45Z"),
    Precision.SECOND: len("2024-02-20T02:45:00Z"),
    Precision.MICROSECOND: len("2024-02-20T02:45:00.000000Z"),
}
# What a line of JSON text escapes, besides what is not ASCII to begin with.
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\x7f]')


def identity(text: str) -> str:
    """The text as it is: no redaction."""
    return text


class Range(NamedTuple):
    """Sentences ``first`` up to but not including ``last``, all of one entry."""

    first: int
    last: int
    step: RetrievalStep


class Page:
    """The lines chosen so far and what they cost; a range is added only if it fits."""

    def __init__(self, sentences: SentenceLists, budget: int, redact: Redact = identity) -> None:
        self._sentences = sentences
        self._budget = budget
        self._redact = redact
        self._ranges: dict[int, list[Range]] = {}
        self._texts: dict[tuple[int, int], str] = {}
        self._costs: dict[tuple[int, int], int] = {}
        # Ids get shorter or stay when numbered, so the price can only fall.
        self._widest_id = "E" + "0" * max(2, len(str(budget // _CHEAPEST_LINE)))
        self.tokens = 0

    def add(self, first: int, last: int, step: RetrievalStep) -> bool:
        """Add sentences ``first`` to ``last``, merging with lines they touch, if they fit."""
        entry = self._sentences.entry[first]
        lines = self._ranges.get(entry)
        if lines is None:
            price = self.tokens + self._cost(first, last)
            if price > self._budget:
                return False
            self._ranges[entry] = [Range(first, last, step)]
            self.tokens = price
            return True
        return self._merge(lines, first, last, step)

    def _merge(self, lines: list[Range], first: int, last: int, step: RetrievalStep) -> bool:
        touching = [line for line in lines if line.first <= last and first <= line.last]
        merged = Range(first, last, step)
        if touching:
            before, after = touching[0], touching[-1]
            merged = Range(min(first, before.first), max(last, after.last), before.step)
            if merged == before:
                return True
        saved = sum(self._cost(line.first, line.last) for line in touching)
        price = self.tokens + self._cost(merged.first, merged.last) - saved
        if price > self._budget:
            return False
        lines[:] = sorted([merged, *(line for line in lines if line not in touching)])
        self.tokens = price
        return True

    def lines(self) -> list[Range]:
        """The lines, oldest first."""
        return [line for entry in sorted(self._ranges) for line in self._ranges[entry]]

    def text(self, first: int, last: int) -> str:
        """The text of a line as it is shown: redacted."""
        key = (first, last)
        if key not in self._texts:
            sentences = self._sentences
            whole = sentences.entries[sentences.entry[first]].text
            self._texts[key] = self._redact(whole[sentences.start[first] : sentences.end[last - 1]])
        return self._texts[key]

    def _cost(self, first: int, last: int) -> int:
        key = (first, last)
        cost = self._costs.get(key)
        if cost is None:
            entry = self._sentences.entries[self._sentences.entry[first]]
            cost = line_cost(
                self._widest_id, entry.timestamp, self.text(first, last), validity_mark(entry)
            )
            self._costs[key] = cost
        return cost


def line_cost(entry_id: str, timestamp: Timestamp | None, text: str, mark: str = "") -> int:
    """What a line costs in a prompt, its line break included."""
    when = (len(UNDATED) if timestamp is None else _WHEN_CHARS[timestamp.precision]) + len(mark)
    if text.isascii() and not _ESCAPED.search(
        text
    ):  # the same number as below, without writing the line
        return -(-(len(entry_id) + when + len(text) + _MARKS) // CHARS_PER_TOKEN)
    return count_tokens(render_line(entry_id, timestamp, text, mark) + "\n")


def render(
    sentences: SentenceLists, selection: Selection, budget: int, redact: Redact = identity
) -> Readout:
    """The readout of a selection: never dearer than ``budget``, the same every time."""
    page = Page(sentences, budget, redact)
    placed = [c for c in selection.choices if page.add(c.row, c.row + 1, c.step)]
    for choice in placed:
        page.add(choice.first, choice.last, choice.step)
    if not placed and selection.choices:
        return _cut(sentences, selection.choices[0], budget, redact)
    return to_readout(sentences, page, selection.pairs)


def to_readout(sentences: SentenceLists, page: Page, pairs: Sequence[tuple[int, int]]) -> Readout:
    """Number a page's lines and name the pairs by them; a pair needs both its lines."""
    entries: list[RenderedEntry] = []
    line_of: dict[int, str] = {}
    tokens = 0
    for number, (first, last, step) in enumerate(page.lines(), start=1):
        entry = sentences.entries[sentences.entry[first]]
        name = f"E{number:02d}"
        text = page.text(first, last)
        for row in range(first, last):
            line_of[row] = name
        tokens += line_cost(name, entry.timestamp, text, validity_mark(entry))
        entries.append(rendered(name, entry, text, sentences.start[first], step))
    named = dict.fromkeys(
        (line_of[old], line_of[new]) for old, new in pairs if old in line_of and new in line_of
    )
    return Readout(entries=tuple(entries), pairs=tuple(named), tokens=tokens)


def rendered(
    name: str, entry: MemoryEntry, text: str, start: int, step: RetrievalStep
) -> RenderedEntry:
    """A readout line of ``entry``."""
    return RenderedEntry(
        id=name,
        entry_id=entry.id,
        timestamp=entry.timestamp,
        text=text,
        role=entry.role,
        session=entry.session,
        turn=entry.turn,
        start=start,
        step=step,
        validity=entry.validity,
        ended=entry.ended,
    )


def _cut(sentences: SentenceLists, choice: Choice, budget: int, redact: Redact) -> Readout:
    """One line cut to the budget: better the head of the best statement than nothing."""
    entry = sentences.entries[sentences.entry[choice.row]]
    start = sentences.start[choice.row]
    text = redact(entry.text[start : sentences.end[choice.row]])
    mark = validity_mark(entry)
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if line_cost("E01", entry.timestamp, text[:middle], mark) <= budget:
            low = middle
        else:
            high = middle - 1
    kept = text[:low]
    if low < len(text) and " " in kept:
        kept = kept[: kept.rindex(" ")]
    kept = kept.rstrip()
    _log.warning(
        "entry %s was cut from %d to %d characters to fit %d tokens",
        entry.id, len(text), len(kept), budget,
    )  # fmt: skip
    if not kept:
        return Readout()
    line = rendered("E01", entry, kept, start, choice.step)
    return Readout(entries=(line,), tokens=line_cost("E01", entry.timestamp, kept, mark))
