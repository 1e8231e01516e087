"""Which candidate is the best so far."""

from __future__ import annotations

from typing import Any

import pytest

from stateauditor.experiments.compile.board import Board, state_key
from stateauditor.experiments.compile.meter import CompileStopped, Meter
from stateauditor.signatures.models import CallRecord, Failure


def states(instructions: str, *demos: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"role": {"ask": {"signature": {"instructions": instructions}, "demos": list(demos)}}}


def test_a_candidate_is_what_its_prompts_say() -> None:
    board = Board(states("a"), validation=2)
    assert board.candidate(states("a")) is board.baseline
    assert board.candidate(states("b")).number == 1
    assert board.candidate(states("a", {"q": 1})).number == 2
    assert state_key(states("a", {"q": 1})) != state_key(states("a"))


def test_the_best_is_chosen_by_the_whole_validation_part() -> None:
    board = Board(states("a"), validation=2)
    assert board.best() is None
    partly, fully = board.candidate(states("b")), board.candidate(states("c"))
    board.note(partly.key, ("u1", "SR"), 1.0, train=False)
    for dimension in ("SR", "PR"):
        board.note(fully.key, ("u1", dimension), 0.4, train=False)
        board.note(board.baseline.key, ("u1", dimension), 1.0, train=False)
    assert board.best() is fully
    assert not board.validated(partly)


def test_without_validation_the_training_part_decides() -> None:
    board = Board(states("a"), validation=2)
    lucky, wide = board.candidate(states("b")), board.candidate(states("c"))
    board.note(lucky.key, ("u1", "SR"), 1.0, train=True)
    for dimension in ("SR", "PR", "IPA"):
        board.note(wide.key, ("u1", dimension), 0.6, train=True)
    assert board.best() is wide, "one lucky probe is not most of the part"


def test_failed_probes_are_remembered_apart_until_they_succeed() -> None:
    board = Board(states("a"), validation=1)
    board.note(board.baseline.key, ("u1", "SR"), 0.0, train=False, failed=True)
    assert board.baseline.failed == {("u1", "SR")}
    board.note(board.baseline.key, ("u1", "SR"), 1.0, train=False)
    assert board.baseline.failed == set()
    board.note("unknown", ("u1", "SR"), 1.0, train=False)
    assert board.baseline.mean("train") is None


# --- the meter ------------------------------------------------------------------------


def call(cost: float | None, *, cached: bool = False) -> CallRecord:
    return CallRecord(role="r", model="m", cost=cost, cached=cached)


def test_audits_in_flight_count_towards_the_cap() -> None:
    meter = Meter(max_cost=1.0)
    meter.begin()
    meter.end([call(0.4)])
    meter.begin()
    with pytest.raises(CompileStopped, match=r"could pass max_cost = 1\.0"):
        meter.begin()
    meter.end([call(0.4)])
    with pytest.raises(CompileStopped):
        meter.begin()
    assert meter.paid == 0.8


def test_replayed_calls_cost_nothing_but_are_counted() -> None:
    meter = Meter(max_cost=0.5)
    meter.begin()
    meter.end([call(9.0, cached=True)])
    meter.begin()
    assert meter.paid == 0
    assert meter.totals.calls == 1


def test_the_prompt_lms_calls_are_paid_too() -> None:
    meter = Meter(max_cost=0.5, prompt_calls=[call(0.6)])
    assert meter.paid == 0.6
    with pytest.raises(CompileStopped):
        meter.begin()


def test_a_stop_is_no_exception_that_optimizers_swallow() -> None:
    assert not issubclass(CompileStopped, Exception)
    meter = Meter()
    meter.stop("first")
    meter.stop("second")
    with pytest.raises(CompileStopped, match="first"):
        meter.begin()


def test_too_many_failures_end_it() -> None:
    meter = Meter(max_errors=1)
    for _ in range(2):
        meter.begin()
        meter.end([], [Failure(role="lean_audit", reason="timed out")])
    with pytest.raises(CompileStopped, match="lean_audit: timed out"):
        meter.begin()
