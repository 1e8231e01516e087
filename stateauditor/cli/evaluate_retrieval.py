"""``stateauditor evaluate`` for configs of kind ``retrieval``: no LM, a ladder of recall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stateauditor.cli.console import progress, show, show_table, stderr, stdout, write_json


def is_retrieval(data: dict[str, Any]) -> bool:
    """Whether a parsed config asks for retrieval to be measured alone."""
    return data.get("kind") == "retrieval"


def evaluate_retrieval(
    data: dict[str, Any], source: str, out: Path | None, *, as_json: bool
) -> None:
    """Measure, print the ladder, and write it where a folder is named."""
    from stateauditor.experiments.retrieval.ladder import (
        measure_retrieval,
        parse_retrieval_spec,
        retrieval_table,
        write_retrieval,
    )

    spec = parse_retrieval_spec(data, source=source)
    with progress(f"measuring retrieval on {spec.data.set or spec.data.path}"):
        report = measure_retrieval(spec)
    if as_json:
        write_json(report.model_dump(mode="json"))
    else:
        show_table(stdout(), retrieval_table(report))
    if out is not None:
        show(stderr(), f"written: {write_retrieval(report, out)}")
