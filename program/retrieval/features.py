"""What a sentence looks like, as numbers (paper, section 4.1: update disclosures).

One row a sentence, one column a feature; nothing here depends on a question.
The columns are the cues of the lexicon (how often, at most twice), the life
attributes touched, and the shape of the sentence: whether it asks, how long and
how specific it is, how rare its words are in this memory, and how little it
has to do with the rest of its session, because changes are told in asides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.lexicon import Lexicon
from stateauditor.program.retrieval.tokens import fold, stem
from stateauditor.program.retrieval.windows import Sentences

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SHAPES: Final = (
    "asks",
    "length",
    "numbers",
    "names",
    "domains",
    "own_domains",
    "states",
    "rarity",
    "aside",
    "opens_turn",
    "closes_turn",
    "stands_alone",
)
"""Features that are no cue, in column order; see :func:`measure`."""

_MOST_CUES: Final = 2
_MOST_NUMBERS: Final = 3
_MOST_DOMAINS: Final = 3


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What each word of ``Sentences.vocabulary`` stands for.

    ``term`` is the number of its index term or -1 for a stop word; ``folded``
    numbers its folded form. Cues and attributes are (word, number) pairs.
    """

    terms: tuple[str, ...]
    term: Ints
    folded: Ints
    folds: dict[str, int]
    is_number: npt.NDArray[np.bool_]
    is_name: npt.NDArray[np.bool_]
    cues: tuple[tuple[int, ...], ...]
    attributes: tuple[tuple[int, ...], ...]


def read_vocabulary(vocabulary: tuple[str, ...], lexicon: Lexicon) -> Vocabulary:
    """Look every distinct word up once; sentences then only gather numbers."""
    folds: dict[str, int] = {}
    terms: dict[str, int] = {}
    folded: list[int] = []
    term: list[int] = []
    cues: list[tuple[int, ...]] = []
    attributes: list[tuple[int, ...]] = []
    numbers: list[bool] = []
    names: list[bool] = []
    stop, cue_words, attribute_stems = (
        lexicon.stop_words,
        lexicon.cue_words,
        lexicon.attribute_stems,
    )
    for word in vocabulary:
        form = fold(word)
        folded.append(folds.setdefault(form, len(folds)))
        cues.append(cue_words.get(form, ()))
        root = stem(form)
        attributes.append(attribute_stems.get(root, ()))
        stops = form in stop
        term.append(-1 if stops else terms.setdefault(root, len(terms)))
        numbers.append(word[0].isdigit())
        names.append(word[0].isupper() and not stops)
    return Vocabulary(
        terms=tuple(terms),
        term=np.array(term, dtype=np.int64),
        folded=np.array(folded, dtype=np.int64),
        folds=folds,
        is_number=np.array(numbers, dtype=np.bool_),
        is_name=np.array(names, dtype=np.bool_),
        cues=tuple(cues),
        attributes=tuple(attributes),
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """The feature table, its column names, and which attributes each sentence touches."""

    columns: tuple[str, ...]
    values: Floats
    attributes: npt.NDArray[np.bool_]


def measure(
    sentences: Sentences, vocabulary: Vocabulary, lexicon: Lexicon, idf: Floats
) -> Measured:
    """The features of every sentence; ``idf`` weighs each index term in this memory."""
    rows = len(sentences)
    lengths = np.diff(sentences.offsets)
    of_word = np.repeat(np.arange(rows, dtype=np.int64), lengths)
    cues = _tally(sentences.word_ids, of_word, vocabulary.cues, len(lexicon.cues), rows)
    cues += _phrases(sentences, of_word, vocabulary, lexicon)
    cues = np.minimum(cues, _MOST_CUES)
    touched = (
        _tally(sentences.word_ids, of_word, vocabulary.attributes, len(lexicon.attributes), rows)
        > 0
    )
    domains = np.minimum(touched.sum(axis=1), _MOST_DOMAINS)
    cue = {name: cues[:, number] for number, name in enumerate(lexicon.cues)}
    own = np.minimum(cue["first_person"] + cue["possession"] + cue["first_plural"], 1)
    numbers = np.bincount(of_word, vocabulary.is_number[sentences.word_ids], rows)
    inner = np.ones(len(of_word), dtype=np.bool_)
    inner[sentences.offsets[:-1][lengths > 0]] = False
    names = np.bincount(of_word, inner & vocabulary.is_name[sentences.word_ids], rows)
    rarity, aside = _rarity_and_aside(sentences, vocabulary, of_word, idf)
    first, last = _turn_ends(sentences)
    shape = {
        "asks": sentences.asks,
        "length": np.log1p(np.minimum(lengths, 60)),
        "numbers": np.minimum(numbers, _MOST_NUMBERS),
        "names": np.minimum(names, _MOST_NUMBERS),
        "domains": domains,
        "own_domains": domains * own,
        "states": own * ~sentences.asks,
        "rarity": rarity,
        "aside": aside,
        "opens_turn": first & ~last,
        "closes_turn": last & ~first,
        "stands_alone": first & last,
    }
    values = np.column_stack([cues, *(shape[name].astype(np.float64) for name in SHAPES)])
    return Measured((*lexicon.cues, *SHAPES), values, touched)


def _tally(
    word_ids: Ints, of_word: Ints, marks: tuple[tuple[int, ...], ...], width: int, rows: int
) -> Floats:
    """How often each sentence holds each of ``width`` kinds of words."""
    counts = np.array([len(mark) for mark in marks], dtype=np.int64)
    if not counts.any():
        return np.zeros((rows, width))
    flat = np.array([number for mark in marks for number in mark], dtype=np.int64)
    begins = np.cumsum(counts) - counts
    hits = np.flatnonzero(counts[word_ids])
    per_hit = counts[word_ids[hits]]
    within = np.arange(int(per_hit.sum())) - np.repeat(np.cumsum(per_hit) - per_hit, per_hit)
    kinds = flat[np.repeat(begins[word_ids[hits]], per_hit) + within]
    cells = np.repeat(of_word[hits], per_hit) * width + kinds
    return np.bincount(cells, minlength=rows * width).reshape(rows, width).astype(np.float64)


def _phrases(
    sentences: Sentences, of_word: Ints, vocabulary: Vocabulary, lexicon: Lexicon
) -> Floats:
    """Cues of several words: candidates by their first two words, then the rest."""
    found = np.zeros((len(sentences), len(lexicon.cues)))
    folds = vocabulary.folds
    table: dict[tuple[int, int], list[tuple[tuple[int, ...], int]]] = {}
    first = np.zeros(len(folds), dtype=np.bool_)
    second = np.zeros(len(folds), dtype=np.bool_)
    for phrase, cue in lexicon.cue_phrases:
        ids = [folds.get(word) for word in phrase]
        if None not in ids:
            known = tuple(number for number in ids if number is not None)
            table.setdefault((known[0], known[1]), []).append((known[2:], cue))
            first[known[0]] = second[known[1]] = True
    if not table:
        return found
    line = vocabulary.folded[sentences.word_ids]
    same = of_word[:-1] == of_word[1:]
    places = np.flatnonzero(first[line[:-1]] & second[line[1:]] & same)
    for place, one, two in zip(
        places.tolist(), line[places].tolist(), line[places + 1].tolist(), strict=True
    ):
        for rest, cue in table.get((one, two), ()):
            row = of_word[place]
            end = place + 2 + len(rest)
            if not rest or (
                end <= sentences.offsets[row + 1] and tuple(line[place + 2 : end]) == rest
            ):
                found[row, cue] += 1
    return found


def _rarity_and_aside(
    sentences: Sentences, vocabulary: Vocabulary, of_word: Ints, idf: Floats
) -> tuple[Floats, Floats]:
    """Mean idf of a sentence's terms, and the share of them found nowhere else in its session."""
    rows = len(sentences)
    terms = vocabulary.term[sentences.word_ids]
    content = terms >= 0
    term, row = terms[content], of_word[content]
    count = np.bincount(row, minlength=rows)
    some = np.maximum(count, 1)
    rarity = np.bincount(row, idf[term], rows) / some
    # A term is an aside's own when no other sentence of the session uses it.
    keys = np.unique(term * rows + row) if rows else term
    term, row = np.divmod(keys, max(rows, 1))
    place = sentences.session[row] * max(len(vocabulary.terms), 1) + term
    _, inverse, uses = np.unique(place, return_inverse=True, return_counts=True)
    alone = np.bincount(row, uses[inverse] == 1, rows)
    return rarity, alone / np.maximum(np.bincount(row, minlength=rows), 1)


def _turn_ends(sentences: Sentences) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    first = np.ones(len(sentences), dtype=np.bool_)
    first[1:] = sentences.entry[1:] != sentences.entry[:-1]
    last = np.ones(len(sentences), dtype=np.bool_)
    last[:-1] = first[1:]
    return first, last
