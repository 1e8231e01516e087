"""From chosen sentences to the readout: dated lines, oldest first, within a budget.

Lines are first as short as they can be (the chosen sentence alone), so that a
small budget holds as many statements as possible; whatever the budget leaves
is then spent on context, line by line in order of preference, up to each
sentence's window. Ranges of one turn that touch become one line, because a
quotation must stand in one line (DESIGN: the unit that a quotation must match).
"""

from __future__ import annotations

import logging
from bisect import insort
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stateauditor.program.retrieval.selection import Choice, Selection
from stateauditor.program.retrieval.tokens import count_tokens
from stateauditor.program.retrieval.windows import Sentences
from stateauditor.signatures.models import Readout, RenderedEntry, RetrievalStep, Timestamp

_log = logging.getLogger(__name__)

Redact = Callable[[str], str]
_UNDATED = "undated"
_CHEAPEST_LINE = 4


def identity(text: str) -> str:
    """The text as it is: no redaction."""
    return text


def render_line(entry_id: str, timestamp: Timestamp | None, text: str) -> str:
    """One readout line as a prompt shows it: ``E01 [2024-02-20T02:45Z] text``."""
    when = _UNDATED if timestamp is None else str(timestamp)
    return f"{entry_id} [{when}] {' '.join(text.splitlines())}"


class Range(NamedTuple):
    """Sentences ``first`` up to but not including ``last``, all of one entry."""

    first: int
    last: int
    step: RetrievalStep


class Page:
    """The lines chosen so far and what they cost; a range is added only if it fits."""

    def __init__(self, sentences: Sentences, budget: int, redact: Redact = identity) -> None:
        self._sentences = sentences
        self._budget = budget
        self._redact = redact
        self._ranges: dict[int, list[Range]] = {}
        self._costs: dict[tuple[int, int], int] = {}
        # Ids get shorter or stay when numbered, so the price can only fall.
        self._widest_id = "E" + "0" * max(2, len(str(budget // _CHEAPEST_LINE)))
        self.tokens = 0

    def add(self, first: int, last: int, step: RetrievalStep) -> bool:
        """Add sentences ``first`` to ``last``, merging with lines they touch, if they fit."""
        entry = int(self._sentences.entry[first])
        lines = self._ranges.get(entry, [])
        merged = Range(first, last, step)
        touching = [line for line in lines if line.first <= last and first <= line.last]
        if touching:
            merged = Range(
                min(first, touching[0].first), max(last, touching[-1].last), touching[0].step
            )
            if len(touching) == 1 and merged == touching[0]:
                return True
        price = self.tokens + self._cost(merged) - sum(map(self._cost, touching))
        if price > self._budget:
            return False
        kept = [line for line in lines if line not in touching]
        insort(kept, merged)
        self._ranges[entry] = kept
        self.tokens = price
        return True

    def lines(self) -> list[Range]:
        """The lines, oldest first."""
        return [line for entry in sorted(self._ranges) for line in self._ranges[entry]]

    def text(self, line: Range) -> str:
        """The text of a line as it stands in its entry, before redaction."""
        start, end = self.place(line)
        return self._sentences.entries[int(self._sentences.entry[line.first])].text[start:end]

    def place(self, line: Range) -> tuple[int, int]:
        """Where the line starts and ends in its entry."""
        return int(self._sentences.start[line.first]), int(self._sentences.end[line.last - 1])

    def _cost(self, line: Range) -> int:
        key = (line.first, line.last)
        if key not in self._costs:
            entry = self._sentences.entries[int(self._sentences.entry[line.first])]
            self._costs[key] = line_cost(
                self._widest_id, entry.timestamp, self._redact(self.text(line))
            )
        return self._costs[key]


def line_cost(entry_id: str, timestamp: Timestamp | None, text: str) -> int:
    """What a line costs in a prompt, its line break included."""
    return count_tokens(render_line(entry_id, timestamp, text) + "\n")


def render(
    sentences: Sentences, selection: Selection, budget: int, redact: Redact = identity
) -> Readout:
    """The readout of a selection: never dearer than ``budget``, the same every time."""
    page = Page(sentences, budget, redact)
    placed = [choice for choice in selection.choices if _place(page, choice)]
    for choice in placed:
        page.add(choice.first, choice.last, choice.step)
    if not placed and selection.choices:
        return _cut(sentences, selection.choices[0], budget, redact)
    return to_readout(sentences, page, selection.pairs, redact)


def _place(page: Page, choice: Choice) -> bool:
    return page.add(choice.row, choice.row + 1, choice.step)


def to_readout(
    sentences: Sentences,
    page: Page,
    pairs: Sequence[tuple[int, int]],
    redact: Redact = identity,
) -> Readout:
    """Number a page's lines and name the pairs by them; a pair needs both its lines."""
    entries: list[RenderedEntry] = []
    line_of: dict[int, str] = {}
    for number, line in enumerate(page.lines(), start=1):
        entry = sentences.entries[int(sentences.entry[line.first])]
        name = f"E{number:02d}"
        line_of.update(dict.fromkeys(range(line.first, line.last), name))
        entries.append(
            RenderedEntry(
                id=name,
                entry_id=entry.id,
                timestamp=entry.timestamp,
                text=redact(page.text(line)),
                role=entry.role,
                session=entry.session,
                turn=entry.turn,
                start=page.place(line)[0],
                step=line.step,
            )
        )
    named = dict.fromkeys(
        (line_of[old], line_of[new]) for old, new in pairs if old in line_of and new in line_of
    )
    return Readout(
        entries=tuple(entries),
        pairs=tuple(named),
        tokens=sum(line_cost(e.id, e.timestamp, e.text) for e in entries),
    )


def _cut(sentences: Sentences, choice: Choice, budget: int, redact: Redact) -> Readout:
    """One line cut to the budget: better the head of the best statement than nothing."""
    entry = sentences.entries[int(sentences.entry[choice.row])]
    start, end = int(sentences.start[choice.row]), int(sentences.end[choice.row])
    text = redact(entry.text[start:end])
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if line_cost("E01", entry.timestamp, text[:middle]) <= budget:
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
    line = RenderedEntry(
        id="E01",
        entry_id=entry.id,
        timestamp=entry.timestamp,
        text=kept,
        role=entry.role,
        session=entry.session,
        turn=entry.turn,
        start=start,
        step=choice.step,
    )
    return Readout(entries=(line,), tokens=line_cost("E01", entry.timestamp, kept))
