"""Sums without holes, and the wait on the critical path."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.metrics import cost_summary, critical_path, latency, scenario_path
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import CallRecord


def call(
    role: str,
    seconds: float,
    *,
    cost: float | None = 0.01,
    cached: bool = False,
    error: str | None = None,
) -> CallRecord:
    return CallRecord(
        role=role,
        model="m",
        input_tokens=100,
        output_tokens=10,
        cost=cost,
        seconds=seconds,
        cached=cached,
        error=error,
    )


STAGES: dict[str, int | None] = {
    "response_generation": None,
    "premise_extraction": 1,
    "presupposition_extraction": 1,
    "timeline_construction": 1,
    "transition_proposal": 1,
    "lean_audit": 1,
    "premise_adjudication": 2,
    "draft_consistency": 2,
    "response_adaptation": 5,
    "stale_judgment": None,
}
STRICT = [
    call("premise_extraction", 1.0),
    call("presupposition_extraction", 1.5),
    call("timeline_construction", 2.0),
    call("transition_proposal", 3.0),
    call("premise_adjudication", 1.0),
    call("draft_consistency", 0.5),
    call("response_adaptation", 2.0),
]


def test_the_path_is_the_slowest_call_of_each_stage() -> None:
    assert critical_path(STRICT, STAGES) == pytest.approx(3.0 + 1.0 + 2.0)


def test_a_retry_waits_for_what_it_repeats() -> None:
    calls = [*STRICT, call("timeline_construction", 2.0, error="unreadable")]
    assert critical_path(calls, STAGES) == pytest.approx(4.0 + 1.0 + 2.0)


def test_no_calls_are_no_wait() -> None:
    assert critical_path([], STAGES) == 0.0
    assert scenario_path([], STAGES) == 0.0


def test_generator_and_judge_are_off_the_audits_path() -> None:
    outside = [call("response_generation", 60.0), call("stale_judgment", 60.0)]
    assert critical_path([*STRICT, *outside], STAGES) == pytest.approx(6.0)


def test_a_role_without_a_known_stage_is_refused() -> None:
    with pytest.raises(InputError, match="no stage is known for role 'translation'; known: resp"):
        critical_path([call("translation", 60.0)], STAGES)
    assert critical_path([call("translation", 60.0)], {"translation": 1}) == 60.0


def test_strict_probes_run_together_and_the_slowest_counts() -> None:
    assert scenario_path([STRICT, [call("lean_audit", 9.0)], []], STAGES) == 9.0


def test_joint_probes_wait_for_each_other_at_every_stage() -> None:
    other = [call("timeline_construction", 5.0), call("draft_consistency", 0.1)]
    assert scenario_path([STRICT, other], STAGES) == pytest.approx(6.0)
    assert scenario_path([STRICT, other], STAGES, joint=True) == pytest.approx(5.0 + 1.0 + 2.0)


def test_paid_and_replayed_calls_are_kept_apart() -> None:
    found = cost_summary(
        [
            [[call("lean_audit", 1.0), call("response_adaptation", 1.0, cached=True)], []],
            [[call("lean_audit", 4.0, cached=True, error="timeout")]],
        ],
        STAGES,
    )
    assert (found.scenarios, found.total.calls, found.failed_calls) == (2, 3, 1)
    assert (found.usage.paid.calls, found.usage.cached.calls) == (1, 2)
    assert found.usage.cached.cost == pytest.approx(0.02)
    assert (found.mean_calls, found.mean_tokens) == (1.5, 165.0)
    assert found.mean_cost == pytest.approx(0.015)
    assert (found.latency.mean, found.latency.p50) == (3.0, 3.0)
    assert found.latency.p95 == pytest.approx(3.9)
    assert [(r.role, r.total.calls, r.failed) for r in found.roles] == [
        ("lean_audit", 2, 1),
        ("response_adaptation", 1, 0),
    ]


def test_one_unknown_cost_leaves_the_sum_unknown() -> None:
    found = cost_summary([[[call("lean_audit", 1.0), call("lean_audit", 1.0, cost=None)]]], STAGES)
    assert (found.total.cost, found.mean_cost) == (None, None)
    assert found.mean_tokens == 220.0


def test_no_scenarios_have_no_means() -> None:
    found = cost_summary([], STAGES)
    assert (found.mean_calls, found.mean_tokens, found.mean_cost) == (None, None, None)
    assert (found.latency.mean, found.latency.p95) == (None, None)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_latency_does_not_depend_on_the_order_of_work(
    seconds: list[float], rng: random.Random
) -> None:
    assert latency(rng.sample(seconds, len(seconds))) == latency(seconds)
