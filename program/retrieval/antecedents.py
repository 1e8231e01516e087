"""Which earlier statement a disclosure may supersede (paper, section 4.1, step iv).

A change is told in other words than the state that it ends, so shared words
alone do not find the pair. Three signals are added up: the words that both
share (by idf), the life attributes that both touch (a lease and a commute meet
in ``home`` or ``commute``; an attribute that few sentences touch says more),
and how much the earlier sentence reads like a lasting statement at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.memory.timestamps import is_later
from stateauditor.program.retrieval.windows import Sentences

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WORD_WEIGHT: Final = 0.25
ATTRIBUTE_WEIGHT: Final = 3.0
STATEMENT_WEIGHT: Final = 0.5
# Candidates are the strongest statements of the memory: enough for a long
# history, few enough that pairing stays linear.
FEWEST_CANDIDATES: Final = 256
CANDIDATES_PER_SESSION: Final = 4


@dataclass(frozen=True, slots=True)
class AntecedentFinder:
    """The sentences that may be antecedents, in memory order, ready to be compared.

    ``by_term`` lists for each index term the candidates that hold it;
    ``attributes`` is their attribute table, weighted and scaled to length one.
    """

    sentences: Sentences
    rows: Ints
    by_term: dict[int, list[int]]
    idf: Floats
    terms: Ints
    attributes: Floats
    attribute_weights: Floats
    touched: npt.NDArray[np.bool_]
    prior: Floats

    def find(self, row: int, count: int) -> tuple[int, ...]:
        """The ``count`` likeliest antecedents of sentence ``row``, best first.

        Only sentences of other sessions that are certainly earlier qualify:
        an unknown or equal time never does.
        """
        return tuple(
            candidate for _, candidate in zip(range(count), self._earlier(row), strict=False)
        )

    def _earlier(self, row: int) -> Iterator[int]:
        sentences = self.sentences
        entry = int(sentences.entry[row])
        new = sentences.entries[entry].timestamp
        before = int(np.searchsorted(sentences.entry[self.rows], entry))
        if new is None or before == 0:
            return
        links = self._links(row)[:before]
        links[sentences.session[self.rows[:before]] == sentences.session[row]] = -np.inf
        # Of equal links the later statement comes first: a restated state is the current one.
        for place in np.lexsort((-self.rows[:before], -links)).tolist():
            candidate = int(self.rows[place])
            if links[place] == -np.inf:
                return
            if is_later(new, sentences.entries[int(sentences.entry[candidate])].timestamp):
                yield candidate

    def _links(self, row: int) -> Floats:
        links = self.prior.copy()
        begin, end = self.sentences.offsets[row : row + 2]
        for term in dict.fromkeys(self.terms[begin:end].tolist()):
            places = self.by_term.get(term)
            if places is not None:
                links[places] += WORD_WEIGHT * self.idf[term]
        mine = _scaled(self.touched[row] * self.attribute_weights)
        return np.round(links + ATTRIBUTE_WEIGHT * (self.attributes @ mine), 9)


def build_finder(
    sentences: Sentences,
    terms: Ints,
    idf: Floats,
    touched: npt.NDArray[np.bool_],
    statement: Floats,
) -> AntecedentFinder:
    """Prepare the strongest statements of a memory as candidates.

    ``terms`` is the index term of every word of ``sentences``, -1 for stop words.
    """
    wanted = max(
        FEWEST_CANDIDATES, CANDIDATES_PER_SESSION * (int(sentences.session.max(initial=-1)) + 1)
    )
    order = np.lexsort((np.arange(len(sentences)), -statement))
    rows = np.sort(order[:wanted])
    by_term: dict[int, list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        begin, end = sentences.offsets[row], sentences.offsets[row + 1]
        for term in dict.fromkeys(terms[begin:end].tolist()):
            if term >= 0:
                by_term.setdefault(term, []).append(place)
    touching = touched[rows].sum(axis=0)
    weights = np.log((len(rows) + 1.0) / (touching + 1.0))
    return AntecedentFinder(
        sentences=sentences,
        rows=rows,
        by_term=by_term,
        idf=idf,
        terms=terms,
        attributes=_scaled(touched[rows] * weights),
        attribute_weights=weights,
        touched=touched,
        prior=STATEMENT_WEIGHT * np.clip(statement[rows], -6.0, 6.0),
    )


def _scaled(table: Floats) -> Floats:
    length = np.sqrt((table * table).sum(axis=-1, keepdims=True))
    scaled: Floats = table / np.where(length > 0, length, 1.0)
    return scaled
