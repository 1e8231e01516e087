"""The hard lifecycle suite: what it promises, and that no phrase tells its probes apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import date
from functools import cache
from itertools import pairwise

import pytest
import yaml

from stateauditor.data.suites import lifecycle
from stateauditor.data.suites.frozen import canonical_json
from stateauditor.data.suites.items import (
    ChangeKey,
    Due,
    Explicitness,
    Register,
    SuiteItem,
    SuiteProbe,
    find_problems,
)
from stateauditor.data.suites.lifecycle import SUITE, items
from stateauditor.data.suites.loading import parse_content
from stateauditor.data.suites.registry import load_suite
from stateauditor.data.suites.situations import Situation, Stress, situations
from stateauditor.data.suites.wording import sentence, slots_of
from stateauditor.program.memory import read_memory
from stateauditor.signatures.errors import ConfigError

GIVEAWAY = 0.65
"""No simple rule may tell due from trap with this balanced accuracy."""

CHANGE_WORDS = re.compile(
    r"\b(now|new|no longer|any more|instead|moved|changed|switched|replaced|since|gone|back|"
    r"again|used to|at last|finally|first|until|left|sold)\b",
    re.IGNORECASE,
)


@cache
def suite() -> tuple[SuiteItem, ...]:
    return items()


def of(stress: Stress) -> list[SuiteItem]:
    return [item for item in suite() if item.group == stress.value]


def situation_of(item: SuiteItem) -> tuple[Situation, int]:
    _, stress, name, rendering = item.uid.split("/")
    found = next(s for s in situations(Stress(stress)) if s.id == name)
    return found, int(rendering) - 1


def days_with(item: SuiteItem, sentence: str) -> list[date]:
    return [
        date.fromisoformat(session.timestamp[:10])
        for session in item.sessions
        for turn in session.turns
        if turn.role == "user" and sentence in turn.content
    ]


def day_of(item: SuiteItem, sentence: str) -> date:
    (day,) = days_with(item, sentence)
    return day


def probes_of(name: str) -> list[SuiteProbe]:
    return [probe for item in suite() for probe in item.probes if probe.name == name]


def test_the_suite_has_no_problem_that_any_suite_may_not_have() -> None:
    assert find_problems(suite()) == []


@pytest.mark.parametrize("stress", list(Stress))
def test_each_category_has_twenty_scenarios_of_fifteen_situations(stress: Stress) -> None:
    assert len(of(stress)) == 20
    assert {item.suite for item in of(stress)} == {SUITE}
    assert len(situations(stress)) == 15
    assert Counter(situation_of(item)[0].id for item in of(stress)) == {
        situation.id: len(situation.values) for situation in situations(stress)
    }


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_ones() -> None:
    assert canonical_json(items(42)) == canonical_json(suite())
    assert canonical_json(items(7)) != canonical_json(suite())


@pytest.mark.parametrize("seed", [0, 7, 2026])
def test_every_seed_gives_a_sound_suite(seed: int) -> None:
    assert find_problems(items(seed)) == []


def test_every_scenario_has_a_repair_that_is_due_and_a_trap() -> None:
    for item in suite():
        assert [(p.name, p.due) for p in item.probes] == [
            ("due", Due.REPAIR),
            ("trap", Due.NOTHING),
        ], item.uid


def test_the_program_can_read_every_history() -> None:
    for item in suite():
        entries = read_memory(item.memory_items()).entries
        assert len(entries) >= len(item.sessions), item.uid


def test_registers_are_even_over_the_suite_and_in_each_category() -> None:
    assert Counter(item.register for item in suite()) == dict.fromkeys(Register, 40)
    for stress in Stress:
        counts = Counter(item.register for item in of(stress))
        assert max(counts.values()) - min(counts.values()) <= 1
        assert set(counts) == set(Register)


def test_the_two_renderings_of_a_situation_differ_in_register_and_in_every_text() -> None:
    twice = [two for two in pairwise(suite()) if situation_of(two[0])[0] is situation_of(two[1])[0]]
    assert len(twice) == 30
    for one, two in twice:
        assert one.register is not two.register
        for first, second in zip(one.probes, two.probes, strict=True):
            assert first.question != second.question
            assert first.draft != second.draft
            assert first.key.m_old != second.key.m_old
            assert first.key.m_new != second.key.m_new


def test_most_changes_are_implicit_and_each_category_has_both_kinds() -> None:
    implicit = sum(item.explicitness is Explicitness.IMPLICIT for item in suite())
    assert 0.7 <= implicit / len(suite()) <= 0.9
    for stress in Stress:
        assert {item.explicitness for item in of(stress)} == set(Explicitness)


def test_histories_differ_in_length() -> None:
    lengths = Counter(len(item.sessions) for item in suite())
    assert len(lengths) >= 8
    assert max(lengths) - min(lengths) >= 8


def test_no_question_draft_or_remark_occurs_twice() -> None:
    questions = [probe.question for item in suite() for probe in item.probes]
    drafts = [probe.draft for item in suite() for probe in item.probes]
    remarks = [
        remark.form(register)
        for stress in Stress
        for situation in situations(stress)
        for remark in situation.beats.values()
        for register in Register
    ]
    for texts in (questions, drafts, remarks):
        assert [text for text, count in Counter(texts).items() if count > 1] == []


def test_every_remark_has_three_surface_forms_that_share_its_values() -> None:
    for stress in Stress:
        for situation in situations(stress):
            for name, remark in situation.beats.items():
                forms = {remark.form(register) for register in Register}
                assert len(forms) == len(Register), (situation.id, name)


def test_no_value_is_written_in_vain() -> None:
    for stress in Stress:
        for situation in situations(stress):
            texts = [r.form(reg) for r in situation.beats.values() for reg in Register]
            for probe in (situation.due, situation.trap):
                texts += [*probe.old_value, *probe.new_value, *probe.path[0], *probe.path[1]]
            used = set().union(*(slots_of(text) for text in texts)) | {"end"}
            assert situation.values[0].keys() <= used, situation.id


def test_at_least_half_of_the_drafts_to_repair_rely_on_the_old_value_silently() -> None:
    silent = [
        probe.key.old_value.reveal().casefold() not in probe.draft.casefold()
        for probe in probes_of("due")
    ]
    assert sum(silent) / len(silent) >= 0.5


def test_a_chain_tells_of_three_values_at_three_dates_and_half_rely_on_the_second() -> None:
    relied_on: Counter[str] = Counter()
    for item in of(Stress.CHAIN):
        situation, rendering = situation_of(item)
        values = situation.values[rendering]
        said = {name: day_of(item, _said(item, name)) for name in ("a", "b", "c", "echo")}
        assert said["a"] < said["b"] < said["c"] < said["echo"], item.uid
        assert len({values["a"], values["b"], values["c"]}) == 3
        due, trap = (probe.key for probe in item.probes)
        relied_on[situation.due.old[rendering]] += 1
        assert due.m_new == trap.m_old, item.uid
        assert due.m_new.reveal() == _said(item, "c")
        assert trap.m_new.reveal() == _said(item, "echo")
    assert relied_on == {"a": 10, "b": 10}


@pytest.mark.parametrize("stress", [Stress.PARTIAL_SCOPE, Stress.CONDITIONAL, Stress.TWO_HOPS])
def test_both_probes_are_asked_over_the_same_later_remark(stress: Stress) -> None:
    for item in of(stress):
        due, trap = (probe.key for probe in item.probes)
        assert due.m_new == trap.m_new, item.uid
        assert due.old_value != trap.old_value or stress is Stress.PARTIAL_SCOPE


def test_what_tells_of_an_expiry_is_dated_after_the_stated_end_which_is_still_ahead_before() -> (
    None
):
    for item in of(Stress.EXPIRY):
        situation, rendering = situation_of(item)
        values = situation.values[rendering]
        end = date.fromisoformat(values["end"])
        due, trap = (probe.key for probe in item.probes)
        assert values["until"] in due.m_old.reveal(), item.uid
        assert day_of(item, trap.m_old.reveal()) < day_of(item, due.m_old.reveal()) < end
        assert day_of(item, due.m_new.reveal()) > end, item.uid
        assert due.m_old == trap.m_new
        assert due.old_value == trap.new_value


def test_a_second_hand_source_comes_last_and_repeats_the_ended_value() -> None:
    for item in of(Stress.CONFLICTING_SOURCES):
        due, trap = (probe.key for probe in item.probes)
        assert due.m_new == trap.m_old, item.uid
        assert day_of(item, trap.m_new.reveal()) > day_of(item, due.m_new.reveal())


def test_a_change_over_two_hops_names_three_steps() -> None:
    for item in of(Stress.TWO_HOPS):
        assert len(item.probes[0].key.causal_path) == 3, item.uid


def _m_new(probe: SuiteProbe) -> str:
    return probe.key.m_new.reveal()


def _m_old(probe: SuiteProbe) -> str:
    return probe.key.m_old.reveal()


def _question(probe: SuiteProbe) -> str:
    return probe.question


def _draft(probe: SuiteProbe) -> str:
    return probe.draft


Text = Callable[[SuiteProbe], str]


def balanced_accuracy(says_due: Callable[[str], bool], text: Text) -> float:
    """Of a rule or its opposite, whichever is better."""
    due = sum(says_due(text(probe)) for probe in probes_of("due")) / len(suite())
    trap = sum(says_due(text(probe)) for probe in probes_of("trap")) / len(suite())
    return 0.5 + abs(due - trap) / 2


def phrases(text: str) -> set[str]:
    words = re.findall(r"[\w']+", text.casefold())
    return {*words, *(" ".join(pair) for pair in pairwise(words))}


@pytest.mark.parametrize("text", [_m_new, _m_old, _question, _draft])
def test_no_word_or_pair_of_words_gives_away_which_probe_it_is(text: Text) -> None:
    found = {
        probe.name + item.uid: phrases(text(probe)) for item in suite() for probe in item.probes
    }
    due = Counter(p for name, of_ in found.items() if name.startswith("due") for p in of_)
    trap = Counter(p for name, of_ in found.items() if name.startswith("trap") for p in of_)
    best = max(due | trap, key=lambda phrase: abs(due[phrase] - trap[phrase]))
    assert 0.5 + abs(due[best] - trap[best]) / (2 * len(suite())) < GIVEAWAY, best


@pytest.mark.parametrize("text", [_m_new, _m_old, _question, _draft])
def test_no_length_gives_away_which_probe_it_is(text: Text) -> None:
    def longer_than(limit: int) -> Callable[[str], bool]:
        return lambda words: len(words.split()) > limit

    for limit in range(5, 60):
        assert balanced_accuracy(longer_than(limit), text) < GIVEAWAY, limit


def test_a_rule_of_change_words_does_not_pass() -> None:
    assert balanced_accuracy(lambda text: bool(CHANGE_WORDS.search(text)), _m_new) < GIVEAWAY


def test_no_other_session_holds_what_a_key_quotes() -> None:
    for item in suite():
        for probe in item.probes:
            for quoted in (_m_old(probe), _m_new(probe)):
                assert len(days_with(item, quoted)) == 1, item.uid


def test_the_frozen_items_are_the_generated_ones() -> None:
    assert load_suite(lifecycle.SUITE).items == suite()


def test_content_that_quotes_the_new_before_the_old_is_refused() -> None:
    first = situations(Stress.EXPIRY)[0]
    broken = first.model_dump(mode="json", exclude_none=True)
    broken["due"] |= {"old": "later", "new": "term"}
    with pytest.raises(ConfigError, match="the old before the new"):
        parse_content(yaml.safe_dump(broken, sort_keys=False), Situation, "broken.yaml")


def _said(item: SuiteItem, name: str) -> str:
    """The remark of this name as the history has it."""
    situation, rendering = situation_of(item)
    return sentence(situation.beats[name].form(item.register), **situation.values[rendering])


def test_a_key_is_not_shown_by_accident() -> None:
    key: ChangeKey = suite()[0].probes[0].key
    assert key.old_value.reveal() not in repr(suite()[0])
