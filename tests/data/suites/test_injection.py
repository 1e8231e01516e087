"""What is derived from sound candidates, and that the gate finds what it must in each."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateauditor.data.suites import wordings
from stateauditor.data.suites.cases import PAIR, Case, CaseKind, Side, base_of, bases, entries_of
from stateauditor.data.suites.injection import LIMIT_TITLE, RESTATED, derive
from stateauditor.data.suites.items import Due, SuiteItem
from stateauditor.data.suites.variants import controls
from stateauditor.data.suites.violations import violations
from stateauditor.program.validator import check_transition
from stateauditor.signatures.models import CheckStatus, EntryRole, Reason, TransitionCheck
from tests.data.suites.builders import MOVED, SISTER, item, probe, suite_items

ITEMS = suite_items()
CASES = list(derive(ITEMS))


def found(case: Case) -> TransitionCheck:
    return check_transition(case.candidate, case.entries, check_id="T01", pair=PAIR)


def misjudged(cases: list[Case]) -> list[tuple[str, tuple[Reason, ...]]]:
    return [(case.id, found(case).reasons) for case in cases if not case.agrees(found(case))]


def of(construction: str) -> list[Case]:
    return [case for case in CASES if case.construction.startswith(construction)]


# --- what is derived ------------------------------------------------------------------


def test_an_items_turns_are_dated_entries_of_both_roles() -> None:
    entries = entries_of(ITEMS[0])
    assert [(e.id, e.role, str(e.timestamp), e.session, e.turn) for e in entries[:3]] == [
        ("E01", EntryRole.USER, "2024-01-10T09:30Z", "s01", 0),
        ("E02", EntryRole.ASSISTANT, "2024-01-10T09:30Z", "s01", 1),
        ("E03", EntryRole.USER, "2024-02-10T09:30Z", "s02", 0),
    ]


def test_the_same_items_give_the_same_cases() -> None:
    assert list(derive(suite_items())) == CASES
    assert len({case.id for case in CASES}) == len(CASES)


def test_every_rule_is_broken_and_every_reason_of_the_validator_occurs() -> None:
    kinds = Counter(case.kind for case in CASES)
    assert kinds[CaseKind.VIOLATION] > 80
    assert kinds[CaseKind.CONTROL] > 30
    assert kinds[CaseKind.LIMIT] == 2
    reasons = frozenset().union(*(case.reasons for case in CASES))
    # The semantic gate is an LM's word and no rule of the validator; the suite's memories are
    # conversations, which no store has closed (tests/program/memory/test_validity.py has those).
    assert reasons == set(Reason) - {Reason.SEMANTIC_GATE, Reason.CLOSED_NEW}


def test_a_base_comes_from_each_probe_that_demands_a_repair() -> None:
    assert [base.uid for base in bases(ITEMS, Due.REPAIR)] == ["moved/probe", "shift/probe"]
    assert {case.base for case in CASES if case.kind is CaseKind.LIMIT} == {
        "sister/probe",
        "visit/probe",
    }


def test_a_violation_changes_the_candidate_or_its_entries() -> None:
    by_base = {base.uid: base for base in bases(ITEMS, Due.REPAIR)}
    for case in CASES:
        if case.kind is CaseKind.VIOLATION:
            base = by_base[case.base]
            assert (case.candidate, case.entries) != (base.candidate, base.entries), case.id


# --- what the gate finds --------------------------------------------------------------


def test_every_violation_is_rejected_for_the_right_reason() -> None:
    assert misjudged([case for case in CASES if case.kind is CaseKind.VIOLATION]) == []


def test_every_valid_variant_is_accepted() -> None:
    assert misjudged([case for case in CASES if case.kind is CaseKind.CONTROL]) == []


def test_the_limit_is_that_what_only_looks_like_a_change_is_accepted() -> None:
    limit = [case for case in CASES if case.kind is CaseKind.LIMIT]
    assert {case.rule for case in limit} == {LIMIT_TITLE}
    assert [found(case).status for case in limit] == [CheckStatus.VERIFIED] * 2


def test_an_accepted_violation_or_a_wrong_reason_disagrees() -> None:
    case = of("not material")[0]
    assert case.agrees(found(case))
    assert not replace(case, reasons=frozenset({Reason.NOT_NEWER})).agrees(found(case))
    assert not replace(case, kind=CaseKind.CONTROL).agrees(found(case))
    sound = of("as the key has it")[0]
    assert not case.agrees(found(sound))
    extra = of("four at once")[0]
    assert not replace(extra, reasons=frozenset({Reason.NOT_NEWER})).agrees(found(extra))
    assert replace(extra, reasons=frozenset({Reason.NOT_NEWER}), may_add=extra.reasons).agrees(
        found(extra)
    )


def restated(later: str) -> SuiteItem:
    return item(
        "restated",
        (MOVED[0], SISTER, later),
        [probe(MOVED[0], SISTER, due=Due.NOTHING)],
        group="reverted",
    )


def test_an_old_sentence_said_again_in_the_history_is_a_violation() -> None:
    (case,) = derive([restated(f"As I said: {MOVED[0]}")])
    assert (case.kind, case.construction) == (CaseKind.VIOLATION, RESTATED)
    assert found(case).reasons == (Reason.NOT_NEWER,)


def test_old_words_that_return_inflected_are_no_case() -> None:
    again = "I'm renting the same one-bedroom flat in Denver for four years with no elevators."
    assert list(derive([restated(again)])) == []


# --- the wordings ---------------------------------------------------------------------


def test_numbers_negations_names_and_directions_are_altered_where_they_stand() -> None:
    said = "\n".join(MOVED).casefold()
    assert "at 4471 every" in (wordings.altered_number(MOVED[1], said) or "")
    assert wordings.dropped_number("It rolls past at 5:40 every day.") == (
        "It rolls past at every day."
    )
    assert (wordings.altered_name(MOVED[0], said) or "").count("Zlatoust") == 1
    assert wordings.altered_name("I like it.", said) is None
    assert wordings.dropped_negation("with no elevator") == "with elevator"
    assert wordings.dropped_negation("I won't go there") == "I will go there"
    assert wordings.dropped_negation("Meat? Never.") is None
    assert wordings.opposite_direction("I moved to the coast") == "I moved from the coast"
    assert wordings.altered_number("I like it.", said) is None


def test_a_name_and_its_plural_are_one_name() -> None:
    assert wordings.altered_name("I swim on Friday mornings", "", "Fridays") is None


def test_a_disguised_word_looks_the_same_and_keeps_a_latin_letter() -> None:
    word = wordings.disguised("Denver")
    assert word is not None
    assert word != "Denver"
    assert any(character.isascii() for character in word)
    assert any(not character.isascii() for character in word)
    assert wordings.disguised("Wulf") is None


def test_words_of_nobody_are_words_that_the_history_lacks() -> None:
    said = " ".join(("zeppelin", *MOVED)).casefold()
    changed = wordings.foreign_words(MOVED[0], said)
    assert changed is not None
    assert "zeppelin" not in changed
    assert wordings.foreign_words("I am.", said) is None


def test_sentences_that_share_most_words_are_not_joined() -> None:
    one = "I live in a flat without a garden."
    assert wordings.joined(one, f"I no longer {one[2:]}") is None
    assert wordings.joined(*MOVED) is not None


# --- any sound base -------------------------------------------------------------------

WORDS = (
    *("amber", "basil", "cedar", "dahlia", "ember", "fennel", "ginger", "hazel", "indigo"),
    *("jasmine", "kelp", "laurel", "maple", "nectar", "olive", "pepper", "quince", "raspberry"),
    *("saffron", "thyme", "umbra", "violet", "walnut", "yarrow", "zinnia", "copper", "bronze"),
)
TOWNS = ("Aberdeen", "Bergamo", "Cardiff", "Dortmund", "Esbjerg", "Florence")


@st.composite
def sound_items(draw: st.DrawFn) -> SuiteItem:
    """Two statements of different words, with a town and perhaps a number each."""
    order = draw(st.permutations(WORDS))
    size = draw(st.integers(min_value=4, max_value=9))
    towns = draw(st.permutations(TOWNS))
    number = draw(st.sampled_from(("", " at 7:15", " for 12 weeks", " with 300 g of salt")))
    negation = draw(st.sampled_from(("", " and never sorrel", ", not sorrel")))
    old, new = order[:size], order[size : 2 * size]
    texts = [
        f"I {' '.join(words)}{negation} near {town}{number}, {words[0]} and {words[1]} again."
        for words, town in zip((old, new), towns, strict=False)
    ]
    return item("drawn", texts, [probe(*texts, values=(towns[0], towns[1]))])


@given(sound_items(), st.integers(min_value=0, max_value=40))
@settings(max_examples=25)
def test_no_violation_of_any_sound_base_passes(made: SuiteItem, number: int) -> None:
    base = replace(base_of(made, made.probes[0]), number=number)
    assert misjudged(list(violations(base))) == []


@given(sound_items(), st.integers(min_value=0, max_value=40))
@settings(max_examples=25)
def test_no_valid_variant_of_any_sound_base_is_rejected(made: SuiteItem, number: int) -> None:
    base = replace(base_of(made, made.probes[0]), number=number)
    assert misjudged(list(controls(base))) == []


@pytest.mark.parametrize("side", Side)
def test_a_side_names_its_own_reason(side: Side) -> None:
    assert side.ungrounded.value == f"ungrounded_{side.value}"
    assert side.other.other is side
