"""What a sentence looks like, as numbers (paper, section 4.1: update disclosures).

One row a sentence, one column a feature; nothing here depends on a question.
The columns are the cues of the lexicon (how often, at most twice), and the
shape of the sentence: whether it asks, how long and how specific it is, which
life attributes it touches, and how little it has to do with the rest of its
session, because changes are told in asides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.lexicon import Lexicon
from stateauditor.program.retrieval.vocabulary import Marks, Vocabulary
from stateauditor.program.retrieval.windows import Sentences, ragged_range

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SHAPES: Final = (
    "asks",
    "length",
    "numbers",
    "domains",
    "own_domains",
    "states",
    "aside",
    "opens_turn",
    "closes_turn",
    "stands_alone",
)
"""The features that are no cue, in column order; :func:`measure` says what each is."""

_MOST_CUES: Final = 2
_MOST_NUMBERS: Final = 3
_MOST_DOMAINS: Final = 3
_MOST_WORDS: Final = 60


@dataclass(frozen=True, slots=True)
class Measured:
    """The feature table, its column names, which attributes each sentence touches, and whether
    it is a stored fact."""

    columns: tuple[str, ...]
    values: Floats
    attributes: Bools
    stored: Bools


def measure(sentences: Sentences, vocabulary: Vocabulary, lexicon: Lexicon) -> Measured:
    """The features of every sentence."""
    rows = len(sentences)
    lengths = np.diff(sentences.offsets)
    row_of = np.repeat(np.arange(rows, dtype=np.int64), lengths)
    cues = _tally(sentences.word_ids, row_of, vocabulary.cues, rows)
    _add_phrases(cues, sentences, row_of, vocabulary, lexicon)
    np.minimum(cues, _MOST_CUES, out=cues)
    touched = _tally(sentences.word_ids, row_of, vocabulary.attributes, rows) > 0
    domains = np.minimum(touched.sum(axis=1), _MOST_DOMAINS)
    cue = {name: cues[:, number] for number, name in enumerate(lexicon.cues)}
    own = (cue["first_person"] + cue["possession"] + cue["first_plural"]) > 0
    numbers = np.bincount(row_of, vocabulary.is_number[sentences.word_ids], rows)
    opens, closes = _turn_ends(sentences)
    shape = {
        "asks": sentences.asks,
        "length": np.log1p(np.minimum(lengths, _MOST_WORDS)),
        "numbers": np.minimum(numbers, _MOST_NUMBERS),
        "domains": domains,
        "own_domains": domains * own,
        "states": own & ~sentences.asks,
        "aside": _aside(sentences, vocabulary, row_of),
        "opens_turn": opens & ~closes,
        "closes_turn": closes & ~opens,
        "stands_alone": opens & closes,
    }
    values = np.empty((rows, len(lexicon.cues) + len(SHAPES)))
    values[:, : len(lexicon.cues)] = cues
    for place, name in enumerate(SHAPES, start=len(lexicon.cues)):
        values[:, place] = shape[name]
    return Measured((*lexicon.cues, *SHAPES), values, touched, sentences.stored())


def _tally(word_ids: Ints, row_of: Ints, marks: Marks, rows: int) -> Floats:
    """How often each sentence holds a word of each kind."""
    counts = marks.counts[word_ids]
    hits = np.flatnonzero(counts)
    per_hit = counts[hits]
    kinds = marks.kinds[np.repeat(marks.begins[word_ids[hits]], per_hit) + ragged_range(per_hit)]
    cells = np.repeat(row_of[hits], per_hit) * marks.width + kinds
    table = np.bincount(cells, minlength=rows * marks.width)
    return table.reshape(rows, marks.width).astype(np.float64)


def _add_phrases(
    cues: Floats, sentences: Sentences, row_of: Ints, vocabulary: Vocabulary, lexicon: Lexicon
) -> None:
    """Count cues of several words: found by their first two words, then compared whole."""
    numbers = vocabulary.number
    table: dict[int, list[tuple[tuple[int, ...], int]]] = {}
    first = np.zeros(len(numbers), dtype=np.bool_)
    second = np.zeros(len(numbers), dtype=np.bool_)
    for phrase, cue in lexicon.cue_phrases:
        if phrase[0] in numbers and phrase[1] in numbers and numbers.keys() >= set(phrase[2:]):
            ids = tuple([numbers[word] for word in phrase])
            table.setdefault(ids[0] * len(numbers) + ids[1], []).append((ids, cue))
            first[ids[0]] = second[ids[1]] = True
    line = sentences.word_ids
    places = np.flatnonzero(first[line[:-1]] & second[line[1:]])
    keys = line[places] * len(numbers) + line[places + 1]
    wanted = np.isin(keys, np.array(sorted(table), dtype=np.int64))
    places, rows = places[wanted], row_of[places[wanted]]
    found = zip(
        places.tolist(),
        rows.tolist(),
        sentences.offsets[rows + 1].tolist(),
        keys[wanted].tolist(),
        strict=True,
    )
    for place, row, end, key in found:
        for ids, cue in table[key]:
            last = place + len(ids)
            if last <= end and (len(ids) == 2 or tuple(line[place:last].tolist()) == ids):
                cues[row, cue] += 1


def _aside(sentences: Sentences, vocabulary: Vocabulary, row_of: Ints) -> Floats:
    """The share of a sentence's terms that no other sentence of its session uses."""
    rows = len(sentences)
    terms = vocabulary.term[sentences.word_ids]
    content = terms >= 0
    term, row = terms[content], row_of[content]
    place = sentences.session[row] * max(len(vocabulary.terms), 1) + term
    keys = np.sort(place * max(rows, 1) + row)
    place, row = np.divmod(keys[_starts_run(keys)], max(rows, 1))
    begins = np.flatnonzero(_starts_run(place))
    uses = np.repeat(np.diff(np.append(begins, len(place))), np.diff(np.append(begins, len(place))))
    alone = np.bincount(row, uses == 1, rows)
    return alone / np.maximum(np.bincount(row, minlength=rows), 1)


def _starts_run(ordered: Ints) -> Bools:
    """Where a sorted array holds a value for the first time."""
    fresh = np.ones(len(ordered), dtype=np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return fresh


def _turn_ends(sentences: Sentences) -> tuple[Bools, Bools]:
    first = _starts_run(sentences.entry)
    last = np.ones(len(sentences), dtype=np.bool_)
    last[:-1] = first[1:]
    return first, last
