"""The audit's expanded evidence (paper, section 4.1, its last sentences).

The generator reads the compact readout; the audit alone may read more of the
sessions that retrieval selected at run time. Sentences of those sessions are
ranked by how much they read like lifecycle disclosures and how well they match
the queries (one question in the strict protocol, all three probes of a scenario
in the joint one), and added until the larger budget is spent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.disclosures import Disclosures
from stateauditor.program.retrieval.filling import fill, whole
from stateauditor.program.retrieval.page import Page, ShownLines
from stateauditor.program.retrieval.readout import to_readout
from stateauditor.program.retrieval.windows import Sentences
from stateauditor.signatures.models import Readout, RenderedEntry, RetrievalStep

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MATCH_WEIGHT: Final = 4.0
"""What a full match with a query is worth, in log-odds of being a disclosure."""


class Evidence(Protocol):
    """What expansion needs to know about a memory; the index provides it."""

    @property
    def sentences(self) -> Sentences:
        """The sentences of the memory."""

    @property
    def sizes(self) -> Ints:
        """What each sentence costs at the least, in tokens."""

    @property
    def characters(self) -> int:
        """The length of all sentences together."""

    @property
    def disclosures(self) -> Disclosures:
        """The query-independent scores of every sentence."""

    def window(self, row: int) -> tuple[int, int]:
        """The window of sentences around a sentence."""


def expand(
    evidence: Evidence,
    readout: Readout,
    matches: Sequence[Floats],
    budget: int,
    lines: ShownLines,
    *,
    filled: bool = True,
) -> Readout:
    """``readout`` and more of its own sessions, within ``budget``, with new ids.

    The pairs stay those of ``readout``: what expansion adds proposes nothing. ``filled``:
    a memory that fits is shown whole, and stored facts, which have no sessions, count as one.
    """
    sentences = lines.sentences
    page = Page(lines, max(budget, readout.tokens))
    places = _places(lines, readout)
    if len(places) < len(readout.entries):
        return readout  # a line that was cut to a tiny budget: there is no room for more
    if filled and places:
        steps = {first: entry.step for entry, (first, _) in places.items()}
        if whole(page, sentences, evidence.characters, budget, steps):
            return to_readout(lines, page, _pairs(places, readout))
    for entry, (first, last) in places.items():
        if not page.add(first, last, entry.step):
            return readout
    worth = ranked_worth(evidence.disclosures.disclosure, matches)
    rows = np.lexsort((np.arange(len(worth)), -worth))
    session = np.array(sentences.session, dtype=np.int64)
    selected = np.isin(session, [sentences.session[first] for first, _ in places.values()])
    stored = evidence.sentences.stored()
    if filled and any(stored[first] for first, _ in places.values()):
        selected |= stored
    added = fill(page, rows[selected[rows]], evidence.sizes, RetrievalStep.EXPANSION)
    for row in added.tolist():
        page.add(*evidence.window(row), RetrievalStep.EXPANSION)
    return to_readout(lines, page, _pairs(places, readout))


def ranked_worth(disclosure: Floats, matches: Sequence[Floats]) -> Floats:
    """Each sentence's disclosure score plus its best relative match with a query."""
    worth = disclosure.copy()
    relative = [match / match.max() for match in matches if match.max(initial=0.0) > 0]
    if relative:
        worth += MATCH_WEIGHT * np.max(relative, axis=0)
    rounded: Floats = np.round(worth, 9)
    return rounded


def _places(lines: ShownLines, readout: Readout) -> dict[RenderedEntry, tuple[int, int]]:
    """The sentences behind each line: from its start, as many as give its text."""
    sentences = lines.sentences
    number_of = {entry.id: number for number, entry in enumerate(sentences.entries)}
    firsts = sentences.first_of_entry
    places: dict[RenderedEntry, tuple[int, int]] = {}
    for line in readout.entries:
        number = number_of.get(line.entry_id)
        if number is None:
            continue
        begin, end = firsts[number : number + 2]
        first = bisect_left(sentences.start, line.start, begin, end)
        for last in range(first + 1, end + 1):
            if lines.text(first, last) == line.text:
                places[line] = (first, last)
                break
    return places


def _pairs(places: dict[RenderedEntry, tuple[int, int]], readout: Readout) -> list[tuple[int, int]]:
    first = {line.id: place[0] for line, place in places.items()}
    return [(first[old], first[new]) for old, new in readout.pairs]
