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
    from stateauditor.experiments.results.summary import light_items, summary_of
    from stateauditor.experiments.runs.folder import RunFolder

    folders = [RunFolder(path) for path in runs]
    with progress("reading the runs"):
        read = [list(light_items(folder)) for folder in folders]
        summaries = [summary_of(*run) for run in zip(folders, read, strict=True)]
    if as_json:
        write_json({"runs": [summary.model_dump(mode="json") for summary in summaries]})
        return
    from stateauditor.experiments.reports.tables import judge_models, table1

    models = judge_models(item for items in read for item in items)
    show(stdout(), printable(table1(summaries, models)))
