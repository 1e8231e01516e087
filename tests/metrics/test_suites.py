"""The suites' rates: what counts as right, by regime, category, policy and explicitness."""

from __future__ import annotations

from typing import Any

import pytest

from stateauditor.metrics.key_judge import KeyFindings
from stateauditor.metrics.records import Rate
from stateauditor.metrics.suites import (
    POOLED,
    SuiteOutcome,
    lifecycle_rates,
    safety_rates,
)
from stateauditor.signatures.models import Policy


def outcome(
    uid: str = "i1",
    group: str = "true_change",
    *,
    control: bool = False,
    true_repair: bool = False,
    other_repair: bool = False,
    verifies: int = 0,
    rewritten: bool = False,
    **more: Any,
) -> SuiteOutcome:
    findings = KeyFindings(
        uid=uid,
        control=control,
        stale_premise=False,
        true_transition=False,
        true_repair=true_repair,
        false_invalidation=other_repair or (control and true_repair),
        off_target=0,
        repairs=int(true_repair) + int(other_repair),
        verifies=verifies,
        rewritten=rewritten,
    )
    values = {
        "explicitness": "explicit",
        "probe": "probe",
        "policy": Policy.REPAIR_ONLY,
        "material_stale": true_repair or other_repair,
        "failed_open": False,
    } | more
    return SuiteOutcome(uid=uid, group=group, findings=findings, **values)


def counts(rate: Rate) -> tuple[int, int]:
    return rate.hits, rate.n


def test_a_change_is_right_where_the_keyed_one_is_repaired() -> None:
    assert outcome(true_repair=True).right
    assert outcome(true_repair=True, other_repair=True).right
    assert not outcome(other_repair=True).right
    assert not outcome(verifies=1).right


def test_where_nothing_is_due_any_repair_is_wrong_and_a_question_is_not() -> None:
    assert outcome(control=True).right
    assert outcome(control=True, verifies=2, rewritten=True).right
    assert not outcome(control=True, other_repair=True).right
    assert not outcome(control=True, true_repair=True).right


def test_safety_rates_by_regime_and_explicitness() -> None:
    outcomes = [
        outcome("a", true_repair=True, rewritten=True),
        outcome("b", explicitness="implicit"),
        outcome("c", "additive", control=True, other_repair=True, rewritten=True),
        outcome("d", "additive", control=True, verifies=1, rewritten=True),
        outcome("e", "reverted", control=True, failed_open=True, explicitness="implicit"),
    ]
    (rates,) = safety_rates(outcomes)
    assert rates.policy is Policy.REPAIR_ONLY
    assert counts(rates.true_change_recall) == (1, 2)
    assert counts(rates.false_invalidation) == (1, 3)
    assert [regime.regime for regime in rates.regimes] == ["true_change", "additive", "reverted"]
    additive = rates.regimes[1]
    assert counts(additive.recall) == (0, 0)
    assert counts(additive.false_stale) == (1, 2)
    assert counts(additive.repair) == (1, 2)
    assert counts(additive.rewritten) == (2, 2)
    assert counts(additive.verify) == (1, 2)
    assert counts(rates.conflict_free.failed_open) == (1, 3)
    by_name = {name: (changes, free) for name, changes, free in rates.by_explicitness}
    assert counts(by_name["explicit"][0].recall) == (1, 1)
    assert counts(by_name["implicit"][0].recall) == (0, 1)
    assert counts(by_name["implicit"][1].repair) == (0, 1)
    low, high = rates.true_change_recall.low, rates.true_change_recall.high
    assert low is not None
    assert high is not None
    assert 0 < low < 0.5 < high < 1


def test_policies_are_apart_and_in_a_fixed_order() -> None:
    outcomes = [
        outcome(policy=Policy.FULL, true_repair=True),
        outcome(policy=Policy.OBSERVE),
    ]
    first, second = safety_rates(outcomes)
    assert (first.policy, second.policy) == (Policy.OBSERVE, Policy.FULL)
    assert counts(first.true_change_recall) == (0, 1)
    assert counts(second.true_change_recall) == (1, 1)
    assert safety_rates(reversed(outcomes)) == (first, second)


def scenario(uid: str, *, due: bool, trap: bool, group: str = "chain") -> list[SuiteOutcome]:
    return [
        outcome(uid, group, probe="due", true_repair=due),
        outcome(uid, group, probe="trap", control=True, other_repair=not trap),
    ]


def test_a_scenario_is_solved_where_both_of_its_probes_are() -> None:
    outcomes = [
        *scenario("a", due=True, trap=True),
        *scenario("b", due=True, trap=False),
        *scenario("c", due=False, trap=True, group="expiry"),
    ]
    (rates,) = lifecycle_rates(outcomes)
    assert rates.pooled.category == POOLED
    assert counts(rates.pooled.due_solved) == (2, 3)
    assert counts(rates.pooled.trap_kept) == (2, 3)
    assert counts(rates.pooled.solved) == (1, 3)
    assert [(c.category, counts(c.solved)) for c in rates.categories] == [
        ("chain", (1, 2)),
        ("expiry", (0, 1)),
    ]
    assert counts(rates.by_explicitness[0].verify) == (0, 6)


def test_a_repair_of_something_else_is_counted_apart_on_due_probes() -> None:
    outcomes = scenario("a", due=True, trap=True)
    outcomes[0] = outcome("a", "chain", probe="due", true_repair=True, other_repair=True)
    (rates,) = lifecycle_rates(outcomes)
    assert counts(rates.pooled.off_target) == (1, 1)
    assert counts(rates.pooled.solved) == (1, 1)


@pytest.mark.parametrize("missing", [0, 1])
def test_a_scenario_with_a_failed_probe_is_in_no_rate_of_scenarios(missing: int) -> None:
    outcomes = scenario("a", due=True, trap=True)
    del outcomes[missing]
    (rates,) = lifecycle_rates([*outcomes, *scenario("b", due=True, trap=True)])
    assert counts(rates.pooled.solved) == (1, 1)
    assert rates.pooled.due_solved.n + rates.pooled.trap_kept.n == 3


def test_no_outcome_gives_no_figure() -> None:
    assert safety_rates([]) == ()
    assert lifecycle_rates([]) == ()
