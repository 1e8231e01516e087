"""Which earlier statement a disclosure may supersede (paper, section 4.1, step iv).

A change is told in other words than the state that it ends, so shared words
alone do not find the pair. Three signals are added up: the words that both
share (by idf), the life attributes that both touch (a lease and a commute meet
in ``home`` or ``commute``; an attribute that few sentences touch says more),
and how much the earlier sentence reads like a lasting statement at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.memory.timestamps import is_later
from stateauditor.program.retrieval.windows import Sentences, ragged_range

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

    ``entry`` and ``session`` are those of ``rows``. The candidates that hold term
    ``t`` are ``term_places[term_starts[t + 1]:term_starts[t + 2]]``;
    ``attributes`` is their attribute table, weighted and scaled to length one.
    """

    sentences: Sentences
    rows: Ints
    entry: Ints
    session: Ints
    term_starts: Ints
    term_places: Ints
    idf: Floats
    terms: Ints
    attributes: Floats
    attribute_weights: Floats
    touched: npt.NDArray[np.bool_]
    prior: Floats

    def find(self, row: int, count: int) -> tuple[int, ...]:
        """The ``count`` likeliest antecedents of sentence ``row``, best first.

        Only sentences of other sessions that are certainly earlier qualify: an
        unknown or equal time never does. Of equal links the later statement
        comes first, because a restated state is the current one.
        """
        entry = int(self.sentences.entry[row])
        new = self.sentences.entries[entry].timestamp
        before = int(np.searchsorted(self.entry, entry))
        if new is None or before == 0:
            return ()
        links = self._links(row, before)
        links[self.session[:before] == self.sentences.session[row]] = -np.inf
        found: list[int] = []
        while len(found) < count:
            place = before - 1 - int(links[::-1].argmax())
            if links[place] == -np.inf:
                break
            old = self.sentences.entries[int(self.entry[place])].timestamp
            if is_later(new, old):
                found.append(int(self.rows[place]))
                links[place] = -np.inf
            else:  # nor is any other candidate of that entry
                links[self.entry[:before] == self.entry[place]] = -np.inf
        return tuple(found)

    def _links(self, row: int, before: int) -> Floats:
        links = self.prior[:before].copy()
        begin, end = self.sentences.offsets[row : row + 2].tolist()
        for term in dict.fromkeys(self.terms[begin:end].tolist()):
            first, last = self.term_starts[term + 1 : term + 3].tolist()
            places = self.term_places[first:last]
            links[places[places < before]] += WORD_WEIGHT * self.idf[term]
        mine = _scaled(self.touched[row] * self.attribute_weights)
        links += ATTRIBUTE_WEIGHT * (self.attributes[:before] @ mine)
        return np.round(links, 9)


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
    counts = np.diff(sentences.offsets)[rows]
    held = terms[np.repeat(sentences.offsets[rows], counts) + ragged_range(counts)]
    keys = np.unique((held + 1) * max(len(rows), 1) + np.repeat(np.arange(len(rows)), counts))
    term, place = np.divmod(keys, max(len(rows), 1))
    starts = np.searchsorted(term, np.arange(len(idf) + 2))
    starts[1] = starts[0]  # term -1 stands for stop words, which link nothing
    touching = touched[rows].sum(axis=0)
    weights = np.log((len(rows) + 1.0) / (touching + 1.0))
    return AntecedentFinder(
        sentences=sentences,
        rows=rows,
        entry=sentences.entry[rows],
        session=sentences.session[rows],
        term_starts=starts,
        term_places=place,
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
