"""Two arms on the same scenarios: differences, wins and losses (paper, section 6.1).

Only what both arms have a verdict on is compared. A probe that failed in one arm
leaves the comparison for both and is counted as unpaired, so that an error can
neither win nor lose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from stateauditor.metrics.bootstrap import (
    DRAWS,
    LEVEL,
    Interval,
    ScoreIntervals,
    bootstrap_difference,
)
from stateauditor.metrics.records import (
    CELLS,
    CellScore,
    Dimension,
    ItemScore,
    ScenarioType,
    Share,
    item_scores,
)
from stateauditor.metrics.statistics import (
    ClusteredSignTest,
    SignTest,
    clustered_sign_test,
    holm,
    mcnemar_exact,
    sign_test,
)
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen

Count = Annotated[int, Field(ge=0)]


class PairedArms(Frozen):
    """Two arms cut down to the cells that both have a verdict on.

    ``first`` and ``second`` hold the same scenarios in order of uid.
    ``unpaired_cells`` were scored or attempted in only one arm, or lack a verdict in one;
    ``unpaired_scenarios`` have no cell left.
    """

    first: tuple[ItemScore, ...]
    second: tuple[ItemScore, ...]
    unpaired_cells: Count
    unpaired_scenarios: Count


class CellComparison(Frozen):
    """One cell with its discordant counts.

    ``fixed`` passes only in the first arm, ``broken`` only in the second; ``p`` is
    McNemar's exact test, ``p_holm`` the same adjusted over the six cells.
    """

    type: ScenarioType
    dimension: Dimension
    n: Count
    fixed: Count
    broken: Count
    p: Share
    p_holm: Share


class Comparison(Frozen):
    """Everything that ``first`` against ``second`` says; differences are first - second.

    ``scenarios`` counts a scenario as won by the arm that passes more of its probes.
    ``clustered`` is the same test told from the cells.
    """

    differences: ScoreIntervals
    scenarios: SignTest
    clustered: ClusteredSignTest
    cells: tuple[CellComparison, ...]
    unpaired_cells: Count
    unpaired_scenarios: Count


def pair_arms(first: Iterable[CellScore], second: Iterable[CellScore]) -> PairedArms:
    """Keep the probes that both arms have a verdict on.

    Raises :class:`InputError` when a scenario has one type here and another there.
    """
    one = {item.uid: item for item in item_scores(first)}
    two = {item.uid: item for item in item_scores(second)}
    kept: list[tuple[ItemScore, ItemScore]] = []
    dropped_cells = dropped_scenarios = 0
    for uid in sorted(one.keys() | two.keys()):
        left, right = one.get(uid), two.get(uid)
        if left and right and left.type != right.type:
            raise InputError(f"{uid}: {left.type} in one arm and {right.type} in the other")
        attempted = _dimensions(left) | _dimensions(right)
        common = _scored(left) & _scored(right)
        dropped_cells += len(attempted - common)
        if left and right and common:
            kept.append((_only(left, common), _only(right, common)))
        else:
            dropped_scenarios += 1
    return PairedArms(
        first=tuple(left for left, _ in kept),
        second=tuple(right for _, right in kept),
        unpaired_cells=dropped_cells,
        unpaired_scenarios=dropped_scenarios,
    )


def paired_difference(
    first: Iterable[CellScore],
    second: Iterable[CellScore],
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Interval:
    """The difference of the macro scores, first - second, with its paired interval."""
    arms = pair_arms(first, second)
    return bootstrap_difference(arms.first, arms.second, seed=seed, draws=draws, level=level).macro


def scenario_wins(
    first: Iterable[CellScore],
    second: Iterable[CellScore],
    *,
    dimension: Dimension | None = None,
    type: ScenarioType | None = None,  # the record's own word
) -> SignTest:
    """Scenarios that the first arm wins and loses, with the exact sign test.

    A scenario is won by passing more of its probes; with ``dimension`` or ``type``
    only those probes and scenarios count.
    """
    return _wins(pair_arms(first, second), dimension, type)


def compare_arms(
    first: Iterable[CellScore],
    second: Iterable[CellScore],
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Comparison:
    """The whole paired comparison of two arms."""
    arms = pair_arms(first, second)
    return Comparison(
        differences=bootstrap_difference(
            arms.first, arms.second, seed=seed, draws=draws, level=level
        ),
        scenarios=_wins(arms, None, None),
        clustered=clustered_sign_test(
            (left.uid, _change(a, b))
            for left, right in zip(arms.first, arms.second, strict=True)
            for a, b in zip(left.cells, right.cells, strict=True)
        ),
        cells=_cells(arms),
        unpaired_cells=arms.unpaired_cells,
        unpaired_scenarios=arms.unpaired_scenarios,
    )


def _wins(arms: PairedArms, dimension: Dimension | None, kind: ScenarioType | None) -> SignTest:
    wins = losses = ties = 0
    for left, right in zip(arms.first, arms.second, strict=True):
        if kind is not None and left.type != kind:
            continue
        if dimension is None:
            lead = left.passes - right.passes
        elif left.passed(dimension) is None:
            continue
        else:
            lead = bool(left.passed(dimension)) - bool(right.passed(dimension))
        wins += lead > 0
        losses += lead < 0
        ties += lead == 0
    return sign_test(wins, losses, ties)


def _cells(arms: PairedArms) -> tuple[CellComparison, ...]:
    counts: list[tuple[int, int, int]] = []
    for kind, dimension in CELLS:
        changes = [
            _change(a, b)
            for left, right in zip(arms.first, arms.second, strict=True)
            for a, b in zip(left.cells, right.cells, strict=True)
            if a.cell == (kind, dimension)
        ]
        counts.append((len(changes), changes.count(1), changes.count(-1)))
    p_values = [mcnemar_exact(fixed, broken) for _, fixed, broken in counts]
    return tuple(
        CellComparison(
            type=kind, dimension=dimension, n=n, fixed=fixed, broken=broken, p=p, p_holm=adjusted
        )
        for (kind, dimension), (n, fixed, broken), p, adjusted in zip(
            CELLS, counts, p_values, holm(p_values), strict=True
        )
    )


def _change(first: CellScore, second: CellScore) -> int:
    return bool(first.passed) - bool(second.passed)


def _dimensions(item: ItemScore | None) -> set[Dimension]:
    return {cell.dimension for cell in item.cells} if item else set()


def _scored(item: ItemScore | None) -> set[Dimension]:
    return {c.dimension for c in item.cells if c.passed is not None} if item else set()


def _only(item: ItemScore, dimensions: Sequence[Dimension] | set[Dimension]) -> ItemScore:
    cells = tuple(cell for cell in item.cells if cell.dimension in dimensions)
    return item.model_copy(update={"cells": cells})
