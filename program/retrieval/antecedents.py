"""Which earlier statement a disclosure may supersede (paper, section 4.1, step iv).

A change is told in other words than the state that it ends, so shared words
alone do not find the pair. The link of two sentences adds up the life
attributes that both are about (one that few sentences touch says more), the
attributes that a change of the later one often ends (a diagnosis ends a sport),
and the words that both share; a sentence that hardly states anything lasting
is held back. Without any link there is no pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.memory.timestamps import is_later
from stateauditor.program.retrieval.lexicon import Lexicon
from stateauditor.program.retrieval.windows import Sentences, ragged_range

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WORD_WEIGHT: Final = 0.1
ATTRIBUTE_WEIGHT: Final = 6.0
TOUCH_WEIGHT: Final = 3.0
# A sentence that is a statement rather than not (log-odds 0) is statement
# enough: beyond that the links decide.
WEAKEST_STATEMENT: Final = -6.0
# Candidates are the strongest statements of the memory: enough for a long
# history, few enough that pairing stays linear.
FEWEST_CANDIDATES: Final = 256
CANDIDATES_PER_SESSION: Final = 4


@dataclass(frozen=True, slots=True)
class AntecedentFinder:
    """The sentences that may be antecedents, in memory order, ready to be compared.

    ``entry`` and ``session`` are those of ``rows``. The candidates that hold term
    ``t`` are ``term_places[term_starts[t]:term_starts[t + 1]]``;
    ``attributes`` is their attribute table, weighted and scaled to length one;
    ``touches`` says which attribute ends which.
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
    touches: Floats
    touched: npt.NDArray[np.bool_]
    prior: Floats

    def find(self, rows: Sequence[int], count: int) -> list[tuple[int, ...]]:
        """For each sentence of ``rows`` its ``count`` likeliest antecedents, best first.

        Only sentences of other sessions that are certainly earlier qualify: an
        unknown or equal time never does. Of equal links the later statement
        comes first, because a restated state is the current one.
        """
        if not len(rows) or not len(self.rows):
            return [()] * len(rows)
        weighted = self.touched[rows] * self.attribute_weights
        links = (
            ATTRIBUTE_WEIGHT * (_scaled(weighted) @ self.attributes.T)
            + TOUCH_WEIGHT * (_scaled(weighted @ self.touches) @ self.attributes.T)
            + WORD_WEIGHT * self._shared_words(np.asarray(rows, dtype=np.int64))
        )
        links = np.where(links > 0, links + self.prior, -np.inf)
        return [
            self._best(row, of_row, count)
            for row, of_row in zip(rows, links.round(9), strict=True)
        ]

    def _shared_words(self, rows: Ints) -> Floats:
        """The idf that each of ``rows`` shares with each candidate, every word once."""
        begin = self.sentences.offsets[rows]
        counts = self.sentences.offsets[rows + 1] - begin
        terms = self.terms[np.repeat(begin, counts) + ragged_range(counts)]
        owner = np.repeat(np.arange(len(rows)), counts)[terms >= 0]
        keys = np.unique(owner * len(self.idf) + terms[terms >= 0])
        owner, term = np.divmod(keys, max(len(self.idf), 1))
        first = self.term_starts[term]
        holders = self.term_starts[term + 1] - first
        place = self.term_places[np.repeat(first, holders) + ragged_range(holders)]
        cells = np.repeat(owner, holders) * len(self.rows) + place
        shared = np.bincount(cells, np.repeat(self.idf[term], holders), len(rows) * len(self.rows))
        return shared.reshape(len(rows), len(self.rows))

    def _best(self, row: int, links: Floats, count: int) -> tuple[int, ...]:
        entry = int(self.sentences.entry[row])
        new = self.sentences.entries[entry].timestamp
        before = int(self.entry.searchsorted(entry))
        if new is None or before == 0:
            return ()
        links[self.session == self.sentences.session[row]] = -np.inf
        backwards = links[:before][::-1]
        found: list[int] = []
        while len(found) < count:
            place = int(backwards.argmax())
            if backwards[place] == -np.inf:
                break
            candidate = int(self.rows[before - 1 - place])
            backwards[place] = -np.inf
            old = self.sentences.entries[int(self.sentences.entry[candidate])].timestamp
            if is_later(new, old):
                found.append(candidate)
        return tuple(found)


def build_finder(
    sentences: Sentences,
    terms: Ints,
    idf: Floats,
    touched: npt.NDArray[np.bool_],
    statement: Floats,
    lexicon: Lexicon,
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
    place = np.repeat(np.arange(len(rows)), counts)[held >= 0]
    keys = np.unique(held[held >= 0] * max(len(rows), 1) + place)
    term, place = np.divmod(keys, max(len(rows), 1))
    touches = np.zeros((touched.shape[1], touched.shape[1]))
    for attribute, reached in enumerate(lexicon.touches):
        touches[attribute, list(reached)] = 1.0
    touching = touched[rows].sum(axis=0)
    weights = np.log1p(len(rows) / (touching + 1.0))
    return AntecedentFinder(
        sentences=sentences,
        rows=rows,
        entry=sentences.entry[rows],
        session=sentences.session[rows],
        term_starts=term.searchsorted(np.arange(len(idf) + 1)),
        term_places=place,
        idf=idf,
        terms=terms,
        attributes=_scaled(touched[rows] * weights),
        attribute_weights=weights,
        touched=touched,
        touches=touches,
        prior=np.clip(statement[rows], WEAKEST_STATEMENT, 0.0),
    )


def _scaled(table: Floats) -> Floats:
    length = np.sqrt((table * table).sum(axis=-1, keepdims=True))
    scaled: Floats = table / np.where(length > 0, length, 1.0)
    return scaled
