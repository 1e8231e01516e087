"""BM25 over windows, by rank-bm25's definition and from an inverted index.

``BM25Okapi`` of the rank-bm25 package is the definition of the score (ATIRE
BM25, negative idf floored at ``epsilon`` times the average idf). It visits
every window for every word of a query; this structure visits only the windows
that contain the word and gives the same scores, which a test holds to 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

K1: Final = 1.5
B: Final = 0.75
EPSILON: Final = 0.25


@dataclass(frozen=True, slots=True)
class Postings:
    """For each term the windows that hold it, and what it adds to their scores.

    ``window[starts[t]:starts[t + 1]]`` are term ``t``'s windows, rising;
    ``gain`` is the term's BM25 contribution there, idf included.
    """

    terms: dict[str, int]
    starts: Ints
    window: npt.NDArray[np.int32]
    gain: Floats
    idf: Floats
    windows: int

    def scores(self, query: Sequence[str]) -> Floats:
        """The BM25 score of every window; a repeated word counts each time."""
        total = np.zeros(self.windows)
        for term in query:
            number = self.terms.get(term)
            if number is not None:
                here = slice(self.starts[number], self.starts[number + 1])
                total[self.window[here]] += self.gain[here]
        return total

    def holding(self, query: Sequence[str]) -> Floats:
        """How many words of the query each window holds, a repeated word each time."""
        total = np.zeros(self.windows)
        for term in query:
            number = self.terms.get(term)
            if number is not None:
                total[self.window[self.starts[number] : self.starts[number + 1]]] += 1.0
        return total


def build_postings(terms: Sequence[str], term_ids: Ints, offsets: Ints) -> Postings:
    """Invert windows given as term numbers; window ``w`` owns ``offsets[w]:offsets[w + 1]``."""
    windows = len(offsets) - 1
    lengths = np.diff(offsets)
    keys = term_ids * windows + np.repeat(np.arange(windows, dtype=np.int64), lengths)
    keys.sort()
    fresh = np.ones(len(keys), dtype=np.bool_)
    fresh[1:] = keys[1:] != keys[:-1]
    places = np.flatnonzero(fresh)
    counts = np.diff(np.append(places, len(keys)))
    distinct = keys[places]
    term, window = np.divmod(distinct, max(windows, 1))
    frequency = np.bincount(term, minlength=len(terms))
    idf = _idf(frequency, windows)
    average = len(term_ids) / windows if windows else 0.0
    relative = lengths / average if average else lengths.astype(np.float64)
    damping = K1 * (1 - B + B * relative)
    gain = idf[term] * (counts * (K1 + 1) / (counts + damping[window]))
    return Postings(
        terms={word: number for number, word in enumerate(terms)},
        starts=np.concatenate(([0], np.cumsum(frequency, dtype=np.int64))),
        window=window.astype(np.int32),
        gain=gain,
        idf=idf,
        windows=windows,
    )


def _idf(frequency: Ints, windows: int) -> Floats:
    """rank-bm25's idf; its average runs over the terms that occur."""
    idf = np.log(windows - frequency + 0.5) - np.log(frequency + 0.5)
    occurring = frequency > 0
    if not occurring.any():
        return np.zeros(len(frequency))
    # fsum: the average must not depend on the order in which terms were met.
    average = math.fsum(idf[occurring]) / int(occurring.sum())
    return np.where(occurring, np.where(idf < 0, EPSILON * average, idf), 0.0)
