"""Retrieval measured alone: the ladder, the baseline, and specs that are refused."""

import io
import json
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from stateauditor.experiments.retrieval.ladder import (
    PLAIN,
    RetrievalReport,
    measure_retrieval,
    parse_retrieval_spec,
    retrieval_table,
    write_retrieval,
)
from stateauditor.experiments.runs.config_files import shipped
from stateauditor.signatures.errors import ConfigError

SPEC = {"name": "r", "data": {"set": "stale_mini", "limit": 2}, "budgets": [600, 5700]}


@pytest.fixture(scope="module")
def report() -> RetrievalReport:
    return measure_retrieval(parse_retrieval_spec(SPEC, source="here"))


def test_the_ladder_starts_from_plain_bm25_and_switches_the_steps_on(
    report: RetrievalReport,
) -> None:
    names = [(rung.budget, rung.retriever) for rung in report.rungs]
    steps = ["steps i", "steps i-ii", "steps i-iii", "steps i-iv", "all, filled"]
    assert names == [(b, name) for b in (600, 5700) for name in (PLAIN, *steps)]
    assert report.scenarios == 2
    assert all(rung.recall.overall.pair.n == 6 for rung in report.rungs)


def test_no_readout_passes_its_budget(report: RetrievalReport) -> None:
    for rung in report.rungs:
        assert rung.recall.overall.mean_tokens is not None
        assert rung.recall.overall.mean_tokens <= rung.budget


def test_update_disclosures_find_more_than_words_do(report: RetrievalReport) -> None:
    by_name = {(r.budget, r.retriever): r.recall.overall.pair.hits for r in report.rungs}
    assert by_name[5700, "steps i-iv"] > by_name[5700, "steps i"]


def test_all_but_the_time_is_the_same_again(report: RetrievalReport) -> None:
    again = measure_retrieval(parse_retrieval_spec(SPEC, source="here"))

    def timeless(one: RetrievalReport) -> list[object]:
        return [rung.model_copy(update={"milliseconds": 0.0}) for rung in one.rungs]

    assert timeless(again) == timeless(report)


def test_progress_is_told_scenario_by_scenario() -> None:
    seen: list[tuple[int, int]] = []
    spec = parse_retrieval_spec({**SPEC, "budgets": [600]}, source="here")
    measure_retrieval(spec, lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_the_table_and_the_file_hold_every_rung(report: RetrievalReport, tmp_path: Path) -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(retrieval_table(report))
    text = console.export_text()
    assert text.count("plain BM25") == 2
    assert "steps i-iv" in text
    written = json.loads(write_retrieval(report, tmp_path / "out").read_text("utf-8"))
    assert RetrievalReport.model_validate(written) == report


def test_a_wrong_spec_lists_every_problem() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_retrieval_spec({"name": "r", "budget": [1], "data": {}}, source="file.yaml")
    assert "file.yaml: 2 problem(s)" in str(caught.value)
    assert "did you mean 'budgets'?" in str(caught.value)


def test_the_shipped_config_is_valid() -> None:

    path = shipped()["retrieval"]
    spec = parse_retrieval_spec(yaml.safe_load(path.read_text("utf-8")), source=str(path))
    assert spec.budgets == (2000, 5700)
