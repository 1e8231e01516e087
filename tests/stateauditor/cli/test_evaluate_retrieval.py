"""``stateauditor evaluate`` for configs of kind ``retrieval``."""

from pathlib import Path

from stateauditor.experiments.retrieval.ladder import RetrievalReport
from tests.stateauditor.cli.conftest import Run


def test_retrieval_is_measured_alone_with_no_lm(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("evaluate", "retrieval", "--limit", "1", "--set", "budgets=[900]", "--out", out)
    assert done.status == 0
    assert "plain BM25" in done.out
    assert "steps i-iv" in done.out
    assert (out / "retrieval.json").is_file()


def test_the_report_is_also_json(run: Run) -> None:
    done = run("evaluate", "retrieval", "--limit", "1", "--set", "budgets=[900]", "--json")
    assert RetrievalReport.model_validate(done.json()).scenarios == 1


def test_a_wrong_key_is_named_with_what_was_meant(run: Run) -> None:
    done = run("evaluate", "retrieval", "--set", "budget=3")
    assert done.status == 2
    assert "did you mean 'budgets'?" in done.err
