"""The index of one memory: built once, asked many times (paper, section 4.1).

Whatever does not depend on a question is computed once: sentences, windows,
BM25 postings, disclosure scores and each session's strongest disclosure while
building, the antecedents of the strongest disclosures when the first question
wants them. A question then costs a few look-ups. No model, no clock, no
randomness: the same memory and question give the same readout to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.memory.entries import Memory
from stateauditor.program.retrieval.antecedents import AntecedentFinder, build_finder
from stateauditor.program.retrieval.bm25 import Postings, build_postings
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.disclosures import Disclosures, Weights, load_weights, score
from stateauditor.program.retrieval.expansion import expand, ranked_worth
from stateauditor.program.retrieval.features import Measured, measure
from stateauditor.program.retrieval.filling import Filling, least_sizes
from stateauditor.program.retrieval.lexicon import Lexicon, load_lexicon
from stateauditor.program.retrieval.page import Redact, ShownLines, identity
from stateauditor.program.retrieval.readout import render
from stateauditor.program.retrieval.selection import (
    FAINTEST_DISCLOSURE,
    Matches,
    Selection,
    select,
)
from stateauditor.program.retrieval.storage import pack, unpack
from stateauditor.program.retrieval.tellings import later_tellings
from stateauditor.program.retrieval.tokens import stem, words
from stateauditor.program.retrieval.vocabulary import read_vocabulary
from stateauditor.program.retrieval.windows import (
    SentenceLists,
    Sentences,
    Window,
    Windows,
    cut_windows,
    extend_sentences,
    ragged_range,
    read_sentences,
)
from stateauditor.signatures.models import Readout

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DEFAULT: Final = RetrievalConfig()
FAINT_MATCH: Final = 1e-6
"""What a shared word is worth where its idf is not positive."""


@dataclass(frozen=True)
class MemoryIndex:
    """Everything about a memory that retrieval needs; see :meth:`build`.

    ``terms`` is the index term of every word of ``sentences``, -1 for a stop
    word. ``ranked`` lists all sentences, the strongest disclosure first, ``strongest``
    each session's strongest one.
    """

    config: RetrievalConfig
    weights: Weights
    sentences: Sentences
    windows: Windows
    window_session: Ints
    terms: Ints
    postings: Postings
    measured: Measured
    disclosures: Disclosures
    lists: SentenceLists
    ranked: Ints
    strongest: list[int]
    disclosure: list[float]

    @classmethod
    def build(
        cls, memory: Memory, config: RetrievalConfig = DEFAULT, weights: Weights | None = None
    ) -> MemoryIndex:
        """Index the evidence of ``memory``: user turns and facts, never assistant turns.

        ``weights`` replaces the packaged disclosure weights, for experiments.
        """
        return _build(read_sentences(memory.evidence()), config, weights or load_weights())

    def retrieve(
        self,
        question: str,
        *,
        draft: str | None = None,
        config: RetrievalConfig | None = None,
        budget_tokens: int | None = None,
        redact: Redact = identity,
    ) -> Readout:
        """The readout for a question, and for an audit also for what its ``draft`` speaks of.

        ``config`` may switch steps or change slots without a new index (its
        window sizes are those of the index). ``redact`` is applied to every
        text before it is priced and shown.
        """
        used = config or self.config
        budget = used.budget_tokens if budget_tokens is None else budget_tokens
        selection = self.select(question, used, draft)
        filling = self.filling([question]) if used.fill else None
        return render(self.shown(redact), selection, budget, filling)

    def select(
        self, question: str, config: RetrievalConfig | None = None, draft: str | None = None
    ) -> Selection:
        """The choices for a question in order of preference, before any budget."""
        used = config or self.config
        if not len(self.sentences):
            return Selection((), ())
        drafted = [] if draft is None else self.draft_match(draft, used.draft_slots)
        return select(self, self.match(question), used, drafted)

    def overview(self, *, budget_tokens: int | None = None, redact: Redact = identity) -> Readout:
        """A readout that no question chose: the same for every probe of one memory."""
        config = self.config.model_copy(update={"question_anchored": False})
        return self.retrieve("", config=config, budget_tokens=budget_tokens, redact=redact)

    def filling(self, queries: Sequence[str]) -> Filling:
        """All sentences by their worth for some queries."""
        worth = ranked_worth(
            self.disclosures.disclosure, [self.sentence_match(query) for query in queries]
        )
        rows = np.lexsort((-np.arange(len(worth)), -worth))
        statements = rows[: int((worth >= FAINTEST_DISCLOSURE).sum())]
        return Filling(rows, statements, self.sizes, self.characters)

    def draft_match(self, draft: str, slots: int) -> list[int]:
        """The sentences that share most with a draft, best first; each word counts once."""
        query = list(dict.fromkeys(self.query_terms(draft)))
        gained = self._match_all(query)
        order = np.lexsort((-np.arange(len(gained)), -gained))
        best: list[int] = order[gained[order] > 0][:slots].tolist()
        return best

    def extend(self, memory: Memory) -> MemoryIndex:
        """The index of ``memory``, the same memory after it has grown.

        Only entries that this index has not seen are split into sentences and
        words; the result equals a fresh build in every readout, to the byte.
        """
        sentences = extend_sentences(self.sentences, memory.evidence())
        return _build(sentences, self.config, self.weights)

    def expand(
        self,
        readout: Readout,
        queries: Sequence[str],
        *,
        budget_tokens: int,
        redact: Redact = identity,
    ) -> Readout:
        """The audit's wider view of the sessions that ``readout`` already shows.

        Everything in ``readout`` stays; lifecycle-focused sentences of the same
        sessions are added, ranked by ``queries`` (one question, or the three
        probes of a scenario). Never a session that retrieval did not select.
        """
        matches = [self.sentence_match(query) for query in queries]
        lines = self.shown(redact)
        return expand(self, readout, matches, budget_tokens, lines, filled=self.config.fill)

    def shown(self, redact: Redact) -> ShownLines:
        """The lines that a prompt may show, under one way to redact them."""
        return self._shown.setdefault(redact, ShownLines(self.lists, redact))

    @cached_property
    def _shown(self) -> dict[Redact, ShownLines]:
        return {}

    @cached_property
    def sizes(self) -> Ints:
        """What each sentence costs a readout at the least, in tokens."""
        return least_sizes(self.sentences)

    @cached_property
    def characters(self) -> int:
        """The length of all sentences together."""
        return int((self.sentences.end - self.sentences.start).sum())

    @property
    def windows_examined(self) -> int:
        """How many windows a question is compared with: all of them."""
        return len(self.windows)

    def each_window(self) -> list[Window]:
        """The windows with their places in their entries, in memory order."""
        sentences = self.sentences
        result = []
        for first, last in zip(
            self.windows.first.tolist(), self.windows.last.tolist(), strict=True
        ):
            entry = sentences.entries[int(sentences.entry[first])]
            start, end = int(sentences.start[first]), int(sentences.end[last - 1])
            result.append(
                Window(
                    entry.id, entry.session, entry.turn, entry.timestamp,
                    start, end, entry.text[start:end],
                )
            )  # fmt: skip
        return result

    def save(self, path: Path) -> None:
        """Write the index to ``path``: plain, versioned and checksummed (see storage)."""
        path.write_bytes(pack(self.sentences, self.config))

    @classmethod
    def load(cls, path: Path) -> MemoryIndex:
        """Read an index that :meth:`save` wrote; a damaged or foreign file is an error."""
        sentences, config = unpack(path.read_bytes(), str(path))
        return _build(sentences, config, load_weights())

    # --- what selection asks (selection.Evidence) ------------------------------

    @property
    def session_of(self) -> list[int]:
        """The session of every sentence."""
        return self.lists.session

    @cached_property
    def finder(self) -> AntecedentFinder:
        """Finds antecedents; prepared for the first question that wants any."""
        return build_finder(
            self.sentences,
            self.terms,
            self.postings.idf,
            self.measured.attributes,
            self.disclosures.statement,
            load_lexicon(),
        )

    @cached_property
    def links(self) -> dict[int, tuple[int, ...]]:
        """The antecedents of the strongest disclosures, the same for every question."""
        rows = self.strongest_disclosures(self.config.change_slots)
        found = self.finder.find(rows, self.config.antecedent_slots)
        return dict(zip(rows, found, strict=True))

    def strongest_disclosures(self, count: int) -> list[int]:
        """The strongest disclosures of the memory, best first."""
        best: list[int] = self.ranked[:count].tolist()
        return best

    def antecedents(self, row: int, count: int) -> Sequence[int]:
        """Sentences in strictly earlier sessions that sentence ``row`` may supersede."""
        known = self.links.get(row)
        if known is not None and count <= self.config.antecedent_slots:
            return known[:count]
        return self.finder.find([row], count)[0]

    @cached_property
    def later(self) -> list[int]:
        """For each sentence the latest that tells of the same thing, -1 for none."""
        found: list[int] = later_tellings(self.sentences, self.terms, self.postings.idf).tolist()
        return found

    def later_telling(self, row: int) -> int:
        """The latest sentence that tells of the same thing as ``row``, -1 for none."""
        return self.later[row]

    def window(self, row: int) -> tuple[int, int]:
        """The window with sentence ``row`` in its middle, as far as its turn allows."""
        size = self.config.window_sentences
        entry = self.lists.entry[row]
        begin, end = self.lists.first_of_entry[entry : entry + 2]
        first = max(begin, min(row - (size - 1) // 2, end - size))
        return first, min(first + size, end)

    # --- questions ------------------------------------------------------------

    def match(self, question: str) -> Matches:
        """Each session's best window for a question, and the sentence at its core."""
        query = self.query_terms(question)
        # In a memory of a few windows BM25's idf is zero or less even for a good
        # match: a shared word must still count for a little.
        scores = np.maximum(self.postings.scores(query), FAINT_MATCH * self.postings.holding(query))
        top = np.zeros(len(self.strongest))
        np.maximum.at(top, self.window_session, scores)
        winners = np.flatnonzero((scores == top[self.window_session]) & (scores > 0))[::-1]
        window = np.zeros(len(top), dtype=np.int64)
        window[self.window_session[winners]] = winners
        return Matches(self._cores(window, query).tolist(), top.tolist())

    def sentence_match(self, question: str) -> Floats:
        """The idf of the question's terms that each sentence holds, repeats included."""
        return self._match_all(self.query_terms(question))

    def query_terms(self, question: str) -> list[str]:
        """The question's terms; without the words of the asking, unless it has no others."""
        lexicon = load_lexicon()
        folded = [word for word in words(question) if word not in lexicon.stop_words]
        asked = [word for word in folded if word not in lexicon.frame_words]
        return [stem(word) for word in asked or folded]

    def _cores(self, window: Ints, query: Sequence[str]) -> Ints:
        """In each window the sentence that matches best, then states most."""
        begin = self.windows.first[window]
        sizes = self.windows.last[window] - begin
        rows = np.repeat(begin, sizes) + ragged_range(sizes)
        owner = np.repeat(np.arange(len(window)), sizes)
        match = self._match_rows(rows, query)
        order = np.lexsort((-rows, self.disclosures.statement[rows], match, owner))
        cores: Ints = rows[order[np.cumsum(sizes) - 1]]
        return cores

    def _match_all(self, query: Sequence[str]) -> Floats:
        """What :meth:`_match_rows` gives for every sentence: hardly any word is a match."""
        gained = self._idf_of(query)[self.terms]
        hits = np.flatnonzero(gained)
        return np.round(np.bincount(self._word_row[hits], gained[hits], len(self.sentences)), 9)

    @cached_property
    def _word_row(self) -> Ints:
        """The sentence of every word."""
        return np.repeat(np.arange(len(self.sentences)), np.diff(self.sentences.offsets))

    def _match_rows(self, rows: Ints, query: Sequence[str]) -> Floats:
        begin = self.sentences.offsets[rows]
        counts = self.sentences.offsets[rows + 1] - begin
        held = self.terms[np.repeat(begin, counts) + ragged_range(counts)]
        owner = np.repeat(np.arange(len(rows)), counts)
        return np.round(np.bincount(owner, self._idf_of(query)[held], len(rows)), 9)

    def _idf_of(self, query: Sequence[str]) -> Floats:
        """The idf of each term that the query has, at least a little; 0 for all others."""
        weight = np.zeros(len(self.postings.idf) + 1)
        for term in query:
            number = self.postings.terms.get(term)
            if number is not None:
                weight[number] = max(self.postings.idf[number], FAINT_MATCH)
        return weight


def _build(sentences: Sentences, config: RetrievalConfig, weights: Weights) -> MemoryIndex:
    lexicon: Lexicon = load_lexicon()
    vocabulary = read_vocabulary(sentences.vocabulary, lexicon)
    windows = cut_windows(sentences, config.window_sentences, config.window_stride)
    terms = vocabulary.term[sentences.word_ids]
    postings = build_postings(vocabulary.terms, *_window_terms(sentences, windows, terms))
    measured = measure(sentences, vocabulary, lexicon)
    disclosures = score(measured, weights)
    best_first = _best_first(disclosures.disclosure)
    strongest = np.zeros(int(sentences.session.max(initial=-1)) + 1, dtype=np.int64)
    strongest[sentences.session[best_first[::-1]]] = best_first[::-1]
    return MemoryIndex(
        config=config,
        weights=weights,
        sentences=sentences,
        windows=windows,
        terms=terms,
        postings=postings,
        measured=measured,
        disclosures=disclosures,
        lists=SentenceLists.of(sentences),
        ranked=best_first,
        strongest=strongest.tolist(),
        disclosure=disclosures.disclosure.tolist(),
        window_session=sentences.session[windows.first],
    )


def _window_terms(sentences: Sentences, windows: Windows, terms: Ints) -> tuple[Ints, Ints]:
    """The terms of all windows one after another, stop words left out, and their offsets."""
    begin = sentences.offsets[windows.first]
    counts = sentences.offsets[windows.last] - begin
    gathered = terms[np.repeat(begin, counts) + ragged_range(counts)]
    content = gathered >= 0
    owner = np.repeat(np.arange(len(windows), dtype=np.int64), counts)[content]
    sizes = np.bincount(owner, minlength=len(windows))
    return gathered[content], np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _best_first(scores: Floats) -> Ints:
    """Rows by falling score; of equals the latest first, because it is the current one."""
    return np.lexsort((-np.arange(len(scores)), -scores))
