"""The safety suite: what it promises of its regimes, its spread and its words."""

from __future__ import annotations

import re
import time
from collections import Counter
from datetime import date

import pytest

from stateauditor.data.suites.items import (
    Due,
    Explicitness,
    Register,
    SuiteItem,
    find_problems,
)
from stateauditor.data.suites.safety import PER_REGIME, SUITE, Regime, items, plans
from stateauditor.data.suites.topics import load_topics
from stateauditor.program.memory import read_memory

ITEMS = items()
PLANS = {plan.uid: plan for plan in plans()}

# The words that people most often tell a change with.
CHANGE_WORDS = (
    "moved",
    "new",
    "now",
    "no longer",
    "anymore",
    "used to",
    r"switch\w*",
    r"chang\w+",
    "quit",
    "started",
    "left",
    "stopped",
    r"g[ai]ven? (\S+ ){0,2}(up|away)",
    "sold",
    "instead",
    "replaced",
    "swapped",
    "since",
    "again",
)
ANY_CHANGE_WORD = "|".join(CHANGE_WORDS)


def m_old(item: SuiteItem) -> str:
    return item.probes[0].key.m_old.reveal()


def m_new(item: SuiteItem) -> str:
    return item.probes[0].key.m_new.reveal()


def user_turns(item: SuiteItem) -> list[str]:
    return [turn.content for s in item.sessions for turn in s.turns if turn.role == "user"]


def balanced_accuracy(pattern: str, found: list[SuiteItem]) -> float:
    """Of the rule "a later remark that matches is a true change", against the key."""
    hits: dict[bool, list[bool]] = {True: [], False: []}
    for item in found:
        says = re.search(rf"\b({pattern})\b", m_new(item), re.IGNORECASE) is not None
        hits[item.group == Regime.TRUE_CHANGE].append(says)
    recall, false_alarms = (sum(hits[truth]) / len(hits[truth]) for truth in (True, False))
    return (recall + 1 - false_alarms) / 2


def test_the_suite_keeps_every_promise_of_a_suite() -> None:
    assert find_problems(ITEMS) == []
    assert {item.suite for item in ITEMS} == {SUITE}


def test_each_regime_has_exactly_fifty_items() -> None:
    assert Counter(item.group for item in ITEMS) == dict.fromkeys(Regime, PER_REGIME)
    assert len(Regime) == 7


def test_the_same_seed_gives_the_same_items_and_another_seed_others() -> None:
    def written(seed: int) -> list[list[str]]:
        return [[*user_turns(item), m_old(item), m_new(item)] for item in items(seed)]

    again = items()
    assert again == ITEMS
    assert [str(item.memory_items()) for item in again] == [
        str(item.memory_items()) for item in ITEMS
    ]
    other = written(7)
    assert sum(a != b for a, b in zip(other, written(42), strict=True)) == len(ITEMS)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_promises_hold_for_any_seed(seed: int) -> None:
    found = items(seed)
    assert find_problems(found) == []
    assert len({(item.group, m_old(item), m_new(item)) for item in found}) == len(found)


def test_only_a_true_change_is_due_for_repair() -> None:
    for item in ITEMS:
        (probe,) = item.probes
        true_change = item.group == Regime.TRUE_CHANGE
        assert probe.due is (Due.REPAIR if true_change else Due.NOTHING)
        assert probe.name == "probe"


@pytest.mark.parametrize("regime", Regime)
def test_no_two_items_of_a_regime_say_the_same(regime: Regime) -> None:
    pairs = [(m_old(item), m_new(item)) for item in ITEMS if item.group == regime]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("regime", Regime)
def test_every_regime_covers_all_topics_and_registers_nearly_evenly(regime: Regime) -> None:
    found = [plan for plan in PLANS.values() if plan.regime is regime]
    for counts, of in (
        (Counter(plan.topic for plan in found), list(load_topics())),
        (Counter(plan.register for plan in found), list(Register)),
    ):
        assert set(counts) == set(of)
        assert max(counts.values()) - min(counts.values()) <= 1 + (len(of) == len(Register))


def test_no_topic_is_bound_to_one_register_or_one_way_of_telling() -> None:
    for topic in load_topics():
        found = [plan for plan in PLANS.values() if plan.topic == topic]
        assert {plan.register for plan in found} == set(Register)
        assert {plan.explicitness for plan in found} == set(Explicitness)


def test_items_bear_what_their_plans_say() -> None:
    for item in ITEMS:
        plan = PLANS[item.uid]
        assert (item.group, item.register, item.explicitness) == (
            plan.regime,
            plan.register,
            plan.explicitness,
        )


@pytest.mark.parametrize("regime", Regime)
def test_explicit_and_implicit_remarks_and_silent_drafts_are_in_every_regime(
    regime: Regime,
) -> None:
    found = [plan for plan in PLANS.values() if plan.regime is regime]
    implicit = sum(plan.explicitness is Explicitness.IMPLICIT for plan in found) / len(found)
    assert 0.4 <= implicit <= 0.7
    assert 0.5 <= sum(plan.silent for plan in found) / len(found) <= 0.8


def test_a_reverted_state_is_told_of_in_a_third_remark() -> None:
    backs = {
        topic: [re.escape(re.sub(r"\{\w+\}", "@", form)).replace("@", ".+") for form in found.back]
        for topic, found in load_topics().items()
    }
    for item in (found for found in ITEMS if found.group == Regime.REVERTED):
        turns = user_turns(item)
        new = next(n for n, text in enumerate(turns) if m_new(item) in text)
        # A formal writer has spelled the short forms out: compare without them.
        if item.register is not Register.FORMAL:
            assert any(
                re.search(form, text)
                for text in turns[new + 1 :]
                for form in backs[PLANS[item.uid].topic]
            ), item.uid


def test_an_exception_is_over_by_the_last_session() -> None:
    for item in (found for found in ITEMS if found.group == Regime.TEMPORARY_EXCEPTION):
        said = next(
            session.timestamp[:10]
            for session in item.sessions
            if any(m_new(item) in turn.content for turn in session.turns)
        )
        last = item.sessions[-1].timestamp[:10]
        assert (date.fromisoformat(last) - date.fromisoformat(said)).days >= 18


def test_no_written_text_has_a_slot_or_a_seam_left() -> None:
    for item in ITEMS:
        for text in (*user_turns(item), item.probes[0].question, item.probes[0].draft):
            assert not re.search(r"[{}]|  |\.\.|,,| ,", text), text
        for sentence in (m_old(item), m_new(item), item.probes[0].draft):
            assert sentence[0].isupper() or sentence[0].isdigit(), sentence
            assert sentence[-1] in ".!?'", sentence


def test_remarks_vary_in_length() -> None:
    lengths = [len(m_new(item).split()) for item in ITEMS]
    assert min(lengths) <= 8
    assert max(lengths) >= 30


def test_the_program_reads_every_history() -> None:
    for item in ITEMS[::10]:
        memory = read_memory(item.memory_items())
        assert any(m_new(item) in entry.text for entry in memory.entries)


# The point of the suite: no word gives the answer away.


@pytest.mark.parametrize("seed", [42, 1, 2])
def test_spotting_change_words_does_not_tell_a_true_change(seed: int) -> None:
    found = list(items(seed))
    kept = [item for item in found if item.group != Regime.REVERTED]
    for among in (found, kept):
        assert 0.35 < balanced_accuracy(ANY_CHANGE_WORD, among) < 0.65


@pytest.mark.parametrize("word", CHANGE_WORDS)
def test_no_change_word_alone_tells_a_true_change(word: str) -> None:
    kept = [item for item in ITEMS if item.group != Regime.REVERTED]
    assert 0.4 < balanced_accuracy(word, kept) < 0.6


@pytest.mark.parametrize(
    "regime", [r for r in Regime if r not in (Regime.TRUE_CHANGE, Regime.REVERTED)]
)
def test_every_regime_without_a_change_uses_the_words_of_change(regime: Regime) -> None:
    found = [item for item in ITEMS if item.group == regime]
    told = sum(
        re.search(rf"\b({ANY_CHANGE_WORD})\b", m_new(item), re.IGNORECASE) is not None
        for item in found
    )
    assert told / len(found) >= 0.4


def test_true_changes_often_lack_the_words_of_change() -> None:
    found = [item for item in ITEMS if item.group == Regime.TRUE_CHANGE]
    bare = sum(
        re.search(rf"\b({ANY_CHANGE_WORD})\b", m_new(item), re.IGNORECASE) is None for item in found
    )
    assert bare / len(found) >= 0.4


def test_generating_the_suite_is_quick() -> None:
    began = time.process_time()
    items(5)
    assert time.process_time() - began < 2.0
