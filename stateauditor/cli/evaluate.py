"""``stateauditor evaluate``: one arm over a benchmark's scenarios, into one folder."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, progress, show, stderr, stdout, write_json
from stateauditor.cli.evaluate_retrieval import evaluate_retrieval, is_retrieval

if TYPE_CHECKING:
    from stateauditor.experiments.reports.write import Report
    from stateauditor.experiments.runs.runner import Finished

STOPPED_EARLY = 1
"""Exit status when a run ended before its last scenario."""

EXAMPLES = options.examples(
    "stateauditor evaluate stale_mini_offline",
    "stateauditor evaluate strict_vta --limit 5 --out runs/try",
    "stateauditor evaluate my.yaml --set max_cost=20 --set concurrency=16",
    "stateauditor evaluate runs/try/config.yaml --out runs/try --resume",
    "stateauditor evaluate retrieval --set data.path=FILE.json",
    "stateauditor evaluate runs/try/config.yaml --replay runs/try --out runs/again",
)


def evaluate(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG.yaml",
            help="A run's config: a file, or the name of one that ships (stale_mini_offline, "
            "generator_only, predecessor, strict_vta, joint_vta, control, draft_anchored, "
            "state_anchored, lean; retrieval measures retrieval alone, with no LM).",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Replace one setting; the value is YAML. May be given often.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Only the first N scenarios."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="The run's folder (default: runs/NAME-DATE-TIME)."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out where it ended.")
    ] = False,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="With --resume: also run again what failed."),
    ] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            metavar="RUN",
            help="Answer every call from the responses recorded in that run's folder: no "
            "network, nothing paid. A response that is missing fails its scenario.",
        ),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            metavar="NAME|FILE.yaml",
            help="Short for --set backend=...; for all roles but the judges'.",
        ),
    ] = None,
    compiled: options.Compiled = None,
    allow_train: Annotated[
        bool,
        typer.Option(
            "--allow-train",
            help="Evaluate compiled prompts also on ids that they were compiled on; every table "
            "then says so.",
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Run one arm over a benchmark's scenarios and score it.

    The folder gets the config as resolved, a manifest, one JSON line a scenario as
    each ends, every LM response, summary.json, table.md, plots and report.html.
    Ctrl-C finishes what is in flight; whatever ends a run, --resume goes on with it
    and pays for nothing twice.

    Exit status: 0 every scenario has a record, 1 the run stopped early (interrupt
    or max_cost), 2 wrong input or configuration.
    """
    from stateauditor.experiments.runs.config_files import read_config
    from stateauditor.experiments.runs.spec import parse_spec

    given = [*(settings or []), *_about_compiled(compiled, allow_train)]
    if limit is not None:
        given.append(f"data.limit={limit}")
    if backend is not None:
        given.append(f"backend={backend}")
    data, source = read_config(config, tuple(given))
    if is_retrieval(data):
        evaluate_retrieval(data, source, out, as_json=as_json)
        return
    spec = parse_spec(data, source=source)
    folder = options.new_folder(spec.name, out, resume=resume or retry_failed)
    from stateauditor.cli.run_progress import RunDisplay, tell_end
    from stateauditor.experiments.reports.extra import require_extra
    from stateauditor.experiments.runs.runner import run

    require_extra()
    try:
        with RunDisplay() as display:
            finished = run(
                spec,
                folder,
                resume=resume or retry_failed,
                retry_failed=retry_failed,
                replay=replay,
                watch=display,
            )
    except KeyboardInterrupt:
        show(stderr(), f"broken off; go on with: {_again(folder, replay)}")
        raise
    with progress("writing the report"):
        from stateauditor.experiments.reports.write import report_run

        report = report_run(finished.folder)
    trouble = _tracked(finished, report) if spec.tracking else None
    _show(finished, report, trouble, as_json=as_json)
    tell_end(finished.progress)
    if trouble is not None:
        note(f"not tracked in MLflow: {trouble}")
    if not finished.complete:
        show(stderr(), f"go on with: {_again(folder, replay)}")
        raise typer.Exit(STOPPED_EARLY)


def _about_compiled(compiled: Path | None, allow_train: bool) -> list[str]:
    named = [] if compiled is None else [f"compiled={json.dumps(str(compiled))}"]
    return [*named, "allow_train=true"] if allow_train else named


def _tracked(finished: Finished, report: Report) -> str | None:
    from stateauditor.experiments.results.tracking import track

    with progress("tracking in MLflow"):
        return track(finished.folder, report.summary)


def _show(finished: Finished, report: Report, trouble: str | None, *, as_json: bool) -> None:
    state, paths = finished.progress, report.paths
    if as_json:
        write_json(
            {
                "folder": str(finished.folder.path),
                "complete": finished.complete,
                "stopped": state.stopped,
                "done": state.done,
                "total": state.total,
                "failed": state.failed,
                "failures": state.failures,
                "tracking_problem": trouble,
                "report": str(paths.html),
                "summary": report.summary.model_dump(mode="json"),
            }
        )
        return
    console = stdout()
    show(console, printable(report.table))
    show(console, f"report: {paths.html}")


def _again(folder: Path, replay: Path | None) -> str:
    """The command that goes on: the folder's config has every setting that was given."""
    command = ["stateauditor", "evaluate", str(folder / "config.yaml"), "--out", str(folder)]
    if replay is not None:
        command += ["--replay", str(replay)]
    return shlex.join([*command, "--resume"])
