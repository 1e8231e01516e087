"""The distinct words of a memory, each looked up once.

Sentences refer to words by number; everything that a word means for retrieval
(its index term, its cues, the attributes it touches) is a column over the
vocabulary, so that a hundred thousand sentences only gather numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.lexicon import Lexicon
from stateauditor.program.retrieval.tokens import BREAK, stem

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Marks(NamedTuple):
    """For each word the kinds it is marked with: ``kinds[begins[w]:begins[w] + counts[w]]``."""

    width: int
    counts: Ints
    begins: Ints
    kinds: Ints


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What each word of ``Sentences.vocabulary`` stands for.

    ``number`` finds a word's place; ``term`` is the number of its index term, -1
    for a stop word.
    """

    number: dict[str, int]
    terms: tuple[str, ...]
    term: Ints
    is_number: Bools
    cues: Marks
    attributes: Marks


class _Facts(NamedTuple):
    term: str | None
    is_number: bool
    cues: tuple[int, ...]
    attributes: tuple[int, ...]


@lru_cache(maxsize=131_072)
def _look_up(word: str, lexicon: Lexicon) -> _Facts:
    """What a word stands for; memories share most of their words."""
    root = stem(word)
    return _Facts(
        None if word in lexicon.stop_words or word == BREAK else root,
        word[0].isdigit(),
        lexicon.cue_words.get(word, ()),
        lexicon.attribute_stems.get(root, ()),
    )


def read_vocabulary(words: Sequence[str], lexicon: Lexicon) -> Vocabulary:
    """Look every distinct word up."""
    facts = [*map(_look_up, words, repeat(lexicon))]
    roots, numbers, cues, attributes = (
        zip(*facts, strict=True) if facts else ((),) * len(_Facts._fields)
    )
    terms = dict.fromkeys(roots)
    terms.pop(None, None)
    number_of = {**dict(zip(terms, count(), strict=False)), None: -1}
    return Vocabulary(
        number=dict(zip(words, count(), strict=False)),
        terms=tuple(terms),
        term=np.array([*map(number_of.__getitem__, roots)], dtype=np.int64),
        is_number=np.array(numbers, dtype=np.bool_),
        cues=_marks(cues, len(lexicon.cues)),
        attributes=_marks(attributes, len(lexicon.attributes)),
    )


def _marks(kinds: Sequence[tuple[int, ...]], width: int) -> Marks:
    counts = np.array([*map(len, kinds)], dtype=np.int64)
    flat = np.array([*chain.from_iterable(kinds)], dtype=np.int64)
    return Marks(width, counts, np.cumsum(counts) - counts, flat)
