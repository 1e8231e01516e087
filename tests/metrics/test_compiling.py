"""The parts of a compile's score, their weights, and what is said of what was missed."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from stateauditor.metrics.compiling import (
    Assessment,
    ScoredGroup,
    Weights,
    assess,
    difference_interval,
    failure_feedback,
    feedback,
    mean_interval,
    weighted,
)
from stateauditor.metrics.key_judge import GoldKey
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import (
    AuditResult,
    CheckStatus,
    Directive,
    DirectiveKind,
    Origin,
    Policy,
    Premise,
    QuoteMatch,
    Reason,
    TransitionCheck,
    Variant,
    Verdict,
)

OLD, NEW = "I rent a flat in Seattle near the lake.", "I set up the utilities in my Austin flat."
GOLD = GoldKey(
    uid="u1", attribute="home city", old_value="Seattle", new_value="Austin", m_old=OLD, m_new=NEW
)
CONTROL = GOLD.model_copy(update={"control": True})


def check(*, verified: bool = True, grounded: bool = True, old: str = OLD) -> TransitionCheck:
    entry = "E01" if grounded else None
    return TransitionCheck(
        id="T01",
        status=CheckStatus.VERIFIED if verified else CheckStatus.REJECTED,
        reasons=() if verified else (Reason.UNGROUNDED_OLD,),
        attribute="home city",
        old_value="Seattle" if old == OLD else "tea",
        new_value="Austin" if old == OLD else "coffee",
        old=QuoteMatch(entry_id=entry, quote=old),
        new=QuoteMatch(entry_id=entry, quote=NEW if old == OLD else "I drink coffee these days."),
    )


def directive(kind: DirectiveKind, authority: str = "transition:T01") -> Directive:
    return Directive(
        kind=kind,
        attribute="home city",
        old_value="Seattle",
        current_value=None if kind is DirectiveKind.VERIFY else "Austin",
        authority=authority,
    )


def result(**found: object) -> AuditResult:
    stale = Premise(text="The user lives in Seattle.", verdict=Verdict.STALE, origin=Origin.DRAFT)
    whole = {
        "response": "r",
        "draft": "d",
        "changed": True,
        "backend": "b",
        "policy": Policy.FULL,
        "variant": Variant.STRICT_VTA,
        "premises": (stale,),
        "transitions": (check(),),
        "directives": (directive(DirectiveKind.REPAIR),),
    }
    return AuditResult.model_validate(whole | found)


def test_a_right_audit_of_a_conflict_scores_one() -> None:
    parts = assess(result(), GOLD, passed=True)
    assert weighted(parts, Weights()) == 1.0
    assert parts.control_kept is None
    assert feedback(parts, result(), GOLD, reveal=True) == "Nothing was missed."


def test_an_audit_that_finds_nothing_scores_zero_on_a_conflict_and_one_on_its_control() -> None:
    nothing = result(premises=(), transitions=(), directives=(), changed=False)
    assert weighted(assess(nothing, GOLD), Weights()) == 0.0
    assert weighted(assess(nothing, CONTROL), Weights()) == 1.0


def test_a_repair_on_a_control_is_a_false_invalidation() -> None:
    parts = assess(result(), CONTROL)
    assert parts.control_kept == 0.0
    assert parts.directive_kind == 0.0
    assert parts.stale_premise is None
    assert parts.transition_aligned is None


def test_a_verified_transition_must_be_the_gold_one_to_align() -> None:
    parts = assess(result(transitions=(check(old="I drink tea all day long."),)), GOLD)
    assert (parts.transition_valid, parts.transition_aligned) == (1.0, 0.0)


def test_validity_is_the_share_of_the_candidates_that_were_verified() -> None:
    found = result(transitions=(check(), check(verified=False, grounded=False)))
    parts = assess(found, GOLD)
    assert parts.transition_valid == 0.5
    assert parts.evidence_grounded == 0.5
    words = feedback(parts, found, GOLD, reveal=False)
    assert "ungrounded_old" in words


@pytest.mark.parametrize(
    ("gold", "kinds", "score"),
    [
        (GOLD, (DirectiveKind.CORRECT_AND_INFORM,), 1.0),
        (GOLD, (DirectiveKind.VERIFY,), 0.5),
        (GOLD, (), 0.0),
        (CONTROL, (), 1.0),
        (CONTROL, (DirectiveKind.VERIFY,), 0.5),
        (CONTROL, (DirectiveKind.REPAIR,), 0.0),
    ],
)
def test_the_kind_of_directive(
    gold: GoldKey, kinds: tuple[DirectiveKind, ...], score: float
) -> None:
    found = result(directives=tuple(map(directive, kinds)))
    assert assess(found, gold).directive_kind == score


def test_variants_that_propose_nothing_are_not_scored_by_transitions() -> None:
    parts = assess(result(variant=Variant.PREDECESSOR, transitions=()), GOLD)
    assert parts.transition_valid is None
    assert parts.transition_aligned is None
    assert parts.evidence_grounded is None


def test_weights_decide_what_counts() -> None:
    parts = Assessment(stale_premise=1.0, transition_aligned=0.0)
    assert weighted(parts, Weights(stale_premise=3, transition_aligned=1)) == 0.75
    assert weighted(parts, Weights(transition_aligned=0)) == 1.0
    assert weighted(Assessment(), Weights()) == 1.0


def test_a_weight_that_is_negative_or_all_zero_is_refused() -> None:
    with pytest.raises(ValidationError):
        Weights(judge=-1)
    with pytest.raises(ValidationError, match="at least one weight"):
        Weights.model_validate(dict.fromkeys(Weights.model_fields, 0))


def test_feedback_is_general_unless_it_may_reveal() -> None:
    nothing = result(premises=(), transitions=(), directives=())
    parts = assess(nothing, GOLD, passed=False)
    general = feedback(parts, nothing, GOLD, reveal=False)
    assert len(general.splitlines()) == 5
    assert not any(word in general for word in ("Seattle", "Austin", "home city"))
    revealed = feedback(parts, nothing, GOLD, reveal=True)
    assert "'Seattle' -> 'Austin'" in revealed
    assert OLD in revealed
    control = feedback(assess(result(), CONTROL), result(), CONTROL, reveal=True)
    assert "still holds" in control


def test_feedback_is_silent_on_parts_without_weight() -> None:
    nothing = result(premises=(), transitions=(), directives=())
    weights = Weights.model_validate({**dict.fromkeys(Weights.model_fields, 0), "judge": 1})
    parts = assess(nothing, GOLD, passed=True)
    assert feedback(parts, nothing, GOLD, weights=weights, reveal=True) == "Nothing was missed."


def test_a_failed_audit_is_named_as_such() -> None:
    assert failure_feedback(["lean_audit failed"]) == (
        "The audit could not be finished: lean_audit failed."
    )


# --- means over scenarios -------------------------------------------------------------


def groups(*means: float) -> list[ScoredGroup]:
    return [
        ScoredGroup(uid=f"u{n}", type="T1" if n % 2 else "T2", scores=(mean, mean))
        for n, mean in enumerate(means)
    ]


def test_the_interval_holds_the_mean_and_depends_on_the_seed_alone() -> None:
    scored = groups(0.0, 1.0, 0.5, 1.0, 0.0, 0.5)
    one = mean_interval(scored, seed=1, draws=500)
    assert one.estimate == 0.5
    assert one.low is not None
    assert one.high is not None
    assert one.low < 0.5 < one.high
    assert mean_interval(reversed(scored), seed=1, draws=500) == one


def test_types_keep_their_share_in_every_draw() -> None:
    scored = groups(1.0, 0.0, 1.0, 0.0)  # T2 all right, T1 all wrong
    interval = mean_interval(scored, seed=1, draws=200)
    assert (interval.low, interval.high) == (0.5, 0.5)


def test_the_difference_compares_scenarios_that_both_have() -> None:
    before, after = groups(0.0, 0.0, 0.0), groups(1.0, 1.0)
    interval = difference_interval(after, before, seed=1, draws=200)
    assert (interval.estimate, interval.low, interval.high) == (1.0, 1.0, 1.0)
    none = difference_interval(after, [], seed=1, draws=200)
    assert none.estimate is None


def test_draws_must_be_some() -> None:
    with pytest.raises(InputError, match="draws"):
        mean_interval(groups(1.0), seed=1, draws=0)
