"""The gate: which proposed transitions may act (paper, section 4.4).

Five rules, each a question of provenance or chronology. A candidate that fails any
of them is rejected and keeps every reason. What passes is proven to be said, by the
user, in this order; that the second statement supersedes the first is not proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stateauditor.program.grounding.quotations import DEFAULT_THRESHOLD, Evidence, Grounding
from stateauditor.program.grounding.values import is_missing, plain_value, same_value
from stateauditor.program.memory.timestamps import is_later, same_instant
from stateauditor.signatures.models import (
    CheckStatus,
    EntryRole,
    Reason,
    RenderedEntry,
    TransitionCandidate,
    TransitionCheck,
    Validity,
)
from stateauditor.signatures.surrogates import replace_surrogates

MINIMUM_NODES = 2
"""Distinct nodes that a causal path needs."""


def check_transitions(
    candidates: Sequence[TransitionCandidate],
    entries: Iterable[RenderedEntry],
    *,
    pair: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
) -> tuple[TransitionCheck, ...]:
    """Check every candidate; ids ``T01``, ``T02``, ... follow the candidates' order.

    Any order of ``entries`` gives the same checks. ``pair`` names the question-draft
    pair under audit (``P1``); ``threshold`` is the share of content tokens, above 0
    and at most 1 (``ValueError`` otherwise).
    """
    if not candidates:
        return ()  # most audits end here: do not read the evidence for nothing
    evidence = _evidence(entries)
    return tuple(
        _check(candidate, evidence, f"T{number:02d}", pair, threshold)
        for number, candidate in enumerate(candidates, start=1)
    )


def check_transition(
    candidate: TransitionCandidate,
    entries: Iterable[RenderedEntry],
    *,
    check_id: str,
    pair: str | None = None,
    threshold: float = DEFAULT_THRESHOLD,
) -> TransitionCheck:
    """Check one candidate; see :func:`check_transitions`."""
    return _check(candidate, _evidence(entries), check_id, pair, threshold)


def _evidence(entries: Iterable[RenderedEntry]) -> Evidence:
    # What the assistant said proves nothing about the user, even if the user heard it. A
    # closing repeats the fact that it ends: quotations of that fact belong to the fact.
    return Evidence(
        e
        for e in entries
        if e.role in (EntryRole.USER, EntryRole.FACT) and e.validity is not Validity.CLOSING
    )


def _check(
    candidate: TransitionCandidate,
    evidence: Evidence,
    check_id: str,
    pair: str | None,
    threshold: float,
) -> TransitionCheck:
    old = evidence.best_match(candidate.old_quote, threshold=threshold)
    new = evidence.best_match(candidate.new_quote, threshold=threshold)
    reasons = (
        *_grounding(old, new),
        *_chronology(old, new),
        *_standing(new),
        *_values(candidate),
        *_materiality(candidate, pair),
        *_path(candidate),
    )
    return TransitionCheck(
        id=check_id,
        status=CheckStatus.REJECTED if reasons else CheckStatus.VERIFIED,
        reasons=reasons,
        attribute=replace_surrogates(candidate.attribute),
        old_value=replace_surrogates(candidate.old_value),
        new_value=replace_surrogates(candidate.new_value),
        causal_path=tuple(map(replace_surrogates, candidate.causal_path)),
        applies_to=tuple(map(replace_surrogates, candidate.applies_to)),
        material=candidate.material,
        old=old.match,
        new=new.match,
    )


def _grounding(old: Grounding, new: Grounding) -> Iterable[Reason]:
    """Rule 1: each quotation stands in one entry."""
    if not old.grounded:
        yield Reason.UNGROUNDED_OLD
    if not new.grounded:
        yield Reason.UNGROUNDED_NEW
    if old.cross_entry or new.cross_entry:
        yield Reason.CROSS_ENTRY


def _chronology(old: Grounding, new: Grounding) -> Iterable[Reason]:
    """Rule 2: the new entry is later, by the entries' own times.

    An ungrounded quotation has no entry and so no time: that it is ungrounded is
    the reason, and calling it "not newer" too would claim to know when it was said.
    """
    if old.entry is not None and new.entry is not None and not follows(new.entry, old.entry):
        yield Reason.NOT_NEWER


def _standing(new: Grounding) -> Iterable[Reason]:
    """Rule 2, too: what holds now stands in no fact that its store has closed."""
    if new.entry is not None and new.entry.validity is not Validity.OPEN:
        yield Reason.CLOSED_NEW


def _values(candidate: TransitionCandidate) -> Iterable[Reason]:
    """Rule 3: both values are there and differ."""
    if is_missing(candidate.old_value) or is_missing(candidate.new_value):
        yield Reason.MISSING_VALUE
    elif same_value(candidate.old_value, candidate.new_value):
        yield Reason.SAME_VALUE


def _materiality(candidate: TransitionCandidate, pair: str | None) -> Iterable[Reason]:
    """Rule 4: the change bears on this reply."""
    named = {plain_value(name) for name in candidate.applies_to}
    elsewhere = pair is not None and bool(named) and plain_value(pair) not in named
    if not candidate.material or elsewhere:
        yield Reason.NOT_MATERIAL


def _path(candidate: TransitionCandidate) -> Iterable[Reason]:
    """Rule 5: the causal path leads from one thing to another."""
    nodes = {plain_value(node) for node in candidate.causal_path} - {""}
    if len(nodes) < MINIMUM_NODES:
        yield Reason.SHORT_PATH


def follows(new: RenderedEntry, old: RenderedEntry) -> bool:
    """Whether ``new`` was certainly said after ``old``.

    Times decide. Where two known times cannot be told apart, turn order does, and
    only inside one session; two windows of one turn have no order.
    """
    if is_later(new.timestamp, old.timestamp):
        return True
    return (
        same_instant(new.timestamp, old.timestamp)
        and new.session is not None
        and new.session == old.session
        and new.turn is not None
        and old.turn is not None
        and new.turn > old.turn
    )
