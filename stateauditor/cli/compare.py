"""``stateauditor compare``: two runs on the same scenarios, paired."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import printable, progress, show, stdout, write_json

EXAMPLES = options.examples(
    "stateauditor compare runs/strict_vta runs/predecessor",
    "stateauditor compare runs/strict_vta runs/control --judge majority --rubric grounded",
    "stateauditor compare runs/a runs/b --judge key",
)


class RubricName(StrEnum):
    """Which passes count."""

    BENCHMARK = "benchmark"
    GROUNDED = "grounded"


def compare(
    first: Annotated[Path, typer.Argument(metavar="RUN_A", help="The folder of a run.")],
    second: Annotated[Path, typer.Argument(metavar="RUN_B", help="The one to compare it with.")],
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="NAME",
            help="A judge that scored both, majority, or key (default: the shared one, or "
            "the majority of several).",
        ),
    ] = None,
    rubric: Annotated[
        RubricName, typer.Option("--rubric", help="Which passes count.")
    ] = RubricName.BENCHMARK,
    as_json: options.AsJson = False,
) -> None:
    """Compare two runs on the probes that both have a verdict on.

    Differences are RUN_A - RUN_B, with paired bootstrap intervals, scenario wins and
    losses with the exact sign test, and McNemar's test a cell. Whatever else differs
    beside the arms, such as the drafts, is said as a warning.
    """
    from stateauditor.experiments.results.compare import compare_runs
    from stateauditor.experiments.results.summary import summary_of
    from stateauditor.experiments.runs.folder import RunFolder
    from stateauditor.signatures.judge import Rubric

    a, b = RunFolder(first), RunFolder(second)
    with progress("comparing"):
        spec = a.spec()
        found = compare_runs(
            a, b, judge=judge, rubric=Rubric(rubric.value), seed=spec.seed, draws=spec.draws
        )
        summaries = (summary_of(a), summary_of(b))
    if as_json:
        write_json(found.model_dump(mode="json"))
        return
    from stateauditor.experiments.reports.tables import comparison_text

    show(stdout(), printable(comparison_text(found, *summaries)))
