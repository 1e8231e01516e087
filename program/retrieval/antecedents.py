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
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.memory.timestamps import is_later
from stateauditor.program.retrieval.lexicon import Lexicon
from stateauditor.program.retrieval.windows import Sentences, ragged_range
from stateauditor.signatures.models import Precision

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

    ``entry`` and ``session`` are those of ``rows``, ``stamp`` numbers their
    times. The candidates that hold term ``t`` are
    ``term_places[term_starts[t]:term_starts[t + 1]]``; ``attributes`` is their
    attribute table, weighted and scaled to length one; ``touches`` says which
    attribute ends which.
    """

    sentences: Sentences
    rows: Ints
    entry: Ints
    session: Ints
    stamp: Ints
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
        chosen = np.array(rows, dtype=np.int64)
        weighted = self.touched[chosen] * self.attribute_weights
        links = (
            ATTRIBUTE_WEIGHT * (_scaled(weighted) @ self.attributes.T)
            + TOUCH_WEIGHT * (_scaled(weighted @ self.touches) @ self.attributes.T)
            + WORD_WEIGHT * self._shared_words(chosen)
        )
        links = np.where(links > 0, links + self.prior, -np.inf).round(9)
        entry = self.sentences.entry[chosen][:, np.newaxis]
        session = self.sentences.session[chosen][:, np.newaxis]
        links[(self.entry >= entry) | (self.session == session)] = -np.inf
        # Backwards, because argmax takes the first of equals: the latest telling.
        backwards = links[:, ::-1]
        likeliest = backwards.argmax(axis=1).tolist()
        return [
            self._certain(number, of_row, first, count)
            for number, of_row, first in zip(
                entry[:, 0].tolist(), backwards, likeliest, strict=True
            )
        ]

    def _certain(self, entry: int, backwards: Floats, first: int, count: int) -> tuple[int, ...]:
        """The best ``count`` candidates that are certainly earlier than ``entry``."""
        entries = self.sentences.entries
        new = entries[entry].timestamp
        found: list[int] = []
        place = first
        while len(found) < count and new is not None and backwards[place] > -np.inf:
            candidate = len(self.rows) - 1 - place
            if is_later(new, entries[self.entry[candidate]].timestamp):
                found.append(int(self.rows[candidate]))
                backwards[place] = -np.inf
            else:  # nor is any other candidate with that time
                backwards[(self.stamp == self.stamp[candidate])[::-1]] = -np.inf
            if len(found) < count:
                place = int(backwards.argmax())
        return tuple(found)

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
        gained = np.repeat(self.idf[term], holders)
        size = len(rows) * len(self.rows)
        shared = np.asarray(np.bincount(cells, weights=gained, minlength=size), dtype=np.float64)
        return shared.reshape(len(rows), len(self.rows))


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
    stamps: dict[tuple[datetime, Precision] | None, int] = {}
    times = [
        time and (time.instant, time.precision)
        for time in [sentences.entries[n].timestamp for n in sentences.entry[rows].tolist()]
    ]
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
        stamp=np.array([stamps.setdefault(time, len(stamps)) for time in times], dtype=np.int64),
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
