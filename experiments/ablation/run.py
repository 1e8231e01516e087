"""Runs a grid: the shared run first, then the base, then each cell, each resumable by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stateauditor.experiments.ablation.grid import (
    SHARED,
    GridSpec,
    Plan,
    dump_grid,
    load_grid,
    plan,
)
from stateauditor.experiments.results.tracking import track
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.loop import Progress, Watcher
from stateauditor.experiments.runs.runner import Finished, run
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.signatures.errors import ConfigError

GRID_FILE = "grid.yaml"


@dataclass(frozen=True)
class GridRun:
    """A grid as far as it got; ``stopped`` says why it ended early, ``troubles`` what MLflow said.

    ``finished`` has the complete runs by name, the shared one left out.
    """

    plan: Plan
    shared: RunFolder
    finished: dict[str, RunFolder]
    stopped: str | None
    troubles: tuple[str, ...]


def run_grid(
    grid: GridSpec,
    out: Path,
    *,
    resume: bool = False,
    source: str = "grid",
    reports: bool = True,
    begin: Callable[[str, int, int], Watcher] = lambda name, number, of: lambda progress: None,
) -> GridRun:
    """Run what is not complete yet; ``begin`` is told of each run and watches it.

    With ``reports`` each run gets its own tables and page, and is tracked.

    Raises :class:`ConfigError` before any work where the grid is wrong, or the folder
    holds another one.
    """
    planned = plan(grid, out, source=source)
    _open(out, grid, resume=resume)
    finished: dict[str, RunFolder] = {}
    troubles: list[str] = []
    paid = 0.0
    every = {SHARED: planned.shared, **planned.runs}
    for number, (name, spec) in enumerate(every.items(), start=1):
        folder = RunFolder(out / name)
        watch = begin(name, number, len(every))
        done = run(
            _capped(spec, planned.max_cost, paid), folder.path, resume=folder.exists(), watch=watch
        )
        paid += done.progress.paid.cost or 0.0
        if not done.complete:
            return GridRun(planned, RunFolder(out / SHARED), finished, _why(done), tuple(troubles))
        if name != SHARED:
            finished[name] = folder
            trouble = _reported(folder, spec) if reports and _outdated(folder) else None
            troubles += [] if trouble is None else [f"{name}: {trouble}"]
    return GridRun(planned, RunFolder(out / SHARED), finished, None, tuple(troubles))


def _open(out: Path, grid: GridSpec, *, resume: bool) -> None:
    """Write the grid into its folder, or check that the one begun there fits."""
    path = out / GRID_FILE
    if RunFolder(out / SHARED).exists():
        if not resume:
            raise ConfigError(
                f"{out} holds a grid already; add --resume to go on with it, "
                "or choose another --out"
            )
        # A cap changes no answer, and one that was reached is what people raise.
        if load_grid(path).model_copy(update={"max_cost": grid.max_cost}) != grid:
            raise ConfigError(
                f"{out} holds a grid with other settings; resume it with its own {GRID_FILE}"
            )
    out.mkdir(parents=True, exist_ok=True)
    path.write_text(dump_grid(grid), "utf-8")


def _capped(spec: RunSpec, cap: float | None, paid: float) -> RunSpec:
    """The spec with what is left of the grid's cap, where that is less than its own."""
    if cap is None:
        return spec
    left = max(cap - paid, 1e-9)
    return spec.model_copy(update={"max_cost": min(left, spec.max_cost or left)})


def _why(done: Finished) -> str:
    progress: Progress = done.progress
    return (
        f"{done.folder.path.name} stopped after {progress.done} of {progress.total} scenarios: "
        f"{progress.stopped}"
    )


def _outdated(folder: RunFolder) -> bool:
    """Whether a run has no report yet, or records that are newer."""
    report = folder.path / "report.html"
    return not report.exists() or report.stat().st_mtime < folder.items_path.stat().st_mtime


def _reported(folder: RunFolder, spec: RunSpec) -> str | None:
    """Write the run's own reports, and track it; says what went wrong with tracking."""
    # The reports draw and fill templates: slow to import, and needed only here.
    from stateauditor.experiments.reports.write import report_run

    summary = report_run(folder).summary
    return track(folder, summary) if spec.tracking else None
