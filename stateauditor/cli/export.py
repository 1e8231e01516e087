"""``stateauditor export`` and ``import``: the files of the benchmark's official scorer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, progress, show, stdout, write_json
from stateauditor.signatures.errors import InputError

EXPORT_EXAMPLES = options.examples(
    "stateauditor export official runs/strict_vta",
    "stateauditor export official runs/strict_vta --out answers.json",
)
IMPORT_EXAMPLES = options.examples(
    "stateauditor import official results.json --run runs/strict_vta",
)
ANSWERS = "official_answers.json"

export_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Write files for others."
)
import_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Read results of others."
)


# A callback keeps the command's name where there is only one.
@export_app.callback()
@import_app.callback()
def _group() -> None:
    pass


@export_app.command("official", epilog=EXPORT_EXAMPLES)
def export_official(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help=f"Where to (default: RUN/{ANSWERS})."),
    ] = None,
) -> None:
    """Write a run's replies in the layout that the official Stale scorer reads.

    Run that scorer from its own checkout for figures comparable with the published
    ones, then read its results back with 'stateauditor import official'.
    """
    from stateauditor.experiments.results.official import export_answers
    from stateauditor.experiments.runs.folder import RunFolder

    answers = export_answers(RunFolder(run))
    path = out or run / ANSWERS
    try:
        path.write_text(json.dumps(answers, ensure_ascii=False, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    show(stdout(), f"{path}: {len(answers['data'])} scenarios")
    left_out = answers["summary"]["left_out"]
    if left_out:
        note(f"without all three replies and left out: {', '.join(left_out)}")


@import_app.command("official", epilog=IMPORT_EXAMPLES)
def import_official(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The scorer's results, JSON.")],
    run: Annotated[Path, typer.Option("--run", metavar="RUN", help="The folder of the run.")],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What tables call this judge.")
    ] = "official",
    as_json: options.AsJson = False,
) -> None:
    """Read the official scorer's results into a run, as one more judge.

    Each entry needs the scenario's uid and a verdict for SR, PR and IPA (or dim1,
    dim2, dim3): true or false, 1 or 0, pass or fail, or an object that holds one.
    Any other layout is refused, with what was expected. The scorer knows the
    benchmark's rubric only.
    """
    from stateauditor.experiments.reports.extra import require_extra
    from stateauditor.experiments.results.official import import_results
    from stateauditor.experiments.runs.folder import RunFolder

    require_extra()
    folder = RunFolder(run)
    count = import_results(folder, file, name=name)
    with progress("writing the report"):
        from stateauditor.experiments.reports.write import report_run

        report = report_run(folder)
    if as_json:
        write_json(
            {
                "imported": count,
                "judge": name,
                "summary": report.summary.model_dump(mode="json"),
            }
        )
        return
    console = stdout()
    show(console, printable(report.table))
    show(console, f"{count} scenarios judged by {name}; report: {report.paths.html}")
