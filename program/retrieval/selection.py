"""The four steps that choose evidence for a question (paper, section 4.1).

(i)   question-anchored matches: the best window of a session, sessions by BM25,
      looking into every part of the history;
(ii)  change scan: the strongest update disclosures, whatever the question;
(iii) companions: for each session that (i) or (ii) selected, its strongest
      disclosure and its best question match;
(iv)  antecedents: for each disclosure an earlier statement, kept as a pair.

Each step makes its list, best first; the lists are then woven into one order
of preference by their shares, so that whatever the budget, every step has had
its part of it. Nothing is random and ties fall to the earlier sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.signatures.models import RetrievalStep

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Choice(NamedTuple):
    """A chosen sentence, the window of sentences around it, and the step that chose it."""

    row: int
    first: int
    last: int
    step: RetrievalStep


class Selection(NamedTuple):
    """Choices in order of preference; pairs are (antecedent, disclosure) sentences."""

    choices: tuple[Choice, ...]
    pairs: tuple[tuple[int, int], ...]


class Evidence(Protocol):
    """What selection needs to know about a memory; the index provides it."""

    @property
    def session_of(self) -> Ints:
        """The session of every sentence; sessions are numbered oldest first."""

    @property
    def disclosure(self) -> Floats:
        """The query-independent disclosure score of every sentence."""

    @property
    def ranked(self) -> Sequence[int]:
        """The strongest disclosures of the memory, best first."""

    def strongest(self, session: int) -> int:
        """The strongest disclosure of a session."""

    def antecedents(self, row: int, count: int) -> Sequence[int]:
        """Sentences in strictly earlier sessions that sentence ``row`` may supersede."""

    def window(self, row: int) -> tuple[int, int]:
        """The window of sentences around a sentence."""


class Matches(NamedTuple):
    """How a question fits: per session its best sentence and that one's score, 0 for none."""

    best: Ints
    score: Floats


def select(evidence: Evidence, matches: Matches, config: RetrievalConfig) -> Selection:
    """Run the four steps and weave their lists into one order of preference."""
    anchored = _question_anchored(matches, config) if config.question_anchored else []
    scanned = list(evidence.ranked[: config.change_slots]) if config.change_scan else []
    sessions = dict.fromkeys(
        int(evidence.session_of[row])
        for row in _weave([(anchored, config.question_share), (scanned, config.change_share)])
    )
    companions = list(_companions(evidence, matches, sessions)) if config.session_companions else []
    pairs: list[tuple[int, int]] = []
    if config.antecedents:
        disclosures = dict.fromkeys((*scanned, *_disclosing(evidence, companions, anchored)))
        pairs = [
            (old, new)
            for new in disclosures
            for old in evidence.antecedents(new, config.antecedent_slots)
        ]
    step_of: dict[int, RetrievalStep] = {}
    for step, rows in (
        (RetrievalStep.QUESTION, anchored),
        (RetrievalStep.CHANGE_SCAN, scanned),
        (RetrievalStep.COMPANION, companions),
        (RetrievalStep.ANTECEDENT, [old for old, _ in pairs]),
    ):
        for row in rows:
            step_of.setdefault(row, step)
    order = _weave(
        [
            (anchored, config.question_share),
            (scanned, config.change_share),
            (companions, config.companion_share),
            ([old for old, _ in pairs], config.antecedent_share),
        ]
    )
    choices = tuple(Choice(row, *evidence.window(row), step_of[row]) for row in order)
    return Selection(choices, tuple(dict.fromkeys(pairs)))


def _question_anchored(matches: Matches, config: RetrievalConfig) -> list[int]:
    """Step (i): sessions by their best match, then the unseen parts of the history.

    Half of the slots go by score alone; then the best session of each time
    bucket that has none yet comes first, and the rest go by score again.
    """
    slots = config.question_slots
    matching = np.flatnonzero(matches.score > 0)
    ranked = matching[np.lexsort((matching, -matches.score[matching]))].tolist()
    total = max(len(matches.score), 1)
    chosen = ranked[: (slots + 1) // 2]
    seen = {session * config.time_buckets // total for session in chosen}
    later = ranked[len(chosen) :]
    spread: list[int] = []
    for session in later:
        bucket = session * config.time_buckets // total
        if bucket not in seen:
            seen.add(bucket)
            spread.append(session)
    taken = set(spread)
    rest = [session for session in later if session not in taken]
    return [int(matches.best[session]) for session in (*chosen, *spread, *rest)[:slots]]


def _companions(evidence: Evidence, matches: Matches, sessions: Iterable[int]) -> Iterator[int]:
    """Step (iii): what else a selected session has to say."""
    for session in sessions:
        yield evidence.strongest(session)
        if matches.score[session] > 0:
            yield int(matches.best[session])


def _disclosing(evidence: Evidence, companions: list[int], anchored: list[int]) -> Iterator[int]:
    """The companions, or question matches, that are their session's strongest disclosure."""
    for row in (*companions, *anchored):
        if row == evidence.strongest(int(evidence.session_of[row])):
            yield row


def _weave(lists: Sequence[tuple[Sequence[int], float]]) -> list[int]:
    """Merge ranked lists in proportion to their shares, each row once.

    The next row comes from the list that has had least for its share; ties go
    to the list named first.
    """
    order: dict[int, None] = {}
    places = [0] * len(lists)
    while True:
        open_lists = [n for n, (rows, _) in enumerate(lists) if places[n] < len(rows)]
        if not open_lists:
            return list(order)
        turn = min(open_lists, key=lambda n: (places[n] + 1) / lists[n][1])
        order.setdefault(lists[turn][0][places[turn]])
        places[turn] += 1
