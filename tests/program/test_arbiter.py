"""Who may authorize a repair, and what is fired without anybody's authority: nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.arbiter import arbitrate, may_rewrite
from stateauditor.signatures.models import (
    CheckStatus,
    Directive,
    DirectiveKind,
    Labels,
    Origin,
    Policy,
    Premise,
    QuoteMatch,
    Reason,
    Timestamp,
    TransitionCheck,
    Verdict,
)

REPAIR, INFORM, VERIFY = DirectiveKind


def check(
    old: str,
    new: str,
    day: int = 5,
    *reasons: Reason,
    id: str = "T01",
    attribute: str = "city",
    entry_id: str | None = None,
) -> TransitionCheck:
    return TransitionCheck(
        id=id,
        status=CheckStatus.REJECTED if reasons else CheckStatus.VERIFIED,
        reasons=reasons,
        attribute=attribute,
        old_value=old,
        new_value=new,
        old=QuoteMatch(entry_id="E01", timestamp=Timestamp.model_validate("2024-01-01")),
        new=QuoteMatch(
            entry_id=entry_id or f"E{day:02d}",
            timestamp=Timestamp.model_validate(f"2024-01-{day:02d}"),
        ),
    )


def premise(
    verdict: Verdict = Verdict.STALE, current: str | None = "Austin", **more: object
) -> Premise:
    fields: dict[str, object] = {
        "text": "lives in Seattle",
        "attribute": "city",
        "old_value": "Seattle",
        "material": True,
        "origin": Origin.DRAFT,
    }
    return Premise.model_validate({**fields, "verdict": verdict, "current_value": current, **more})


def brief(directives: tuple[Directive, ...]) -> list[tuple[str, str | None, str]]:
    return [(d.kind.value, d.current_value, d.authority) for d in directives]


def pair(value: str, authority: str) -> list[tuple[str, str | None, str]]:
    return [("repair", value, authority), ("correct_and_inform", value, authority)]


# --- verified transitions ---------------------------------------------------


def test_a_verified_transition_repairs_and_informs() -> None:
    directives = arbitrate([], [check("Seattle", "Austin")], Policy.REPAIR_ONLY)
    assert brief(directives) == pair("Austin", "transition:T01")
    assert {(d.attribute, d.old_value) for d in directives} == {("city", "Seattle")}


def test_base_verdicts_fire_nothing_beside_a_verified_transition() -> None:
    premises = [premise(current="Boston"), premise(Verdict.UNKNOWN, None, attribute="job")]
    directives = arbitrate(premises, [check("Seattle", "Austin")], Policy.FULL)
    assert brief(directives) == pair("Austin", "transition:T01")


def test_a_rejected_transition_authorizes_nothing() -> None:
    assert arbitrate([], [check("Seattle", "Austin", 5, Reason.NOT_NEWER)], Policy.FULL) == ()


def test_duplicates_act_once() -> None:
    twice = [check("Seattle", "Austin", 5), check("seattle", "Austin.", 7, id="T02")]
    assert brief(arbitrate([], twice, Policy.FULL)) == pair("Austin.", "transition:T02")
    same = [check("Seattle", "Austin", id="T02"), check("Seattle", "Austin", id="T01")]
    assert brief(arbitrate([], same, Policy.FULL)) == pair("Austin", "transition:T01")


def test_of_a_chain_the_latest_link_acts() -> None:
    chain = [check("A1", "B1", 5), check("B1", "C1", 7, id="T02")]
    assert brief(arbitrate([], chain, Policy.FULL)) == pair("C1", "transition:T02")
    one_entry = [check("A1", "B1", 5), check("B1", "C1", 5, id="T02")]
    assert brief(arbitrate([], one_entry, Policy.FULL)) == pair("C1", "transition:T02")


def test_of_rival_outcomes_the_latest_acts() -> None:
    rivals = [check("A1", "B1", 5), check("A1", "C1", 7, id="T02")]
    assert brief(arbitrate([], rivals, Policy.FULL)) == pair("C1", "transition:T02")


def test_readout_order_decides_between_equal_times() -> None:
    rivals = [
        check("A1", "B1", 5, entry_id="E100", id="T02"),
        check("A1", "C1", 5, entry_id="E99"),
    ]
    assert brief(arbitrate([], rivals, Policy.FULL)) == pair("B1", "transition:T02")


def test_a_circle_out_of_one_entry_repairs_nothing() -> None:
    circle = [
        check("A1", "B1", id="T01"),
        check("B1", "C1", id="T02"),
        check("C1", "A1", id="T03"),
    ]
    assert arbitrate([premise()], circle, Policy.FULL) == ()


def test_different_attributes_act_side_by_side() -> None:
    both = [check("A1", "B1"), check("X1", "Y1", id="T02", attribute="job")]
    assert brief(arbitrate([], both, Policy.FULL)) == [
        *pair("B1", "transition:T01"),
        *pair("Y1", "transition:T02"),
    ]


def test_a_reverted_change_does_not_act() -> None:
    """A -> B -> A: the draft that relies on A is right again."""
    there = check("Seattle", "Austin", 5)
    back = check("Austin", "Seattle", 9, Reason.NOT_MATERIAL, id="T02")
    assert arbitrate([], [there, back], Policy.FULL) == ()
    assert arbitrate([premise(current="Austin")], [there, back], Policy.FULL) == ()
    # What the outdated transition does not contradict still falls back to the base audit.
    other = premise(current="nurse", attribute="job", origin=Origin.STATE)
    assert brief(arbitrate([other], [there, back], Policy.FULL)) == pair(
        "nurse", "base_audit:state"
    )


def test_what_does_not_revert_a_change() -> None:
    there = check("Seattle", "Austin", 5)
    before = check("Austin", "Seattle", 3, Reason.NOT_MATERIAL, id="T02")
    unproven = check("Austin", "Seattle", 9, Reason.NOT_MATERIAL, Reason.SHORT_PATH, id="T02")
    elsewhere = check("Austin", "Seattle", 9, Reason.NOT_MATERIAL, id="T02", attribute="job")
    for other in (before, unproven, elsewhere):
        assert brief(arbitrate([], [there, other], Policy.FULL)) == pair("Austin", "transition:T01")


# --- the base audit ---------------------------------------------------------


def test_material_stale_repairs_and_informs() -> None:
    assert brief(arbitrate([premise()], [], Policy.REPAIR_ONLY)) == pair(
        "Austin", "base_audit:draft"
    )


def test_what_is_not_material_or_valid_fires_nothing() -> None:
    premises = [
        premise(material=False),
        premise(Verdict.VALID),
        premise(Verdict.UNKNOWN, None, material=False),
    ]
    assert arbitrate(premises, [], Policy.FULL) == ()


def test_unknown_asks_unless_repair_only() -> None:
    unsure = [premise(Verdict.UNKNOWN, None, origin=Origin.QUESTION)]
    ask = [("verify", None, "base_audit:question")]
    assert brief(arbitrate(unsure, [], Policy.FULL)) == ask
    assert brief(arbitrate(unsure, [], Policy.OBSERVE)) == ask
    assert arbitrate(unsure, [], Policy.REPAIR_ONLY) == ()


def test_stale_without_a_current_value_asks() -> None:
    """B6: a correction carries the new value, never only a deletion."""
    for nothing in (None, "", "unknown"):
        fired = arbitrate([premise(current=nothing)], [], Policy.FULL)
        assert brief(fired) == [("verify", None, "base_audit:draft")]


def test_a_repaired_attribute_is_not_asked_about() -> None:
    found = [premise(), premise(Verdict.UNKNOWN, None, origin=Origin.STATE)]
    assert brief(arbitrate(found, [], Policy.FULL)) == pair("Austin", "base_audit:draft")


def test_the_same_finding_of_several_passes_fires_once() -> None:
    found = [premise(origin=o) for o in (Origin.STATE, Origin.QUESTION, Origin.DRAFT)]
    assert brief(arbitrate(found, [], Policy.FULL)) == pair("Austin", "base_audit:draft")
    assert len(arbitrate([premise(), premise(current="Boston")], [], Policy.FULL)) == 2


def test_a_premise_without_attribute_goes_by_its_text() -> None:
    (repair, _) = arbitrate([premise(attribute=" ")], [], Policy.FULL)
    assert repair.attribute == "lives in Seattle"


def test_repairs_come_before_questions() -> None:
    found = [premise(Verdict.UNKNOWN, None, attribute="age"), premise()]
    assert [d.kind for d in arbitrate(found, [], Policy.FULL)] == [REPAIR, INFORM, VERIFY]


def test_only_observe_forbids_rewriting() -> None:
    fired = arbitrate([premise()], [], Policy.FULL)
    assert may_rewrite(fired, Policy.FULL)
    assert may_rewrite(fired, Policy.REPAIR_ONLY)
    assert not may_rewrite(fired, Policy.OBSERVE)
    assert not may_rewrite((), Policy.FULL)


# --- properties -------------------------------------------------------------

PREMISES = st.lists(
    st.builds(
        premise,
        st.sampled_from(list(Verdict)),
        st.sampled_from([None, "Austin", "austin", "Boston"]),
        attribute=st.sampled_from(["city", "City", "", "job"]),
        origin=st.sampled_from(list(Origin)),
        material=st.booleans(),
    ),
    max_size=5,
)
CHECKS = st.lists(
    st.tuples(
        st.sampled_from("ABC"),
        st.sampled_from("ABC"),
        st.integers(2, 4),
        st.sampled_from([(), (), (Reason.NOT_MATERIAL,), (Reason.NOT_NEWER,)]),
        st.sampled_from(["city", "job"]),
    ).filter(lambda row: row[0] != row[1]),
    max_size=5,
).map(
    lambda rows: [
        check(old, new, day, *why, id=f"T{n:02d}", attribute=attribute)
        for n, (old, new, day, why, attribute) in enumerate(rows, start=1)
    ]
)


@given(PREMISES, CHECKS, st.sampled_from(list(Policy)), st.randoms(use_true_random=False))
def test_the_order_of_findings_changes_nothing(
    premises: list[Premise], checks: list[TransitionCheck], policy: Policy, random: object
) -> None:
    first = arbitrate(premises, checks, policy)
    random.shuffle(premises)  # type: ignore[attr-defined]
    random.shuffle(checks)  # type: ignore[attr-defined]
    assert arbitrate(premises, checks, policy) == first


@given(PREMISES, CHECKS, st.sampled_from(list(Policy)))
def test_a_verified_transition_outranks_base_verdicts(
    premises: list[Premise], checks: list[TransitionCheck], policy: Policy
) -> None:
    fired = arbitrate(premises, checks, policy)
    by_transition = arbitrate([], checks, policy)
    if by_transition:
        assert fired == by_transition
    verified = {f"transition:{c.id}" for c in checks if c.status is CheckStatus.VERIFIED}
    for directive in fired:
        assert directive.authority in verified or directive.authority.startswith("base_audit:")
    if verified and not any(Reason.NOT_MATERIAL in c.reasons for c in checks):
        assert all(d.authority in verified for d in fired)


@given(PREMISES, CHECKS)
def test_policies_only_take_away(premises: list[Premise], checks: list[TransitionCheck]) -> None:
    full = arbitrate(premises, checks, Policy.FULL)
    assert arbitrate(premises, checks, Policy.OBSERVE) == full
    assert arbitrate(premises, checks, Policy.REPAIR_ONLY) == tuple(
        d for d in full if d.kind is not VERIFY
    )


# --- ablations ---------------------------------------------------------------------


def test_without_validation_a_candidate_acts_whatever_its_provenance_and_order() -> None:
    rejected = check("Seattle", "Austin", 5, Reason.UNGROUNDED_NEW, Reason.NOT_NEWER)
    assert arbitrate([], [rejected], Policy.FULL) == ()
    directives = arbitrate([], [rejected], Policy.FULL, validation=False)
    assert brief(directives) == pair("Austin", "transition:T01")


def test_without_validation_a_candidate_still_needs_values_and_a_reply_to_bear_on() -> None:
    for reason in (
        Reason.NOT_MATERIAL,
        Reason.MISSING_VALUE,
        Reason.SAME_VALUE,
        Reason.SEMANTIC_GATE,
    ):
        lacking = check("Seattle", "Austin", 5, Reason.SHORT_PATH, reason)
        assert arbitrate([], [lacking], Policy.FULL, validation=False) == ()


def test_without_verified_only_base_verdicts_fire_beside_a_transition() -> None:
    found = [premise(attribute="diet", current="vegan"), premise(Verdict.UNKNOWN, attribute="car")]
    directives = arbitrate(found, [check("Seattle", "Austin")], Policy.FULL, verified_only=False)
    assert brief(directives) == [
        *pair("Austin", "transition:T01"),
        *pair("vegan", "base_audit:draft"),
        ("verify", None, "base_audit:draft"),
    ]


def test_without_verified_only_nothing_is_said_twice() -> None:
    found = [premise(), premise(current="Dallas"), premise(attribute="home", current="Austin")]
    directives = arbitrate(found, [check("Seattle", "Austin")], Policy.FULL, verified_only=False)
    assert brief(directives) == pair("Austin", "transition:T01")


def test_entailment_labels_repair_without_a_value_and_leave_nothing_to_ask() -> None:
    found = [premise(current=None), premise(Verdict.UNKNOWN, attribute="car")]
    directives = arbitrate(found, [], Policy.FULL, labels=Labels.NLI)
    assert brief(directives) == [("repair", None, "base_audit:draft")]
    assert brief(arbitrate(found, [], Policy.FULL)) == [("verify", None, "base_audit:draft")] * 2


def test_an_immaterial_contradiction_fires_nothing() -> None:
    assert arbitrate([premise(material=False)], [], Policy.FULL, labels=Labels.NLI) == ()
