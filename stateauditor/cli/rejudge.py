"""``stateauditor rejudge``: stored replies, scored by another judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, progress, show, stdout, write_json

EXAMPLES = options.examples(
    "stateauditor rejudge runs/strict_vta --judge gemini",
    "stateauditor rejudge runs/strict_vta --judge a.yaml --judge b.yaml --out runs/judged_again",
)


def rejudge(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    judge: Annotated[
        list[str],
        typer.Option(
            "--judge",
            metavar="NAME|FILE.yaml",
            help="A backend whose judge role scores. May be given twice.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Leave the run as it is; write a copy there."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Score a run's stored replies with more judges; nothing is generated.

    Judgments of other judges stay. A scenario that this judge has scored is left
    alone, so that the command may be repeated until none has failed. Summary, table
    and report are written anew; several judges get a majority and their agreement.
    """
    from stateauditor.experiments.reports.extra import require_extra
    from stateauditor.experiments.results.rejudge import rejudge as score_again
    from stateauditor.experiments.runs.folder import RunFolder

    require_extra()
    with progress("judging"):
        folder, done = score_again(RunFolder(run), judge, out=out)
    with progress("writing the report"):
        from stateauditor.experiments.reports.write import report_run

        report = report_run(folder)
    if as_json:
        write_json(
            {
                "folder": str(folder.path),
                "judges": list(done.judges),
                "judged": done.done,
                "failed": done.failed,
                "report": str(report.paths.html),
                "summary": report.summary.model_dump(mode="json"),
            }
        )
    else:
        console = stdout()
        show(console, printable(report.table))
        show(console, f"report: {report.paths.html}")
    if not done.total:
        note(f"{', '.join(done.judges)}: every scenario was scored already")
    if done.failed:
        note(f"{done.failed} judgment(s) failed and count apart; repeat the command to try again")
