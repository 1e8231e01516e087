"""A grid's one table and one chart."""

from __future__ import annotations

from pathlib import Path

from stateauditor.experiments.ablation.measure import NO_ACCURACY
from stateauditor.experiments.ablation.outcome import Cell, GridOutcome
from stateauditor.experiments.reports.figures import Dot, Dots
from stateauditor.experiments.reports.markdown import (
    DASH,
    DASH_NOTE,
    Grid,
    blocks,
    bounds,
    caveats,
    difference,
    escape,
    number,
    p_text,
    rate_text,
    share,
    table,
)
from stateauditor.experiments.reports.plots import write_plots
from stateauditor.metrics import Rate

CHART = "differences"
CHART_WIDTH = 41  # columns, with zero in the middle one


def grid_text(found: GridOutcome) -> str:
    """The table with its caveats, and how to read it."""
    labels = common_labels(found)
    return blocks(
        f"# {escape(found.name)}",
        f"Each cell against the base, paired on the same drafts. Data {escape(found.data)}, "
        f"backend {escape(found.backend)}; {found.scenarios} scenarios with a conflict, "
        f"{found.controls} controls. Score: {found.measure}.",
        caveats((*labels, found.label)),
        table(grid_of(found)),
        text_chart(differences_chart(found)),
        "Score: mean of the six cells, with its bootstrap interval over scenarios. Wins and "
        "losses: scenarios in which the cell passes more, or fewer, probes than the base; p is "
        "the exact sign test, beside it Holm's correction over the cells. Calls and tokens: a "
        f"scenario's, beside the shared drafts and base audits "
        f"({number(found.shared_calls, 2)} calls, {number(found.shared_tokens)} tokens).",
        "" if found.judged else NO_ACCURACY,
        f"Not complete, and left out: {', '.join(found.missing)}." if found.missing else "",
        DASH_NOTE,
    )


def grid_of(found: GridOutcome) -> Grid:
    """One row a cell, the base first."""
    header = (
        "Cell",
        "Changed",
        "Score [95% CI]",
        "- base [95% CI]",
        "Wins:losses",
        "p",
        "p (Holm)",
        "False invalidation (controls)",
        "Rewritten (controls)",
        "Calls",
        "Tokens",
        "n",
        "Errors",
    )
    return Grid(header, tuple(_row(cell, found) for cell in found.cells), left=2)


def _row(cell: Cell, found: GridOutcome) -> tuple[str, ...]:
    own = [label for label in cell.labels if label not in common_labels(found)]
    marks = [label.partition(":")[0] for label in own if not label.startswith("ablation")]
    against = cell.against
    paired = (
        (DASH, DASH, DASH, DASH)
        if against is None
        else (
            f"{difference(against.difference.estimate)} {bounds(against.difference, signed=True)}",
            f"{against.scenarios.wins}:{against.scenarios.losses}",
            p_text(against.scenarios.p),
            p_text(against.p_holm),
        )
    )
    return (
        f"{cell.name} [{'; '.join(marks)}]" if marks else cell.name,
        cell.changed or "nothing",
        f"{share(cell.score.estimate)} {bounds(cell.score)}",
        *paired,
        _rate(cell.false_invalidation),
        _rate(cell.controls_rewritten),
        number(cell.calls, 2),
        number(cell.tokens),
        str(cell.n),
        str(cell.errors),
    )


def _rate(rate: Rate | None) -> str:
    return DASH if rate is None else rate_text(rate)


def common_labels(found: GridOutcome) -> tuple[str, ...]:
    """The caveats that every cell carries."""
    first = found.cells[0].labels
    return tuple(label for label in first if all(label in cell.labels for cell in found.cells))


def differences_chart(found: GridOutcome) -> Dots:
    """Each cell's difference from the base, with its interval."""
    rows = tuple(
        Dot(
            cell.name,
            cell.against.difference.estimate,
            cell.against.difference.low,
            cell.against.difference.high,
            signed=True,
        )
        for cell in found.cells
        if cell.against is not None
    )
    ends = [abs(x) for row in rows for x in (row.value, row.low, row.high) if x is not None]
    most = max([0.05, *ends]) * 1.1
    return Dots(
        slug=CHART,
        title=f"{found.name}: {found.measure}, difference from the base",
        caveats=(*common_labels(found), found.label),
        rows=rows,
        span=(-most, most),
    )


def text_chart(chart: Dots) -> str:
    """The chart for a terminal: each difference and its interval around a line at zero."""
    if not chart.rows:
        return ""
    low, high = chart.span
    widest = max(len(row.name) for row in chart.rows)

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (CHART_WIDTH - 1))

    lines = []
    for row in chart.rows:
        cells = [" "] * CHART_WIDTH
        cells[place(0.0)] = "|"
        if row.low is not None and row.high is not None:
            for column in range(place(row.low), place(row.high) + 1):
                cells[column] = "-"
        if row.value is not None:
            cells[place(row.value)] = "o"
        lines.append(f"{row.name:<{widest}}  {''.join(cells)}  {row.text}")
    title = f"{'- base':<{widest}}  {difference(low):<{CHART_WIDTH - 5}}{difference(high)}"
    return "\n".join(("```", title, *lines, "```"))


def write_grid(found: GridOutcome, out: Path) -> tuple[Path, ...]:
    """Write table.md, ablation.json and the chart; the same bytes for the same records."""
    written = [out / "table.md", out / "ablation.json"]
    written[0].write_text(grid_text(found), "utf-8")
    written[1].write_text(found.model_dump_json(indent=2) + "\n", "utf-8")
    return (*written, *write_plots([differences_chart(found)], out))
