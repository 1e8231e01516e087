"""The latest telling of the same thing: whoever shows a statement shows how it ended.

Two sentences tell of the same thing if they share a word that hardly any other session
uses: an artist's name, a shop, a pet. No language is needed for that. The line that
dislikes an artist and the later one that loves him again belong together.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.windows import Sentences

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MOST_SESSIONS: Final = 6
"""A word that more sessions use names no single thing."""


def later_tellings(sentences: Sentences, terms: Ints, idf: Floats) -> Ints:
    """For each sentence the latest one of a later session that shares its rarest shared word.

    -1 where no later session shares a rare word; questions tell nothing. ``terms`` is the
    index term of every word of ``sentences``, -1 for stop words.
    """
    count = len(sentences)
    result = np.full(count, -1, dtype=np.int64)
    owner = np.repeat(np.arange(count, dtype=np.int64), np.diff(sentences.offsets))
    usable = (terms >= 0) & ~sentences.asks[owner]
    term, row = terms[usable], owner[usable]
    if not len(term):
        return result
    sessions = int(sentences.session.max()) + 1
    users = np.bincount(np.unique(term * sessions + sentences.session[row]) // sessions,
                        minlength=len(idf))  # fmt: skip
    latest = np.full(len(idf), -1, dtype=np.int64)
    np.maximum.at(latest, term, row)
    named = (users[term] >= 2) & (users[term] <= MOST_SESSIONS)
    named &= sentences.session[latest[term]] > sentences.session[row]
    term, row = term[named], row[named]
    order = np.lexsort((latest[term], idf[term], row))  # the rarest word of a row comes last
    result[row[order]] = latest[term[order]]
    return result
