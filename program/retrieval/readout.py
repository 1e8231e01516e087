"""From chosen sentences to the readout: dated lines, oldest first, within a budget.

A memory that fits is shown whole. Otherwise lines are first as short as they can be (the
chosen sentence alone), so that a small budget holds as many statements as possible; then
come the other statements of the memory, and whatever is left is spent on context, line by
line in order of preference, up to each sentence's window, and on the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from stateauditor.program.retrieval.filling import Filling, fill, whole
from stateauditor.program.retrieval.page import Page, ShownLines, line_cost
from stateauditor.program.retrieval.selection import Choice, Selection
from stateauditor.signatures.models import MemoryEntry, Readout, RenderedEntry, RetrievalStep
from stateauditor.signatures.readout import validity_mark

_log = logging.getLogger(__name__)


def render(
    lines: ShownLines,
    selection: Selection,
    budget: int,
    filling: Filling | None = None,
) -> Readout:
    """The readout of a selection: never dearer than ``budget``, the same every time.

    With ``filling``, a memory that fits is shown whole, and a larger one fills the budget.
    """
    sentences = lines.sentences
    page = Page(lines, budget)
    steps = {choice.row: choice.step for choice in selection.choices}
    if filling is not None and whole(page, sentences, filling.characters, budget, steps):
        return to_readout(lines, page, selection.pairs)
    placed = [c for c in selection.choices if page.add(c.row, c.row + 1, c.step)]
    if filling is not None:
        fill(page, filling.statements, filling.sizes)
    for choice in placed:
        page.add(choice.first, choice.last, choice.step)
    if filling is not None:
        fill(page, filling.rows, filling.sizes)
    if not page.tokens and selection.choices:
        return _cut(lines, selection.choices[0], budget)
    return to_readout(lines, page, selection.pairs)


def to_readout(shown: ShownLines, page: Page, pairs: Sequence[tuple[int, int]]) -> Readout:
    """Number a page's lines and name the pairs by them; a pair needs both its lines."""
    sentences = shown.sentences
    entries: list[RenderedEntry] = []
    line_of: dict[int, str] = {}
    tokens = 0
    for number, (first, last, step) in enumerate(page.lines(), start=1):
        entry = sentences.entries[sentences.entry[first]]
        name = f"E{number:02d}"
        text = shown.text(first, last)
        for row in range(first, last):
            line_of[row] = name
        tokens += shown.cost(first, last, len(name) - 1)
        entries.append(rendered(name, entry, text, sentences.start[first], step))
    named = dict.fromkeys(
        (line_of[old], line_of[new]) for old, new in pairs if old in line_of and new in line_of
    )
    return Readout(entries=tuple(entries), pairs=tuple(named), tokens=tokens)


def rendered(
    name: str, entry: MemoryEntry, text: str, start: int, step: RetrievalStep
) -> RenderedEntry:
    """A readout line of ``entry``; all its values have been validated there."""
    return RenderedEntry.model_construct(
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


def _cut(lines: ShownLines, choice: Choice, budget: int) -> Readout:
    """One line cut to the budget: better the head of the best statement than nothing."""
    sentences = lines.sentences
    entry = sentences.entries[sentences.entry[choice.row]]
    start = sentences.start[choice.row]
    text = lines.text(choice.row, choice.row + 1)
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
