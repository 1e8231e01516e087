"""A summary: pure, the same for any order of work, with failures apart and caveats along."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.results.summary import MAJORITY, Summary, labels, summarise
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.experiments.runs.spec import RunSpec, parse_spec
from stateauditor.signatures.judge import Rubric
from tests.experiments.records import CALL, item


def spec(**changes: Any) -> RunSpec:
    base = {"name": "x", "data": {"path": "d.json"}, "arm": "strict_vta", "draws": 100}
    return parse_spec(base | changes, source="test")


def summary(items: list[ItemRecord], **changes: Any) -> Summary:
    return summarise(spec(**changes), items, data="d.json", backend="loop")


def scores(of: Summary, judge: str, rubric: Rubric = Rubric.BENCHMARK) -> Any:
    return next(s for s in of.scores if (s.judge, s.rubric) == (judge, rubric))


def test_the_order_of_work_shows_nowhere() -> None:
    items = [item(f"u{n:03d}", judges={"a": n % 3 == 0, "b": True}) for n in range(1, 21)]
    expected = summary(items).model_dump_json()
    for seed in range(3):
        random.Random(seed).shuffle(items)
        assert summary(items).model_dump_json() == expected


def test_three_judges_have_a_majority_and_an_agreement() -> None:
    items = [item(f"u{n:03d}", judges={"a": True, "b": n > 2, "c": n > 1}) for n in range(1, 5)]
    found = summary(items)
    assert [s.judge for s in found.scores if s.rubric is Rubric.BENCHMARK] == [
        "a",
        "b",
        "c",
        MAJORITY,
    ]
    assert scores(found, MAJORITY).table.passed == 9, "u001 has one vote of three"
    assert found.agreement[Rubric.BENCHMARK].judges == ("a", "b", "c")
    assert found.agreement[Rubric.BENCHMARK].percent == 0.5


def test_one_judge_has_no_majority() -> None:
    found = summary([item("u001", judges={"a": True})])
    assert {s.judge for s in found.scores} == {"a"}
    assert found.agreement == {}


def test_failures_are_counted_apart_and_in_no_rate() -> None:
    items = [
        item("u001", judges={"a": True}),
        item("u002", probes={}, error="HTTP 500"),
        item("u003", judges={"a": True}),
    ]
    found = summary(items)
    assert (found.scenarios, found.errors, found.probes) == (3, 1, 6)
    table = scores(found, "a").table
    assert (table.n, table.passed, table.errors) == (6, 6, 3)


def test_a_run_without_a_judge_has_no_accuracy() -> None:
    found = summary([item("u001")])
    assert (found.scores, found.key, found.recall) == ((), None, None)


def test_a_run_without_a_record_has_a_summary_too() -> None:
    found = summary([])
    assert (found.scenarios, found.probes, found.cost.total.calls) == (0, 0, 0)


def test_controls_are_scored_by_no_judge() -> None:
    found = summary([item("u001", judges={"a": True}), item("c001", control=True)])
    assert (found.scenarios, found.controls) == (1, 1)
    assert scores(found, "a").table.scenarios == 1
    assert found.directives_on_controls is not None
    assert summary([item("u001")]).directives_on_controls is None


def test_calls_outside_the_audits_count_but_are_on_no_path() -> None:
    judged = CALL.model_copy(update={"role": "stale_judgment", "seconds": 100.0})
    found = summary([item("u001", calls=(judged,))])
    assert found.cost.total.calls == 4
    assert found.cost.latency.mean == 1.5


@pytest.mark.parametrize(
    ("changes", "backend", "label"),
    [
        ({}, "offline (lexical rules)", "a floor, no model"),
        ({"arm": "joint_vta", "protocol": "scenario_joint"}, "x", "privileged upper bound"),
        (
            {"arm": "strict_vta", "protocol": "scenario_joint", "channels": ["drafts"]},
            "x",
            "channels between probes (drafts): privileged",
        ),
        ({"labels": "nli"}, "x", "ablation: entailment labels"),
        ({"rewrite": "untyped"}, "x", "ablation: untyped rewrite"),
        ({"validation": False}, "x", "ablation: no validation"),
        ({"verified_only": False}, "x", "ablation: base verdicts fire beside"),
        ({"expand_evidence": False}, "x", "ablation: no evidence expansion"),
        ({"memory": "oracle"}, "x", "oracle memory: development only"),
        ({"data": {"set": "stale_mini"}}, "x", "no Stale result"),
    ],
)
def test_caveats_go_with_a_run(changes: dict[str, Any], backend: str, label: str) -> None:
    assert any(label in found for found in labels(spec(**changes), backend))
    assert labels(spec(), "loop") == ()


def test_the_summary_reads_back(tmp_path: Path) -> None:
    found = summary([item("u001", judges={"a": True})])
    assert Summary.model_validate_json(found.model_dump_json()) == found
