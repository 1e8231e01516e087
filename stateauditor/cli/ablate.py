"""``stateauditor ablate``: a grid of paired runs, one table and one chart."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, progress, show, stderr, stdout, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from stateauditor.experiments.runs.loop import Progress

STOPPED_EARLY = 1
"""Exit status when the grid ended before its last run."""

EXAMPLES = options.examples(
    "stateauditor ablate vta_components --offline",
    "stateauditor ablate baselines --out runs/baselines",
    "stateauditor ablate channels --limit 100 --set max_cost=50",
    "stateauditor ablate my_grid.yaml --set base.backend=my.yaml",
    "stateauditor ablate runs/baselines/grid.yaml --out runs/baselines --resume",
)

# The bundled slice, the lexical rules and the key judge: no key, no network.
_OFFLINE = (
    "base.data={set: stale_mini, part: both}",
    "base.backend=offline",
    "base.drafts=stale_drafts",
    "base.judges=[key]",
    "base.tracking=false",
)


def ablate(
    config: Annotated[
        str,
        typer.Argument(
            metavar="GRID.yaml",
            help="A grid: a file, or the name of one that ships (vta_components, base_audit, "
            "channels, baselines).",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Replace one setting of the grid, e.g. base.backend=... or max_cost=...; the "
            "value is YAML. May be given often.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Only the first N scenarios."),
    ] = None,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline",
            help="On the bundled slice with lexical rules and the key judge: no key, no network, "
            "no Stale accuracy.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="The grid's folder (default: runs/NAME-DATE-TIME)."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the grid in --out where it ended.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Run a base and its ablations, or baselines, as paired runs that share what they can.

    Drafts are made once, and base audits wherever a cell changes nothing that they depend
    on; every cell is then compared with the base on the same probes. Each run has a folder
    of its own in DIR, with a report; DIR gets table.md, ablation.json and the chart
    differences.svg. Ctrl-C finishes what is in flight, and --resume goes on.

    Exit status: 0 every run is complete, 1 the grid stopped early (interrupt or max_cost),
    2 wrong input or configuration.
    """
    from stateauditor.experiments.ablation.grid import REFERENCE, load_grid
    from stateauditor.experiments.ablation.outcome import outcome
    from stateauditor.experiments.ablation.report import grid_text, write_grid
    from stateauditor.experiments.ablation.run import run_grid
    from stateauditor.experiments.reports.extra import require_extra

    given = [*(_OFFLINE if offline else ()), *(settings or [])]
    if limit is not None:
        given.append(f"base.data.limit={limit}")
    grid = load_grid(config, given)
    folder = options.new_folder(grid.name, out, resume=resume, what="grid")
    require_extra()
    try:
        with _Displays() as displays:
            done = run_grid(grid, folder, resume=resume, source=config, begin=displays.begin)
    except KeyboardInterrupt:
        show(stderr(), f"broken off; go on with: {_again(folder)}")
        raise
    for trouble in done.troubles:
        note(f"not tracked in MLflow: {trouble}")
    if REFERENCE in done.finished:
        with progress("comparing"):
            found = outcome(done)
            paths = write_grid(found, folder)
        if as_json:
            write_json({"folder": str(folder), "stopped": done.stopped} | found.model_dump())
        else:
            show(stdout(), printable(grid_text(found)))
            show(stdout(), f"table and chart: {', '.join(map(str, paths))}")
    if done.stopped is not None:
        note(done.stopped)
        show(stderr(), f"go on with: {_again(folder)}")
        raise typer.Exit(STOPPED_EARLY)


class _Displays:
    """One display after another: each run of the grid has its own."""

    def __init__(self) -> None:
        from stateauditor.cli.run_progress import RunDisplay

        self._new = RunDisplay
        self._open: RunDisplay | None = None

    def __enter__(self) -> _Displays:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def begin(self, name: str, number: int, of: int) -> Callable[[Progress], None]:
        """Say which run begins, and watch it."""
        self._close()
        show(stderr(), f"[{number}/{of}] {name}")
        self._open = self._new()
        return self._open.__enter__()

    def _close(self) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None


def _again(folder: Path) -> str:
    """The command that goes on: the folder's grid has every setting that was given."""
    return shlex.join(
        ["stateauditor", "ablate", str(folder / "grid.yaml"), "--out", str(folder), "--resume"]
    )
