"""Injection as it is run: counts, the table, and outputs that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stateauditor.data.suites.cases import CaseKind
from stateauditor.data.suites.injection import LIMIT_TITLE
from stateauditor.data.suites.registry import SUITES, load_suite
from stateauditor.experiments.suites import injection
from stateauditor.experiments.suites.injection import (
    PARSE_RULE,
    CaseResult,
    injection_table,
    run_injection,
    summarise_injection,
)
from stateauditor.experiments.suites.parse_failures import RIGHT, ParseCase, outputs, parse_cases
from stateauditor.signatures.models import AuditResult
from tests.data.suites.builders import suite_items

ITEMS = suite_items()


@pytest.fixture(scope="module")
def results() -> list[CaseResult]:
    return list(run_injection(ITEMS))


def test_every_case_comes_out_as_it_must(results: list[CaseResult]) -> None:
    summary = summarise_injection(results, items=len(ITEMS))
    assert summary.wrong == ()
    assert summary.passed
    for rate in (summary.violations, summary.controls, summary.limit):
        assert rate.n > 0
        assert rate.hits == rate.n
    assert sum(row.cases for row in summary.rows) == len(results)


def test_the_table_has_the_limit_as_its_last_block(results: list[CaseResult]) -> None:
    text = injection_table(summarise_injection(results, items=len(ITEMS)))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert "rejected for the right reason" in rows[2]
    assert LIMIT_TITLE in rows[-2]
    assert rows[-1].startswith("| all: valid, and nothing has changed")
    assert "a proposer that sends them is not stopped" in text


def test_a_case_that_goes_the_wrong_way_is_named(results: list[CaseResult]) -> None:
    wrong = results[0].model_copy(update={"right": False})
    summary = summarise_injection([wrong, *results[1:]], items=len(ITEMS))
    assert not summary.passed
    assert summary.wrong == (wrong.id,)
    assert summary.violations.hits == summary.violations.n - 1
    assert f"- {wrong.id}" in injection_table(summary)


def test_the_order_of_the_results_changes_no_figure(results: list[CaseResult]) -> None:
    one = summarise_injection(results, items=4)
    assert summarise_injection(results[::-1], items=4) == one


@pytest.fixture(scope="module")
def unreadable() -> dict[str, ParseCase]:
    return {case.name: case for case in parse_cases(ITEMS[0], ITEMS[0].probes[0])}


@pytest.mark.parametrize("name", list(outputs(ITEMS[0].probes[0])))
def test_output_that_cannot_be_read_authorizes_nothing(
    unreadable: dict[str, ParseCase], name: str
) -> None:
    case = unreadable[name]
    assert case.right
    if name == RIGHT:
        assert case.result.response == "This reply was rewritten."
    else:
        assert case.result.response == ITEMS[0].probes[0].draft
        assert case.result.directives == ()


def test_a_reply_that_was_changed_without_authority_is_no_right_outcome(
    unreadable: dict[str, ParseCase],
) -> None:
    well = unreadable[RIGHT]
    assert not ParseCase("empty", well.base, well.result).right
    untouched: AuditResult = well.result.model_copy(update={"changed": False})
    assert not ParseCase(RIGHT, well.base, untouched).right


def test_unreadable_output_is_a_rule_of_the_table(results: list[CaseResult]) -> None:
    parsed = [result for result in results if result.rule == PARSE_RULE]
    assert {result.kind for result in parsed} == {CaseKind.VIOLATION, CaseKind.CONTROL}
    assert len(parsed) == 2 * len(outputs(ITEMS[0].probes[0]))


def test_the_published_suites_show_the_gates_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of each suite; the counts of the whole are in docs/evaluation.md."""
    from dataclasses import replace

    def tenth(name: str) -> object:
        whole = load_suite(name)
        return replace(whole, items=whole.items[::10])

    monkeypatch.setattr(injection, "load_suite", tenth)
    summary = injection.inject(tmp_path / "out")
    assert summary.wrong == ()
    assert summary.violations.n > 800
    assert summary.controls.n > 300
    assert summary.limit.n > 35
    written = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert set(written["suites"]) == set(SUITES)
    cases = (tmp_path / "out" / "cases.jsonl").read_text().splitlines()
    assert len(cases) == sum(row.cases for row in summary.rows)
    assert (tmp_path / "out" / "table.md").read_text() == injection_table(summary)
