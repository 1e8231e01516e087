"""What each figure shows, drawn by ``plots`` (files) and ``drawing`` (inside the report).

A figure is data: names, estimates and intervals, with the caveats that go with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from stateauditor.experiments.reports.grids import DIRECTIVES, directive_rate, key_rows
from stateauditor.experiments.reports.markdown import (
    CELL_NAMES,
    COLUMNS,
    difference,
    dollars,
    number,
    p_text,
    share,
)
from stateauditor.experiments.reports.paired import accuracy_title, comparison_labels
from stateauditor.experiments.results.compare import RunComparison
from stateauditor.experiments.results.summary import MAJORITY, JudgeScores, Summary
from stateauditor.metrics import KEY_JUDGE_LABEL, Interval, Rate, SignTest
from stateauditor.signatures.judge import Rubric


@dataclass(frozen=True)
class Dot:
    """One estimate with its interval; drawn filled, or hollow for controls.

    ``strong`` sets a total apart; ``signed`` marks a difference.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    strong: bool = False
    hollow: bool = False
    signed: bool = False

    @property
    def text(self) -> str:
        """The numbers as words for those who do not see the drawing."""
        write = difference if self.signed else share
        ends = (
            ""
            if self.low is None or self.high is None
            else f" [{write(self.low)}, {write(self.high)}]"
        )
        return write(self.value) + ends


@dataclass(frozen=True)
class Dots:
    """Estimates with intervals on one scale, top to bottom; shares unless ``span`` says else."""

    slug: str
    title: str
    caveats: tuple[str, ...]
    rows: tuple[Dot, ...]
    span: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Bar:
    """Wins and losses over some scenarios."""

    name: str
    wins: int
    losses: int
    text: str


@dataclass(frozen=True)
class Bars:
    """Paired wins to the right and losses to the left (paper, Figure 3)."""

    slug: str
    title: str
    caveats: tuple[str, ...]
    wins_name: str
    losses_name: str
    rows: tuple[Bar, ...]


@dataclass(frozen=True)
class Point:
    """One run: what it costs and what it reaches, with the accuracy's interval."""

    name: str
    x: float
    y: float
    low: float | None
    high: float | None
    text: str


@dataclass(frozen=True)
class Scatter:
    """Cost against accuracy for one or several runs."""

    slug: str
    title: str
    caveats: tuple[str, ...]
    x_name: str
    y_name: str
    points: tuple[Point, ...]


Figure = Dots | Bars | Scatter


def headline(summary: Summary) -> JudgeScores | None:
    """The scores that stand for a run: the majority's, or the first judge's.

    A majority that leaves a whole cell undecided (two judges that split) stands back.
    """
    benchmark = [s for s in summary.scores if s.rubric is Rubric.BENCHMARK]
    ordered = sorted(benchmark, key=lambda s: (s.table.macro is None, s.judge != MAJORITY))
    return next(iter(ordered), None)


def figures_of(
    summary: Summary, comparison: RunComparison | None = None, others: Sequence[Summary] = ()
) -> tuple[Figure, ...]:
    """Every figure for which a run has numbers, the headline's cells first."""
    first = headline(summary)
    ordered = sorted(summary.scores, key=lambda s: s is not first)
    found: list[Figure] = [cells_figure(summary, s, main=s is first) for s in ordered]
    if summary.key is not None:
        found.append(_key_figure(summary))
    found.append(_directive_figure(summary))
    if summary.recall is not None:
        found.append(_recall_figure(summary))
    if comparison is not None and comparison.accuracies is not None:
        found.append(_wins_figure(comparison))
    if comparison is not None and comparison.key is not None:
        found.append(_key_wins_figure(comparison))
    scatter = cost_figure([summary, *others])
    return tuple(found if scatter is None else [*found, scatter])


def cells_figure(summary: Summary, scores: JudgeScores, *, main: bool) -> Dots:
    """The six cells and the macro score of one judge and rubric."""
    intervals = scores.intervals
    slug = "cells" if main else f"cells_{slugged(scores.judge)}_{scores.rubric.value}"
    return Dots(
        slug=slug,
        title=f"Accuracy: {summary.name}, judge {scores.judge}, rubric {scores.rubric.value}",
        caveats=summary.labels,
        rows=(
            *(
                _estimated(name, intervals.cells[i])
                for name, i in zip(CELL_NAMES, COLUMNS, strict=True)
            ),
            _estimated("Macro", intervals.macro, strong=True),
        ),
    )


def _key_figure(summary: Summary) -> Dots:
    rows = [
        _rated(f"{what}, {over}", rate, hollow=over == "controls")
        for what, over, rate in key_rows(summary)
    ]
    title = f"Key judge: {summary.name}"
    return Dots("key", title, (*summary.labels, KEY_JUDGE_LABEL), tuple(rows))


def _directive_figure(summary: Summary) -> Dots:
    groups = [("conflicts", summary.directives)]
    if summary.directives_on_controls is not None:
        groups.append(("controls", summary.directives_on_controls))
    rows = [
        _rated(f"{label}, {over}", directive_rate(rates, field), hollow=over == "controls")
        for label, field in DIRECTIVES
        for over, rates in groups
    ]
    return Dots("directives", f"Directives: {summary.name}", summary.labels, tuple(rows))


def _recall_figure(summary: Summary) -> Dots:
    rows: list[Dot] = []
    if summary.recall is not None:
        rows = [
            _rated(row.name, row.pair)
            for row in (*summary.recall.dimensions, *summary.recall.types)
        ]
        rows.append(_rated("all", summary.recall.overall.pair, strong=True))
    title = f"Retrieval recall of the (old, new) pair: {summary.name}"
    return Dots("recall", title, summary.labels, tuple(rows))


def _wins_figure(comparison: RunComparison) -> Bars:
    found = comparison.accuracies
    rows = [] if found is None else [_bar(w.name, w.test) for w in found.wins]
    title = "" if found is None else accuracy_title(found)
    return Bars(
        slug="wins",
        title=f"Scenario wins: {title}",
        caveats=comparison_labels(comparison),
        wins_name=f"A wins: {comparison.first.name}",
        losses_name=f"B wins: {comparison.second.name}",
        rows=tuple(rows),
    )


def _key_wins_figure(comparison: RunComparison) -> Bars:
    rows: list[Bar] = []
    if comparison.key is not None:
        change, false = comparison.key.true_change, comparison.key.false_invalidation
        rows = [
            _bar("true change found", change.scenarios),
            _bar("false invalidation (fewer is better)", false.scenarios),
        ]
    return Bars(
        slug="key_wins",
        title="Key judge: scenarios in which one run has more",
        caveats=(*comparison_labels(comparison), KEY_JUDGE_LABEL),
        wins_name=f"more in A: {comparison.first.name}",
        losses_name=f"more in B: {comparison.second.name}",
        rows=tuple(rows),
    )


_MEASURES: Final[tuple[tuple[str, str, Callable[[float | None], str]], ...]] = (
    ("US dollars a scenario", "mean_cost", dollars),
    ("tokens a scenario", "mean_tokens", number),
    ("calls a scenario", "mean_calls", lambda value: number(value, 1)),
)


def cost_figure(summaries: Sequence[Summary]) -> Scatter | None:
    """Cost against the headline accuracy; by the key judge where no LM judge scored a run.

    The cost is the first of dollars, tokens and calls that every run has. Runs of
    different judges are never in one figure: those that differ from the first are
    left out. None where nothing was scored.
    """
    kept = [(s, outcome) for s in summaries if (outcome := _outcome(s)) is not None]
    kept = [(s, outcome) for s, outcome in kept if outcome[0] == kept[0][1][0]]
    if not kept:
        return None
    x_name, write, costs = _measure([s for s, _ in kept])
    points = tuple(
        Point(
            name=summary.name,
            x=float(cost or 0.0),
            y=value,
            low=low,
            high=high,
            text=f"{write(cost or 0.0)}, {Dot('', value, low, high).text}",
        )
        for (summary, (_, value, low, high)), cost in zip(kept, costs, strict=True)
    )
    labels = tuple(dict.fromkeys(label for summary, _ in kept for label in summary.labels))
    return Scatter("cost", "Cost against accuracy", labels, x_name, kept[0][1][0], points)


def _measure(
    summaries: Sequence[Summary],
) -> tuple[str, Callable[[float | None], str], list[float | None]]:
    """The first kind of cost that every run has and one run has more than nothing of."""
    for name, field, write in _MEASURES:
        costs: list[float | None] = [getattr(summary.cost, field) for summary in summaries]
        if None not in costs and any(costs):
            return name, write, costs
    name, field, write = _MEASURES[-1]
    return name, write, [getattr(summary.cost, field) for summary in summaries]


def _outcome(summary: Summary) -> tuple[str, float, float | None, float | None] | None:
    """What counts as a run's accuracy: its name, estimate and interval."""
    scores = headline(summary)
    if scores is not None and scores.table.macro is not None:
        macro = scores.intervals.macro
        return f"macro accuracy, judge {scores.judge}", scores.table.macro, macro.low, macro.high
    if summary.key is not None and summary.key.true_change_recall.value is not None:
        rate = summary.key.true_change_recall
        return f"true-change recall, {KEY_JUDGE_LABEL}", float(rate.value or 0), rate.low, rate.high
    return None


def slugged(name: str) -> str:
    """A name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-.") or "judge"


def _estimated(name: str, interval: Interval, *, strong: bool = False) -> Dot:
    return Dot(name, interval.estimate, interval.low, interval.high, strong)


def _rated(name: str, rate: Rate, *, strong: bool = False, hollow: bool = False) -> Dot:
    return Dot(name, rate.value, rate.low, rate.high, strong, hollow)


def _bar(name: str, test: SignTest) -> Bar:
    return Bar(name, test.wins, test.losses, f"{test.wins}:{test.losses}, p = {p_text(test.p)}")
