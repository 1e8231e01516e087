"""Accuracy in the six cells, and the macro score (paper, Table 1).

Needs nothing beyond the standard install. Every accuracy is a share from 0 to 1,
or None where nothing was scored; there is no NaN anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from stateauditor.metrics.records import (
    CELLS,
    DIMENSIONS,
    TYPES,
    Cell,
    CellScore,
    Dimension,
    ScenarioType,
    Share,
    item_scores,
)
from stateauditor.signatures.models import Frozen

Count = Annotated[int, Field(ge=0)]


class Tally(Frozen):
    """Counts behind an accuracy.

    ``n`` items have a verdict, ``passed`` of them passed. ``errors`` failed to run
    and ``undecided`` have no verdict for another reason (a tie, not judged yet);
    neither is part of ``n``.
    """

    n: Count
    passed: Count
    errors: Count
    undecided: Count


class CellAccuracy(Tally):
    """One of the six cells; ``accuracy`` is ``passed / n``, None where ``n`` is 0."""

    type: ScenarioType
    dimension: Dimension
    accuracy: Share | None


class GroupAccuracy(Tally):
    """A row or column of the table: a dimension over both types, or a type over all three.

    ``accuracy`` is the mean of the group's cells, as the macro score is, so that the
    mean of the dimensions (and of the types) is the macro score; None as soon as one
    of the cells has nothing scored.
    """

    name: str
    accuracy: Share | None


class ScoreTable(Tally):
    """The paper's Table 1 for one arm.

    ``cells`` has six members in the order of :data:`CELLS`. ``macro`` is the mean of
    the six accuracies, None unless every cell has a scored item. ``mean_of_scored``
    is the mean of the cells that do, for slices with one type or dimension; it is
    None only where nothing at all was scored and must not be reported as the macro.
    """

    scenarios: Count
    cells: tuple[CellAccuracy, ...]
    macro: Share | None
    mean_of_scored: Share | None
    dimensions: tuple[GroupAccuracy, ...]
    types: tuple[GroupAccuracy, ...]

    def cell(self, type: ScenarioType, dimension: Dimension) -> CellAccuracy:
        """One cell by name."""
        return self.cells[CELLS.index((type, dimension))]


def score_table(cells: Iterable[CellScore]) -> ScoreTable:
    """Score one arm from its cells, in any order.

    Raises :class:`InputError` when a probe is scored twice or a scenario has two types.
    """
    items = item_scores(cells)
    by_cell: dict[Cell, list[CellScore]] = {cell: [] for cell in CELLS}
    for item in items:
        for score in item.cells:
            by_cell[score.cell].append(score)
    table = tuple(_cell_accuracy(cell, by_cell[cell]) for cell in CELLS)
    return ScoreTable(
        **_sums(table),
        scenarios=len(items),
        cells=table,
        macro=mean_or_none([cell.accuracy for cell in table]),
        mean_of_scored=mean_or_none([c.accuracy for c in table if c.accuracy is not None]),
        dimensions=tuple(
            _group(name, [c for c in table if c.dimension == name]) for name in DIMENSIONS
        ),
        types=tuple(_group(name, [c for c in table if c.type == name]) for name in TYPES),
    )


def mean_or_none(values: Sequence[float | None]) -> float | None:
    """The mean; None when there are no values or one of them is None.

    >>> mean_or_none([0.25, 0.75]), mean_or_none([0.25, None]), mean_or_none([])
    (0.5, None, None)
    """
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(known) / len(known)


def _cell_accuracy(cell: Cell, scores: Sequence[CellScore]) -> CellAccuracy:
    verdicts = [score.passed for score in scores if score.passed is not None]
    errors = sum(score.error for score in scores)
    passed = sum(verdicts)
    return CellAccuracy(
        type=cell[0],
        dimension=cell[1],
        n=len(verdicts),
        passed=passed,
        errors=errors,
        undecided=len(scores) - len(verdicts) - errors,
        accuracy=passed / len(verdicts) if verdicts else None,
    )


def _group(name: str, cells: Sequence[CellAccuracy]) -> GroupAccuracy:
    accuracy = mean_or_none([cell.accuracy for cell in cells])
    return GroupAccuracy(**_sums(cells), name=name, accuracy=accuracy)


def _sums(cells: Sequence[Tally]) -> dict[str, int]:
    return {name: sum(getattr(cell, name) for cell in cells) for name in Tally.model_fields}
