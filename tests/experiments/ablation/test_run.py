"""Grids against a model on loopback: what is shared is paid for once, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from stateauditor.experiments.ablation.grid import load_grid
from stateauditor.experiments.ablation.outcome import GridOutcome, outcome, settings_text
from stateauditor.experiments.ablation.report import grid_text, write_grid
from stateauditor.experiments.ablation.run import run_grid
from stateauditor.experiments.results.summary import summary_of
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.signatures.errors import ConfigError, InputError
from tests.experiments.ablation import grids
from tests.experiments.pipeline import roles
from tests.support.loopback import Loopback, loopback

run = partial(run_grid, reports=False)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(grids.respond) as running:
        yield running


def paid(folder: Path) -> float:
    """What a run paid, in US dollars."""
    return summary_of(RunFolder(folder)).cost.usage.paid.cost or 0.0


def test_cells_are_paired_on_shared_work_that_is_paid_for_once(
    tmp_path: Path, server: Loopback
) -> None:
    done = run(load_grid(grids.write_grid(tmp_path, server)), tmp_path / "out")
    assert done.stopped is None
    assert list(done.finished) == ["full", *grids.CELLS]
    # Four scenarios of three probes: one draft and one base audit each, but for the
    # entailment labels, which need an audit of their own.
    counts = roles(server.requests)
    assert counts["ResponseGeneration"] == 12
    assert counts["PremiseAdjudication"] == 12
    assert counts["PremiseEntailment"] == 12
    assert counts["PremiseExtraction"] == counts["TimelineConstruction"] == 24
    assert counts["SelfCritique"] == 12
    assert counts["StaleJudgment"] == 4 * 6
    drafts = [grids.drafts_in(tmp_path / "out" / name) for name in ("shared", *done.finished)]
    assert all(other == drafts[0] for other in drafts)
    found = outcome(done)
    assert found.judged
    assert found.shared_calls == 3 + 15
    by_name = {cell.name: cell for cell in found.cells}
    assert by_name["full"].against is None
    assert by_name["full"].calls == 3 + 3 + 1
    assert by_name["no_proposal"].calls == 3 + 1
    untouched = by_name["critic"].score
    assert untouched.estimate is not None


def test_the_same_records_give_the_same_bytes(tmp_path: Path, server: Loopback) -> None:
    texts = []
    path = grids.write_grid(tmp_path, server, scenarios=2, cells={"u": {"rewrite": "untyped"}})
    for name in ("one", "two"):
        done = run(load_grid(path), tmp_path / name)
        paths = write_grid(outcome(done), tmp_path / name)
        texts.append([path.read_bytes() for path in paths])
    assert texts[0] == texts[1]


def test_a_grid_that_stopped_goes_on_and_ends_like_one_that_did_not(
    tmp_path: Path, server: Loopback
) -> None:
    path = grids.write_grid(tmp_path, server, cells={"untyped": {"rewrite": "untyped"}})
    whole = run(load_grid(path), tmp_path / "whole")
    calls = len(server.requests)
    spent = sum(paid(tmp_path / "whole" / name) for name in ("shared", "full"))
    capped = load_grid(path, [f"max_cost={spent * 0.7}"])
    server.requests.clear()
    stopped = run(capped, tmp_path / "part")
    assert stopped.stopped is not None
    assert "max_cost" in stopped.stopped
    assert "full" not in stopped.finished or "untyped" not in stopped.finished
    rest = run(load_grid(path), tmp_path / "part", resume=True)
    assert len(server.requests) == calls
    assert grid_text(outcome(rest)) == grid_text(outcome(whole))


def test_a_folder_with_a_grid_is_not_written_over(tmp_path: Path, server: Loopback) -> None:
    path = grids.write_grid(tmp_path, server, scenarios=1, cells={"a": {"skeptic": True}})
    run(load_grid(path), tmp_path / "out")
    with pytest.raises(ConfigError, match="add --resume"):
        run(load_grid(path), tmp_path / "out")
    with pytest.raises(ConfigError, match="holds a grid with other settings"):
        run(load_grid(path, ["cells.a.skeptic=false"]), tmp_path / "out", resume=True)


def test_a_grid_whose_first_run_could_not_begin_is_begun_again(
    tmp_path: Path, server: Loopback
) -> None:
    path = grids.write_grid(tmp_path, server, scenarios=1, cells={"a": {"arm": "lean"}})
    (tmp_path / "data.json").rename(tmp_path / "away.json")
    with pytest.raises(InputError, match="no such file"):
        run(load_grid(path), tmp_path / "out")
    (tmp_path / "away.json").rename(tmp_path / "data.json")
    assert run(load_grid(path), tmp_path / "out").stopped is None


def test_a_wrong_cell_stops_the_grid_before_anything_is_paid(
    tmp_path: Path, server: Loopback
) -> None:
    path = grids.write_grid(tmp_path, server, cells={"a": {"skeptics": True}})
    with pytest.raises(ConfigError, match="skeptics"):
        run(load_grid(path), tmp_path / "out")
    assert not server.requests
    assert not (tmp_path / "out").exists()


def offline(tmp_path: Path, cells: dict[str, dict[str, object]]) -> GridOutcome:
    """A grid on the first scenarios of the bundled slice, by lexical rules."""
    path = tmp_path / "g.yaml"
    path.write_text(f"base: {{}}\ncells: {cells}\n", "utf-8")
    grid = load_grid(
        path,
        [
            "base.data={set: stale_mini, part: both, limit: 1}",
            "base.arm=strict_vta",
            "base.drafts=stale_drafts",
            "base.judges=[key]",
            "base.draws=200",
            "base.tracking=false",
        ],
    )
    return outcome(run(grid, tmp_path / "out"))


def test_without_a_judge_the_key_scores_and_says_so(tmp_path: Path) -> None:
    found = offline(tmp_path, {"gate": {"semantic_gate": True}})
    assert (found.measure, found.judged) == ("true-change recall", False)
    text = grid_text(found)
    assert "not Stale accuracy" in text
    assert "no figure here is a Stale accuracy" in text
    assert "a floor, no model" in text
    assert all(cell.false_invalidation is not None for cell in found.cells)


def test_a_baseline_without_a_judge_is_scored_by_the_words_of_replies(tmp_path: Path) -> None:
    found = offline(tmp_path, {"summary": {"arm": "cupmem_summary"}})
    assert found.measure == "replies that name the new value"
    assert "lexical proxy" in found.label
    full, summary = found.cells
    assert full.false_invalidation is not None
    assert summary.false_invalidation is None
    assert summary.controls_rewritten is not None
    assert summary.controls_rewritten.value == 1.0  # it answers anew, whatever the draft says


def test_what_a_cell_changes_reads_like_settings() -> None:
    changed = {"retrieval": {"antecedents": False}, "channels": ["drafts"], "arm": "lean"}
    assert settings_text(changed) == "retrieval.antecedents=false, channels=[drafts], arm=lean"
