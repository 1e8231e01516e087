"""``stateauditor ablate`` at the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.experiments.ablation import grids
from tests.stateauditor.cli.conftest import Run
from tests.support.loopback import Loopback, loopback


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(grids.respond) as running:
        yield running


def test_one_table_and_one_chart(run: Run, tmp_path: Path, server: Loopback) -> None:
    cells = {"untyped": {"rewrite": "untyped"}}
    path = grids.write_grid(tmp_path, server, scenarios=2, cells=cells)
    out = tmp_path / "out"
    done = run("ablate", path, "--out", out)
    assert done.status == 0
    assert "[1/3] shared" in done.err
    assert "rewrite=untyped" in done.out
    assert done.out.startswith((out / "table.md").read_text("utf-8"))
    for name in ("differences.svg", "differences.png", "ablation.json", "full/report.html"):
        assert (out / name).stat().st_size > 0
    drawn = (out / "full" / "report.html").stat().st_mtime_ns
    again = run("ablate", out / "grid.yaml", "--out", out, "--resume", "--json").json()
    assert (out / "full" / "report.html").stat().st_mtime_ns == drawn, "nothing new to report"
    assert [cell["name"] for cell in again["cells"]] == ["full", "untyped"]
    assert again["stopped"] is None


def test_a_grid_that_stops_early_says_how_to_go_on(
    run: Run, tmp_path: Path, server: Loopback
) -> None:
    path = grids.write_grid(tmp_path, server, cells={"untyped": {"rewrite": "untyped"}})
    done = run("ablate", path, "--out", tmp_path / "out", "--set", "max_cost=0.000001")
    assert done.status == 1
    assert "shared stopped after" in done.err
    assert "--resume" in done.err


def test_the_bundled_slice_needs_no_key(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text("base: {arm: strict_vta}\ncells: {no_proposal: {arm: predecessor}}\n", "utf-8")
    done = run("ablate", path, "--offline", "--limit", 1, "--out", tmp_path / "out")
    assert done.status == 0
    assert "no figure here is a Stale accuracy" in done.out
    assert "arm=predecessor" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "there is no such config; shipped ones"),
        (("channels", "--resume"), "--resume needs --out"),
        (("channels", "--set", "base.arm=stric_vta", "--out", "x"), "base"),
    ],
)
def test_a_mistake_is_one_message(run: Run, arguments: tuple[str, ...], message: str) -> None:
    done = run("ablate", *arguments)
    assert done.status == 2
    assert message in done.err
    assert "Traceback" not in done.err
