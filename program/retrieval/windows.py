"""Overlapping sentence windows over the entries that may be evidence (paper, section 4.1).

A window is a few consecutive sentences of one user turn or stored fact; it
never crosses turns, and assistant turns have none. Sentences and windows are
kept as columns (one array a property, one row a sentence), because a long
history has hundreds of thousands of them; ``Window`` is the view of one row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.sentences import BLANK_LINE, sentence_spans
from stateauditor.program.retrieval.tokens import BREAK, words_of_all
from stateauditor.signatures.models import EntryRole, MemoryEntry, Timestamp

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_QUESTION_MARKS: Final = frozenset("?？؟;⁇")
_PART: Final = 4_096
_CLOSERS: Final = "\"'”’»)]}】」』）*_ "


class Window(NamedTuple):
    """One window: where it stands, and between which code points of its entry."""

    entry_id: str
    session: str | None
    turn: int | None
    timestamp: Timestamp | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a memory's evidence, in the memory's order, as columns.

    ``entry`` and ``session`` number the rows of ``entries`` and the distinct
    sessions in order of first appearance; a stored fact is a session of its
    own. ``word_ids`` holds the words of all sentences one after another as
    positions in ``vocabulary``; sentence ``i`` owns
    ``word_ids[offsets[i]:offsets[i + 1]]``.
    """

    entries: tuple[MemoryEntry, ...]
    entry: Ints
    start: Ints
    end: Ints
    asks: Bools
    session: Ints
    entry_session: Ints
    offsets: Ints
    word_ids: Ints
    vocabulary: tuple[str, ...]

    def stored(self) -> Bools:
        """Which sentences belong to stored facts, not to something said."""
        facts = [entry.role is EntryRole.FACT for entry in self.entries]
        return np.array(facts, dtype=np.bool_)[self.entry]

    def __len__(self) -> int:
        return len(self.entry)

    def first_of_entry(self) -> Ints:
        """For each entry the number of its first sentence, plus one past the last."""
        return np.searchsorted(self.entry, np.arange(len(self.entries) + 1))


class SentenceLists(NamedTuple):
    """The columns that rendering reads row by row, as lists: quicker one at a time."""

    entries: tuple[MemoryEntry, ...]
    entry: list[int]
    start: list[int]
    end: list[int]
    session: list[int]
    first_of_entry: list[int]

    @classmethod
    def of(cls, sentences: Sentences) -> SentenceLists:
        """The same sentences as lists."""
        return cls(
            sentences.entries,
            sentences.entry.tolist(),
            sentences.start.tolist(),
            sentences.end.tolist(),
            sentences.session.tolist(),
            sentences.first_of_entry().tolist(),
        )


def read_sentences(entries: Sequence[MemoryEntry], known_words: Sequence[str] = ()) -> Sentences:
    """Split ``entries`` (evidence only, in the memory's order) into sentence columns.

    ``known_words`` start the vocabulary, so that columns can later be joined.
    """
    numbers: dict[str, int] = defaultdict(count(len(known_words)).__next__)
    numbers.update(zip(known_words, range(len(known_words)), strict=True))
    # In parts, so that a long memory never has all of its words in hand at once.
    parts = [
        _read_part(entries[begin : begin + _PART], numbers)
        for begin in range(0, max(len(entries), 1), _PART)
    ]
    counts, start, end, asks, lengths, word_ids = map(np.concatenate, zip(*parts, strict=True))
    entry_of = np.repeat(np.arange(len(entries), dtype=np.int64), counts)
    entry_session = number_sessions(entries)
    return Sentences(
        entries=tuple(entries),
        entry=entry_of,
        start=start,
        end=end,
        asks=asks.astype(np.bool_),
        session=entry_session[entry_of],
        entry_session=entry_session,
        offsets=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
        word_ids=word_ids,
        vocabulary=tuple(numbers),
    )


def _read_part(entries: Sequence[MemoryEntry], numbers: dict[str, int]) -> tuple[Ints, ...]:
    """Sentences an entry, their starts, ends, whether they ask, words a sentence, word ids."""
    texts = [entry.text for entry in entries]
    joined = BLANK_LINE.join(texts)
    spans = sentence_spans(joined)
    pieces = [joined[start:end] for start, end in spans]
    # The last mark tells, behind closing quotation marks and brackets if any.
    asks = [
        piece[-1] in _QUESTION_MARKS
        or (piece[-1] in _CLOSERS and piece.rstrip(_CLOSERS)[-1:] in _QUESTION_MARKS)
        for piece in pieces
    ]
    found = words_of_all(pieces)
    breaks = numbers[BREAK]
    word_ids = np.fromiter(map(numbers.__getitem__, found), np.int64, len(found))
    is_break = word_ids == breaks
    ends = np.flatnonzero(is_break) - np.arange(len(pieces))
    start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    begins = np.cumsum([0, *(len(text) + len(BLANK_LINE) for text in texts)])
    entry_of = begins.searchsorted(start, side="right") - 1
    return (
        np.bincount(entry_of, minlength=len(entries)),
        start - begins[entry_of],
        end - begins[entry_of],
        np.array(asks, dtype=np.int64),
        np.diff(ends, prepend=0),
        word_ids[~is_break],
    )


def extend_sentences(known: Sentences, entries: Sequence[MemoryEntry]) -> Sentences:
    """The sentences of ``entries``, of which those in ``known`` are not read again.

    ``entries`` is the whole evidence in the memory's order; entries that it no
    longer holds are forgotten. Equal to ``read_sentences(entries)`` but for the
    numbering of the vocabulary, on which nothing depends.
    """
    place_of = {entry: number for number, entry in enumerate(known.entries)}
    fresh = read_sentences([e for e in entries if e not in place_of], known.vocabulary)
    places = count(len(known.entries))
    order = np.array([place_of[e] if e in place_of else next(places) for e in entries], np.int64)
    firsts = np.concatenate((known.first_of_entry(), fresh.first_of_entry()[1:] + len(known)))
    counts = np.diff(firsts)[order]
    rows = np.repeat(firsts[order], counts) + ragged_range(counts)
    lengths = np.concatenate((np.diff(known.offsets), np.diff(fresh.offsets)))[rows]
    begins = np.concatenate((known.offsets, fresh.offsets[1:] + known.offsets[-1]))[rows]
    words_at = np.repeat(begins, lengths) + ragged_range(lengths)
    entry_of = np.repeat(np.arange(len(entries), dtype=np.int64), counts)
    entry_session = number_sessions(entries)
    return Sentences(
        entries=tuple(entries),
        entry=entry_of,
        start=np.concatenate((known.start, fresh.start))[rows],
        end=np.concatenate((known.end, fresh.end))[rows],
        asks=np.concatenate((known.asks, fresh.asks))[rows],
        session=entry_session[entry_of],
        entry_session=entry_session,
        offsets=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
        word_ids=np.concatenate((known.word_ids, fresh.word_ids))[words_at],
        vocabulary=fresh.vocabulary,
    )


def number_sessions(entries: Iterable[MemoryEntry]) -> Ints:
    """A number for each entry's session; facts and turns without one stand alone."""
    seen: dict[str | tuple[str], int] = {}
    keys = [entry.session if entry.session is not None else (entry.id,) for entry in entries]
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Windows:
    """Each window as a range of sentences: ``first`` included, ``last`` excluded."""

    first: Ints
    last: Ints

    def __len__(self) -> int:
        return len(self.first)


def cut_windows(sentences: Sentences, size: int, stride: int) -> Windows:
    """Windows of ``size`` sentences every ``stride`` sentences of each entry.

    The last window of an entry ends with its last sentence, so that every
    sentence stands in a window; a shorter entry is one window.
    """
    firsts = sentences.first_of_entry()
    counts = np.diff(firsts)
    per_entry = np.where(counts > 0, np.maximum(0, -(-(counts - size) // stride)) + 1, 0)
    offsets = ragged_range(per_entry)
    begin = np.repeat(firsts[:-1], per_entry)
    count = np.repeat(counts, per_entry)
    first = begin + np.minimum(offsets * stride, np.maximum(0, count - size))
    return Windows(first, np.minimum(first + size, begin + count))


def ragged_range(counts: Ints) -> Ints:
    """0..n-1 for each n in ``counts``, one after another: [2, 3] -> 0 1 0 1 2."""
    starts = np.cumsum(counts) - counts
    return np.arange(int(counts.sum()), dtype=np.int64) - np.repeat(starts, counts)
