"""The audit's expanded evidence (paper, section 4.1, its last sentences).

The generator reads the compact readout; the audit alone may read more of the
sessions that retrieval selected at run time. Sentences of those sessions are
ranked by how much they read like lifecycle disclosures and how well they match
the queries (one question in the strict protocol, all three probes of a scenario
in the joint one), and added until the larger budget is spent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.disclosures import Disclosures
from stateauditor.program.retrieval.readout import Page, Redact, to_readout
from stateauditor.program.retrieval.windows import SentenceLists
from stateauditor.signatures.models import Readout, RenderedEntry, RetrievalStep

Floats = npt.NDArray[np.float64]

MATCH_WEIGHT: Final = 4.0
"""What a full match with a query is worth, in log-odds of being a disclosure."""


PATIENCE: Final = 24
"""So many refusals in a row, and the page counts as full: few lines are shorter still."""


class Evidence(Protocol):
    """What expansion needs to know about a memory; the index provides it."""

    @property
    def lists(self) -> SentenceLists:
        """The sentences of the memory."""

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
    redact: Redact,
) -> Readout:
    """``readout`` and more of its own sessions, within ``budget``, with new ids.

    The pairs stay those of ``readout``: what expansion adds proposes nothing.
    """
    sentences = evidence.lists
    page = Page(sentences, max(budget, readout.tokens), redact)
    places = _places(sentences, readout, redact)
    for entry, (first, last) in places.items():
        if not page.add(first, last, entry.step):
            return readout
    if len(places) < len(readout.entries):
        return readout  # a line that was cut to a tiny budget: there is no room for more
    sessions = {sentences.session[first] for first, _ in places.values()}
    rows = [row for row in _ranked(evidence, matches) if sentences.session[row] in sessions]
    added = _fill(page, ((row, row + 1) for row in rows))
    _fill(page, (evidence.window(first) for first, _ in added))
    return to_readout(sentences, page, _pairs(places, readout))


def _fill(page: Page, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Add ranges until the page is full, and return those that fitted."""
    fitted: list[tuple[int, int]] = []
    refused = 0
    for first, last in ranges:
        if page.add(first, last, RetrievalStep.EXPANSION):
            fitted.append((first, last))
            refused = 0
        elif (refused := refused + 1) == PATIENCE:
            break
    return fitted


def _ranked(evidence: Evidence, matches: Sequence[Floats]) -> list[int]:
    """All sentences by disclosure score plus their best relative match with a query."""
    worth = evidence.disclosures.disclosure.copy()
    relative = [match / match.max() for match in matches if match.max(initial=0.0) > 0]
    if relative:
        worth += MATCH_WEIGHT * np.max(relative, axis=0)
    worth = np.round(worth, 9)
    ranked: list[int] = np.lexsort((np.arange(len(worth)), -worth)).tolist()
    return ranked


def _places(
    sentences: SentenceLists, readout: Readout, redact: Redact
) -> dict[RenderedEntry, tuple[int, int]]:
    """The sentences behind each line: from its start, as many as give its text."""
    number_of = {entry.id: number for number, entry in enumerate(sentences.entries)}
    firsts = sentences.first_of_entry
    places: dict[RenderedEntry, tuple[int, int]] = {}
    for line in readout.entries:
        number = number_of.get(line.entry_id)
        if number is None:
            continue
        text = sentences.entries[number].text
        begin, end = firsts[number : number + 2]
        first = bisect_left(sentences.start, line.start, begin, end)
        for last in range(first + 1, end + 1):
            if redact(text[line.start : sentences.end[last - 1]]) == line.text:
                places[line] = (first, last)
                break
    return places


def _pairs(places: dict[RenderedEntry, tuple[int, int]], readout: Readout) -> list[tuple[int, int]]:
    first = {line.id: place[0] for line, place in places.items()}
    return [(first[old], first[new]) for old, new in readout.pairs]
