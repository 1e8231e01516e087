"""The distinct words of a memory, each looked up once.

Sentences refer to words by number; everything that a word means for retrieval
(its index term, its cues, the attributes it touches) is a column over the
vocabulary, so that a hundred thousand sentences only gather numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.lexicon import Lexicon
from stateauditor.program.retrieval.tokens import BREAK, fold, stem

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

    ``term`` is the number of its index term or -1 for a stop word; ``folded``
    numbers its folded form, which ``folds`` maps back.
    """

    terms: tuple[str, ...]
    term: Ints
    folded: Ints
    folds: dict[str, int]
    is_number: Bools
    is_name: Bools
    cues: Marks
    attributes: Marks


class _Facts(NamedTuple):
    folded: str
    term: str | None
    is_number: bool
    is_name: bool
    cues: tuple[int, ...]
    attributes: tuple[int, ...]


@lru_cache(maxsize=131_072)
def _look_up(word: str, lexicon: Lexicon) -> _Facts:
    """What a word stands for; memories share most of their words."""
    folded = fold(word)
    root = stem(folded)
    stops = folded in lexicon.stop_words
    return _Facts(
        folded,
        root if root and not stops and word != BREAK else None,
        folded[:1].isdigit(),
        word.lstrip("'")[:1].isupper() and not stops,
        lexicon.cue_words.get(folded, ()),
        lexicon.attribute_stems.get(root, ()),
    )


def read_vocabulary(words: Sequence[str], lexicon: Lexicon) -> Vocabulary:
    """Look every distinct word up."""
    facts = [_look_up(word, lexicon) for word in words]
    forms, roots, numbers, names, cues, attributes = (
        zip(*facts, strict=True) if facts else ((),) * len(_Facts._fields)
    )
    folds = {form: number for number, form in enumerate(dict.fromkeys(forms))}
    terms = {root: number for number, root in enumerate(dict.fromkeys(filter(None, roots)))}
    number_of: dict[str | None, int] = {None: -1, **terms}
    return Vocabulary(
        terms=tuple(terms),
        term=np.array([number_of[root] for root in roots], dtype=np.int64),
        folded=np.array([folds[form] for form in forms], dtype=np.int64),
        folds=folds,
        is_number=np.array(numbers, dtype=np.bool_),
        is_name=np.array(names, dtype=np.bool_),
        cues=_marks(cues, len(lexicon.cues)),
        attributes=_marks(attributes, len(lexicon.attributes)),
    )


def _marks(kinds: Sequence[tuple[int, ...]], width: int) -> Marks:
    counts = np.array([len(marked) for marked in kinds], dtype=np.int64)
    flat = np.array([kind for marked in kinds for kind in marked], dtype=np.int64)
    return Marks(width, counts, np.cumsum(counts) - counts, flat)
