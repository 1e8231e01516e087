"""Scores what an audit found against a slice's keys, with no LM.

Reads directives, premises and transitions only, never the reply: it says whether
the audit found the right change, not whether the user was answered well. It is not
the benchmark's judge and its figures are not Stale accuracy; whatever prints them
prints :data:`KEY_JUDGE_LABEL` beside them.

Two ways to recognise the gold change, in this order:

1. by evidence: the spans that the validator matched stand in the gold sentences
   (one holds the other whole, or each covers 80% of the other's content tokens);
2. by values: at least half of the content tokens that tell old from new agree.
   Tokens that both sides share ("works for a ...") tell nothing and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Protocol

from pydantic import Field

from stateauditor.metrics.text import contains, content_tokens, coverage, fold
from stateauditor.signatures.models import (
    CheckStatus,
    Directive,
    DirectiveKind,
    Frozen,
    Premise,
    TransitionCheck,
    Verdict,
)

KEY_JUDGE_LABEL: Final = "key judge (deterministic), not Stale accuracy"
"""What every table of these figures must print."""

QUOTE_COVERAGE: Final = 0.8
"""Share of content tokens that a span and a gold sentence need in common, each way."""

VALUE_OVERLAP: Final = 0.5
"""Share of the smaller set of telling tokens that a value needs in common with the gold."""

MIN_QUOTE_TOKENS: Final = 2
"""A span with fewer content tokens ("in Denver") could stand anywhere and proves nothing."""

REPAIR_KINDS: Final = frozenset((DirectiveKind.REPAIR, DirectiveKind.CORRECT_AND_INFORM))
"""Directives that take the old state away from the user."""

Count = Annotated[int, Field(ge=0)]


class Audited(Protocol):
    """What is read of an audit; ``signatures.models.AuditResult`` has it all."""

    @property
    def changed(self) -> bool:
        """Whether the reply differs from the draft."""

    @property
    def directives(self) -> Sequence[Directive]:
        """What the arbiter decided."""

    @property
    def premises(self) -> Sequence[Premise]:
        """What the base audit found."""

    @property
    def transitions(self) -> Sequence[TransitionCheck]:
        """What the validator found."""


class GoldKey(Frozen):
    """What a slice knows about one item.

    ``m_old`` and ``m_new`` are the gold sentences. For a control ``m_new`` only looks
    like a change: the old state still holds and nothing may be repaired.
    """

    uid: str
    attribute: str
    old_value: str
    new_value: str
    causal_path: tuple[str, ...] = ()
    m_old: str
    m_new: str
    control: bool = False


class KeyFindings(Frozen):
    """What one audit got right and wrong by the key.

    ``stale_premise``: a STALE premise, material or not, names the gold old state.
    ``true_transition``: a verified transition is the gold change. ``true_repair``: a
    repair or correction acts on it. On a control the same fields are mistakes.
    ``false_invalidation``: a repair or correction acts on something that the key does
    not know to have changed. On a control that is every one; on a conflict it is
    an upper bound, since a history may hold other real changes.
    ``off_target`` counts verified transitions that are not the gold change.
    """

    label: str = KEY_JUDGE_LABEL
    uid: str
    control: bool
    stale_premise: bool
    true_transition: bool
    true_repair: bool
    false_invalidation: bool
    off_target: Count
    repairs: Count
    verifies: Count
    rewritten: bool

    @property
    def stale_found(self) -> bool:
        """Whether the gold old state was found to be stale, by either channel."""
        return self.stale_premise or self.true_transition

    @property
    def change_found(self) -> bool:
        """Whether the gold change was verified or acted on."""
        return self.true_transition or self.true_repair


def key_judge(result: Audited, key: GoldKey) -> KeyFindings:
    """Compare one audit with the key of its item; no LM, no randomness."""
    verified = [c for c in result.transitions if c.status is CheckStatus.VERIFIED]
    true_ids = {check.id for check in verified if is_true_change(check, key)}
    repairs = [d for d in result.directives if d.kind in REPAIR_KINDS]
    on_target = [d for d in repairs if _acts_on(d, key, true_ids)]
    return KeyFindings(
        uid=key.uid,
        control=key.control,
        stale_premise=any(is_old_state(premise, key) for premise in result.premises),
        true_transition=bool(true_ids),
        true_repair=bool(on_target),
        false_invalidation=bool(repairs) if key.control else len(on_target) < len(repairs),
        off_target=sum(check.id not in true_ids for check in verified),
        repairs=sum(d.kind is DirectiveKind.REPAIR for d in repairs),
        verifies=sum(d.kind is DirectiveKind.VERIFY for d in result.directives),
        rewritten=result.changed,
    )


def is_true_change(check: TransitionCheck, key: GoldKey) -> bool:
    """Whether a transition is the gold change, by its evidence or else by its values."""
    if stands_in(check.old.quote, key.m_old) and stands_in(check.new.quote, key.m_new):
        return True
    return names_old(check.old_value, key) and names_new(check.new_value, key)


def is_old_state(premise: Premise, key: GoldKey) -> bool:
    """Whether a STALE premise names the gold old state, in its old value or its text."""
    if premise.verdict is not Verdict.STALE:
        return False
    return names_old(premise.old_value or "", key) or names_old(premise.text, key)


def stands_in(quote: str, gold: str) -> bool:
    """Whether a matched span stands in a gold sentence (or holds it)."""
    span, whole = content_tokens(quote), content_tokens(gold)
    if min(len(span), len(whole)) < MIN_QUOTE_TOKENS:
        return False
    one, other = fold(quote), fold(gold)
    if contains(other, one) or contains(one, other):
        return True
    return min(coverage(span, whole), coverage(whole, span)) >= QUOTE_COVERAGE


def names_old(value: str, key: GoldKey) -> bool:
    """Whether a value (or premise) says the gold old state."""
    return _names(value, (key.old_value, key.m_old), (key.new_value, key.m_new))


def names_new(value: str, key: GoldKey) -> bool:
    """Whether a value says the gold new state."""
    return _names(value, (key.new_value, key.m_new), (key.old_value, key.m_old))


def _names(value: str, own: tuple[str, str], other: tuple[str, str]) -> bool:
    """Compare with the value of this side, then with value and gold sentence together.

    The gold sentence adds words for the same state ("half under the pavement" for a
    basement flat) but would hide a short value behind its own words, hence two tries.
    """
    said = content_tokens(value)
    mine, theirs = content_tokens(own[0]), content_tokens(other[0])
    shared = mine & theirs
    if (
        _overlap(said - shared, mine - shared)
        >= VALUE_OVERLAP
        > _overlap(said - shared, theirs - shared)
    ):
        return True
    mine, theirs = mine | content_tokens(own[1]), theirs | content_tokens(other[1])
    shared = mine & theirs
    toward = _overlap(said - shared, mine - shared)
    return toward >= VALUE_OVERLAP and toward > _overlap(said - shared, theirs - shared)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def _acts_on(directive: Directive, key: GoldKey, true_ids: set[str]) -> bool:
    """Whether a directive acts on the gold change: by its transition, else by its values."""
    channel, _, name = directive.authority.partition(":")
    if channel == "transition" and name in true_ids:
        return True
    if not names_new(directive.current_value or "", key):
        return False
    return not directive.old_value or names_old(directive.old_value, key)
