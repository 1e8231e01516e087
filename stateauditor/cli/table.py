"""``stateauditor table``: the paper's Table 1 with our runs beside the published rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import printable, progress, show, stdout, write_json

EXAMPLES = options.examples(
    "stateauditor table runs/strict_vta",
    "stateauditor table runs/predecessor runs/strict_vta runs/joint_vta > table1.md",
)


def table(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    as_json: options.AsJson = False,
) -> None:
    """Print the paper's Table 1 for some runs, the published rows beside them.

    Every row names its judge; figures of different judges are not comparable.
    """
    from stateauditor.experiments.results.summary import summary_of
    from stateauditor.experiments.runs.folder import RunFolder

    folders = [RunFolder(path) for path in runs]
    with progress("reading the runs"):
        summaries = [summary_of(folder) for folder in folders]
    if as_json:
        write_json({"runs": [summary.model_dump(mode="json") for summary in summaries]})
        return
    from stateauditor.experiments.reports.tables import judge_models, table1

    models = judge_models(item for folder in folders for item in folder.items())
    show(stdout(), printable(table1(summaries, models)))
