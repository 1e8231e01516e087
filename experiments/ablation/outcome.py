"""From the runs of a grid to its numbers: each cell against the base, paired by probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stateauditor.experiments.ablation.grid import REFERENCE
from stateauditor.experiments.ablation.measure import Records, choose_measure
from stateauditor.experiments.ablation.run import GridRun
from stateauditor.experiments.results.comparability import light_records
from stateauditor.experiments.results.summary import Summary, summary_of
from stateauditor.metrics import (
    Interval,
    Rate,
    SignTest,
    bootstrap_scores,
    compare_arms,
    holm,
    score_table,
)
from stateauditor.signatures.models import Frozen


class Against(Frozen):
    """A cell against the base over the probes that both have a verdict on; cell - base.

    ``wins`` and ``losses`` of the cell are in ``scenarios``; ``p_holm`` is its p adjusted
    over all cells of the grid.
    """

    difference: Interval
    scenarios: SignTest
    p_holm: float
    unpaired_probes: int


class Cell(Frozen):
    """One run of a grid. Scores are over conflicts, the two rates over controls.

    ``calls`` and ``tokens`` are means over scenarios, and do not count what is shared.
    """

    name: str
    changed: str
    labels: tuple[str, ...]
    score: Interval
    n: int
    errors: int
    failed_open: Rate
    against: Against | None
    false_invalidation: Rate | None
    controls_rewritten: Rate | None
    calls: float | None
    tokens: float | None
    cost: float | None


class GridOutcome(Frozen):
    """A grid's table; ``label`` says what scores it and stands beside every figure."""

    name: str
    measure: str
    label: str
    judged: bool
    data: str
    backend: str
    scenarios: int
    controls: int
    cells: tuple[Cell, ...]
    shared_calls: float | None
    shared_tokens: float | None
    missing: tuple[str, ...]


def outcome(done: GridRun) -> GridOutcome:
    """The numbers of the complete runs; the base must be among them."""
    records = {name: light_records(folder.items()) for name, folder in done.finished.items()}
    measure = choose_measure(records)
    summaries = {name: summary_of(folder) for name, folder in done.finished.items()}
    against = _against(records, done, measure.cells)
    reference = summaries[REFERENCE]
    shared = summary_of(done.shared).cost
    return GridOutcome(
        name=done.plan.name,
        measure=measure.name,
        label=measure.label,
        judged=bool(reference.scores),
        data=reference.data,
        backend=reference.backend,
        scenarios=reference.scenarios,
        controls=reference.controls,
        cells=tuple(
            _cell(
                name,
                settings_text(done.plan.changed.get(name, {})),
                summaries[name],
                measure.cells(records[name]),
                against.get(name),
                done,
            )
            for name in records
        ),
        shared_calls=shared.mean_calls,
        shared_tokens=shared.mean_tokens,
        missing=tuple(name for name in done.plan.runs if name not in records),
    )


def _cell(
    name: str,
    changed: str,
    summary: Summary,
    cells: Any,
    against: Against | None,
    done: GridRun,
) -> Cell:
    spec = done.plan.runs[name]
    replies, key = summary.replies, summary.key
    return Cell(
        name=name,
        changed=changed,
        labels=summary.labels,
        score=bootstrap_scores(cells, seed=spec.seed, draws=spec.draws).macro,
        n=score_table(cells).n,
        errors=summary.errors,
        failed_open=summary.failed_open,
        against=against,
        false_invalidation=None if key is None else key.false_invalidation,
        controls_rewritten=None if replies is None else replies.controls_rewritten,
        calls=summary.cost.mean_calls,
        tokens=summary.cost.mean_tokens,
        cost=summary.cost.mean_cost,
    )


def _against(records: Mapping[str, Records], done: GridRun, cells: Any) -> dict[str, Against]:
    others = [name for name in records if name != REFERENCE]
    spec = done.plan.runs[REFERENCE]
    base = cells(records[REFERENCE])
    found = {
        name: compare_arms(cells(records[name]), base, seed=spec.seed, draws=spec.draws)
        for name in others
    }
    adjusted = holm([comparison.scenarios.p for comparison in found.values()])
    return {
        name: Against(
            difference=comparison.differences.macro,
            scenarios=comparison.scenarios,
            p_holm=p,
            unpaired_probes=comparison.unpaired_cells,
        )
        for (name, comparison), p in zip(found.items(), adjusted, strict=True)
    }


def settings_text(changed: Mapping[str, Any], path: str = "") -> str:
    """What a cell changes, as the settings of ``evaluate --set``."""
    said = []
    for key, value in changed.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(value, dict):
            said.append(settings_text(value, name))
        elif isinstance(value, list):
            said.append(f"{name}=[{', '.join(map(str, value))}]")
        else:
            said.append(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
    return ", ".join(said)
