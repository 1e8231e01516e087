"""The four steps that choose evidence for a question (paper, section 4.1).

(i)   question-anchored matches: the best window of a session, sessions by BM25,
      looking into every part of the history;
(ii)  change scan: the strongest update disclosures, whatever the question;
(iii) companions: for each session that (i) or (ii) selected, its strongest
      disclosure and its best question match;
(iv)  antecedents: for each disclosure an earlier statement, kept as a pair.

Each step makes its list, best first; the lists are then woven into one order
of preference by their shares, so that whatever the budget, every step has had
its part of it. Nothing is random: equal matches fall to the earlier session, equal
disclosures to the later one, because a restated state is the current one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final, NamedTuple, Protocol

from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.signatures.models import RetrievalStep

FAINTEST_DISCLOSURE: Final = -2.0
"""Log-odds below which a session's strongest disclosure is small talk and supersedes nothing."""


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
    """What selection needs to know about a memory; the index provides it.

    ``session_of`` numbers each sentence's session, oldest first; ``disclosure``
    is its query-independent score, ``strongest`` the strongest disclosure of each session.
    """

    @property
    def session_of(self) -> Sequence[int]: ...  # noqa: D102

    @property
    def disclosure(self) -> Sequence[float]: ...  # noqa: D102

    @property
    def strongest(self) -> Sequence[int]: ...  # noqa: D102

    def strongest_disclosures(self, count: int) -> list[int]:
        """The strongest disclosures of the memory, best first."""

    def later_telling(self, row: int) -> int:
        """The latest sentence that tells of the same thing as ``row``, -1 for none."""

    def antecedents(self, row: int, count: int) -> Sequence[int]:
        """Sentences in strictly earlier sessions that sentence ``row`` may supersede."""

    def window(self, row: int) -> tuple[int, int]:
        """The window of sentences around a sentence."""


class Matches(NamedTuple):
    """How a question fits: per session its best sentence and that one's score, 0 for none."""

    best: Sequence[int]
    score: Sequence[float]


def select(
    evidence: Evidence, matches: Matches, config: RetrievalConfig, drafted: Sequence[int] = ()
) -> Selection:
    """Run the four steps and weave their lists into one order of preference.

    ``drafted`` are sentences that a draft speaks of, best first.
    """
    anchored = _question_anchored(matches, config) if config.question_anchored else []
    scanned = evidence.strongest_disclosures(config.change_slots) if config.change_scan else []
    woven = _weave([(anchored, config.question_share), (scanned, config.change_share)])
    sessions = dict.fromkeys(map(evidence.session_of.__getitem__, woven))
    companions = list(_companions(evidence, matches, sessions)) if config.session_companions else []
    pairs: list[tuple[int, int]] = []
    if config.antecedents:
        disclosures = dict.fromkeys((*scanned, *_disclosing(evidence, companions, anchored)))
        pairs = [
            (old, new)
            for new in disclosures
            for old in evidence.antecedents(new, config.antecedent_slots)
        ]
    olds = [old for old, _ in pairs]
    later: list[int] = []
    if config.later_tellings:
        found = map(evidence.later_telling, (*drafted, *anchored, *olds))
        later = [row for row in dict.fromkeys(found) if row >= 0]
    step_of = {
        **dict.fromkeys(later, RetrievalStep.LATER_TELLING),
        **dict.fromkeys(drafted, RetrievalStep.DRAFT),
        **dict.fromkeys(olds, RetrievalStep.ANTECEDENT),
        **dict.fromkeys(companions, RetrievalStep.COMPANION),
        **dict.fromkeys(scanned, RetrievalStep.CHANGE_SCAN),
        **dict.fromkeys(anchored, RetrievalStep.QUESTION),
    }
    order = _weave(
        [
            (anchored, config.question_share),
            (scanned, config.change_share),
            (companions, config.companion_share),
            (olds, config.antecedent_share),
            (drafted, config.draft_share),
            (later, config.later_share),
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
    score = matches.score
    matching = [session for session, gained in enumerate(score) if gained > 0]
    ranked = sorted(matching, key=lambda session: -score[session])
    total = max(len(score), 1)
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
    return [matches.best[session] for session in (*chosen, *spread, *rest)[:slots]]


def _companions(evidence: Evidence, matches: Matches, sessions: Iterable[int]) -> Iterator[int]:
    """Step (iii): what else a selected session has to say."""
    for session in sessions:
        yield evidence.strongest[session]
        if matches.score[session] > 0:
            yield matches.best[session]


def _disclosing(evidence: Evidence, companions: list[int], anchored: list[int]) -> Iterator[int]:
    """Which companions and question matches may announce a change: see FAINTEST_DISCLOSURE."""
    for row in (*companions, *anchored):
        strongest = evidence.strongest[evidence.session_of[row]]
        if row == strongest and evidence.disclosure[row] >= FAINTEST_DISCLOSURE:
            yield row


def _weave(lists: Sequence[tuple[Sequence[int], float]]) -> list[int]:
    """Merge ranked lists in proportion to their shares, each row once.

    A list with share ``s`` is due for its ``n``-th row at time ``n / s``; ties go
    to the list named first.
    """
    due = [
        (place / share, number, row)
        for number, (rows, share) in enumerate(lists)
        for place, row in enumerate(rows, start=1)
    ]
    due.sort(key=itemgetter(0, 1))
    return list(dict.fromkeys(row for _, _, row in due))
