"""The key judge recognises the gold change by evidence or by values, with no LM."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.metrics import KEY_JUDGE_LABEL, GoldKey, KeyFindings, key_judge
from stateauditor.metrics.key_judge import is_true_change, names_new, names_old, stands_in
from stateauditor.signatures.models import CheckStatus, DirectiveKind, Origin, Premise, Verdict
from tests.metrics.builders import audit, check, directive

CITY = GoldKey(
    uid="city",
    attribute="home city",
    old_value="lives in Denver",
    new_value="lives in Milwaukee",
    m_old="I've rented the same one-bedroom in Denver for four years, with no elevator.",
    m_new="The garbage truck on my block in Milwaukee rolls through at 5:40 every Tuesday.",
)
EMPLOYER = GoldKey(
    uid="employer",
    attribute="employer",
    old_value="works for a regional hospital group",
    new_value="works for a shipping company, recently started",
    m_old="For the past four years I've done payroll for a regional hospital group.",
    m_new="The guard at the shipping company squints at my brand-new staff badge.",
)
GARDEN = GoldKey(
    uid="garden",
    attribute="balcony gardening",
    old_value="grows tomatoes, chard and a fig on a sunny balcony",
    new_value="lives in a half-basement flat without a balcony; cannot garden there",
    m_old="My balcony gets sun from ten until five: eleven pots of tomatoes and a fig.",
    m_new="My flat sits half under the pavement with a single window full of ankles.",
)
LANGUAGE = GoldKey(
    uid="language",
    attribute="main programming language at work",
    old_value="Java",
    new_value="Rust",
    m_old="At work nearly everything I touch is Java, one big billing service.",
    m_new="Every ticket I've closed since April has been Rust.",
)
KEYS = (CITY, EMPLOYER, GARDEN, LANGUAGE)


def premise(text: str, verdict: Verdict = Verdict.STALE, old: str | None = None) -> Premise:
    return Premise(text=text, verdict=verdict, origin=Origin.DRAFT, old_value=old)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.uid)
def test_the_keys_own_values_and_sentences_are_told_apart(key: GoldKey) -> None:
    for old, new in ((key.old_value, key.new_value), (key.m_old, key.m_new)):
        assert names_old(old, key)
        assert names_new(new, key)
        assert not names_old(new, key)
        assert not names_new(old, key)


def test_no_keys_change_is_taken_for_another_keys() -> None:
    for key in KEYS:
        for other in KEYS:
            found = is_true_change(check(other.old_value, other.new_value), key)
            assert found == (key is other)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        (CITY, "Denver", "Milwaukee"),
        (EMPLOYER, "the hospital group", "a shipping company"),
        (GARDEN, "has a sunny balcony", "basement flat, no balcony"),
        (LANGUAGE, "codes in Java", "codes in Rust"),
    ],
)
def test_values_in_other_words_are_recognised_and_never_the_wrong_way_round(
    key: GoldKey, old: str, new: str
) -> None:
    assert is_true_change(check(old, new), key)
    assert not is_true_change(check(new, old), key)


def test_words_that_both_sides_share_tell_nothing() -> None:
    assert not names_new("lives in Seattle", CITY)
    assert not is_true_change(check("works for a bank", "works for a school"), EMPLOYER)


def test_matched_spans_count_before_values() -> None:
    found = check(
        "renting there",
        "sleeps elsewhere",
        old_quote="rented the same one-bedroom in Denver",
        new_quote="The garbage truck on my block in Milwaukee",
    )
    assert is_true_change(found, CITY)


def test_one_span_of_the_pair_is_not_enough() -> None:
    found = check(
        "renting there",
        "sleeps elsewhere",
        old_quote="rented the same one-bedroom in Denver",
        new_quote="a street in Milwaukee is loud",
    )
    assert not is_true_change(found, CITY)


def test_a_span_stands_in_the_gold_sentence_or_holds_it() -> None:
    assert stands_in("garbage truck on my block", CITY.m_new)
    assert stands_in(f"So. {CITY.m_new} Every week.", CITY.m_new)
    assert stands_in(CITY.m_new.replace("rolls through", "comes through"), CITY.m_new)


def test_a_span_of_one_telling_word_proves_nothing() -> None:
    assert not stands_in("in Denver", CITY.m_old)
    assert not stands_in("", CITY.m_old)


def test_a_rejected_transition_is_no_finding() -> None:
    found = key_judge(
        audit(transitions=[check("Denver", "Milwaukee", status=CheckStatus.REJECTED)]), CITY
    )
    assert not found.true_transition
    assert found.off_target == 0


def test_a_verified_change_and_its_repair_are_credited() -> None:
    found = key_judge(
        audit(
            changed=True,
            transitions=[check("Denver", "Milwaukee"), check("a cat", "a dog", id="C2")],
            directives=[
                directive(kind, authority="transition:C1")
                for kind in (DirectiveKind.REPAIR, DirectiveKind.CORRECT_AND_INFORM)
            ],
        ),
        CITY,
    )
    assert found.true_transition
    assert found.true_repair
    assert found.change_found
    assert found.stale_found
    assert not found.stale_premise
    assert not found.false_invalidation
    assert (found.off_target, found.repairs, found.verifies, found.rewritten) == (1, 1, 0, True)
    assert found.label == KEY_JUDGE_LABEL


@pytest.mark.parametrize("old", [None, "Denver"])
def test_a_base_audits_repair_is_recognised_by_its_values(old: str | None) -> None:
    found = key_judge(
        audit(directives=[directive(DirectiveKind.REPAIR, old=old, new="Milwaukee")]), CITY
    )
    assert found.true_repair
    assert not found.true_transition


@pytest.mark.parametrize(
    ("old", "new"), [("Boston", "Milwaukee"), ("Denver", "Austin"), (None, None)]
)
def test_a_repair_of_something_else_is_off_target(old: str | None, new: str | None) -> None:
    found = key_judge(audit(directives=[directive(DirectiveKind.REPAIR, old=old, new=new)]), CITY)
    assert not found.true_repair
    assert found.false_invalidation


def test_only_a_stale_premise_about_the_old_state_counts() -> None:
    for text, verdict, old, expected in (
        ("The user lives in Denver", Verdict.STALE, None, True),
        ("Weekends are spent nearby", Verdict.STALE, "Denver", True),
        ("The user lives in Denver", Verdict.UNKNOWN, None, False),
        ("The user lives in Denver", Verdict.VALID, None, False),
        ("The user lives in Milwaukee", Verdict.STALE, None, False),
        ("The user owns a dog", Verdict.STALE, None, False),
    ):
        found = key_judge(audit(premises=[premise(text, verdict, old)]), CITY)
        assert found.stale_premise == expected, text


def test_on_a_control_every_repair_is_a_false_invalidation() -> None:
    control = CITY.model_copy(update={"control": True})
    repair = directive(DirectiveKind.REPAIR, old="Denver", new="Milwaukee")
    assert key_judge(audit(directives=[repair]), control).false_invalidation
    verify = directive(DirectiveKind.VERIFY)
    found = key_judge(audit(directives=[verify], changed=True), control)
    assert not found.false_invalidation
    assert (found.verifies, found.rewritten) == (1, True)


def test_an_audit_that_found_nothing_scores_nothing() -> None:
    found = key_judge(audit(), CITY)
    assert not found.stale_found
    assert not found.change_found
    assert not found.false_invalidation
    assert KeyFindings.model_validate_json(found.model_dump_json()) == found


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_value_can_be_judged_and_never_names_both_sides(old: str, new: str) -> None:
    assert not (names_old(old, CITY) and names_new(old, CITY))
    key_judge(audit(transitions=[check(old, new, old_quote=old, new_quote=new)]), CITY)
