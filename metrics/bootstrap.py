"""Bootstrap intervals over scenarios, stratified by type (paper, Table 1).

The scenario is what is resampled, never the cell: the three probes of a scenario
share one history and stand or fall together. Each stratum (T1, T2) keeps its size.
Intervals are percentile intervals. Scenarios are put in order of their uid first, so
that the same records in any order, with the same seed, give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stateauditor.metrics.records import CELLS, DIMENSIONS, TYPES, CellScore, ItemScore, item_scores
from stateauditor.metrics.scores import mean_or_none
from stateauditor.metrics.statistics import check_level
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen

DRAWS: Final = 10_000
LEVEL: Final = 0.95
_BATCH: Final = 500  # draws held in memory at once; part of what a seed means

Floats = NDArray[np.float64]


class Interval(Frozen):
    """An estimate with its percentile bootstrap interval.

    Shares from 0 to 1, differences from -1 to 1. All three are None where a cell
    that they need has nothing scored. ``undefined`` counts the draws that had to be
    left out because a resampled cell held only failed items.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float = LEVEL
    draws: int = DRAWS
    undefined: int = 0


class ScoreIntervals(Frozen):
    """Intervals for one arm, or for the difference of two, all from the same draws.

    ``cells`` in the order of :data:`CELLS`, ``dimensions`` and ``types`` in theirs.
    """

    macro: Interval
    cells: tuple[Interval, ...]
    dimensions: tuple[Interval, ...]
    types: tuple[Interval, ...]
    scenarios: int
    seed: int


def bootstrap_scores(
    cells: Iterable[CellScore], *, seed: int, draws: int = DRAWS, level: float = LEVEL
) -> ScoreIntervals:
    """Intervals for the macro score, the six cells, the dimensions and the types.

    Raises :class:`InputError` for duplicate scores, ``draws`` below 1 or a ``level``
    that is not between 0 and 1.
    """
    items = item_scores(cells)
    # Column d: passed in dimension d; column 3 + d: scored in dimension d.
    observed, drawn = _resampled(items, [_columns(items)], seed=seed, draws=draws, level=level)
    return _intervals(observed[0], drawn[0], len(items), seed, draws, level)


def bootstrap_difference(
    first: Sequence[ItemScore],
    second: Sequence[ItemScore],
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> ScoreIntervals:
    """Intervals for ``first - second`` over the same resampled scenarios.

    Both hold the same scenarios in the same order, with verdicts on the same cells;
    :func:`stateauditor.metrics.pair_arms` makes them so.
    """
    if [(item.uid, item.type) for item in first] != [(item.uid, item.type) for item in second]:
        raise InputError("a paired bootstrap needs the same scenarios in the same order")
    arms = [_columns(first), _columns(second)]
    if not np.array_equal(arms[0][:, 3:], arms[1][:, 3:]):
        raise InputError("a paired bootstrap needs verdicts on the same cells in both arms")
    observed, drawn = _resampled(first, arms, seed=seed, draws=draws, level=level)
    return _intervals(
        observed[0] - observed[1], drawn[0] - drawn[1], len(first), seed, draws, level
    )


def _columns(items: Sequence[ItemScore]) -> Floats:
    """Passed and scored, as 0 and 1: shape (scenarios, 6)."""
    verdicts = [[item.passed(dimension) for dimension in DIMENSIONS] for item in items]
    rows = [[v is True for v in row] + [v is not None for v in row] for row in verdicts]
    return np.array(rows, dtype=np.float64).reshape(len(items), 2 * len(DIMENSIONS))


def _resampled(
    items: Sequence[ItemScore], arms: Sequence[Floats], *, seed: int, draws: int, level: float
) -> tuple[list[Floats], list[Floats]]:
    """Accuracies as observed, shape (6,), and as drawn, shape (draws, 6), for each arm.

    An accuracy without a scored item is NaN here and never leaves this module.
    """
    check_level(level)
    if draws < 1:
        raise InputError(f"draws must be 1 or more, got {draws}")
    rng = np.random.default_rng(seed)
    stacked = np.hstack(arms)
    observed: list[Floats] = []
    drawn: list[Floats] = []
    for kind in TYPES:
        stratum = stacked[[item.type == kind for item in items]]
        observed.append(stratum.sum(axis=0, keepdims=True))
        drawn.append(resampled_sums(stratum, draws, rng))
    return _by_arm(observed, len(arms), flat=True), _by_arm(drawn, len(arms), flat=False)


def resampled_sums(rows: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Column sums of ``draws`` resamples of the rows: shape (draws, columns)."""
    size = len(rows)
    if size == 0:
        return np.zeros((draws, rows.shape[1]))
    sums = []
    for done in range(0, draws, _BATCH):
        count = min(_BATCH, draws - done)
        # How often each scenario is in a resample. Whole numbers: the product is exact.
        weights = rng.multinomial(size, np.full(size, 1.0 / size), size=count)
        sums.append(weights.astype(np.float64) @ rows)
    return np.vstack(sums)


def _by_arm(sums: Sequence[Floats], arms: int, *, flat: bool) -> list[Floats]:
    """Turn each stratum's sums into accuracies in the order of the six cells."""
    width = len(DIMENSIONS)
    result = []
    for arm in range(arms):
        parts = []
        for stratum in sums:
            columns = stratum[:, arm * 2 * width : (arm + 1) * 2 * width]
            passed, scored = columns[:, :width], columns[:, width:]
            parts.append(
                np.divide(passed, scored, out=np.full_like(passed, np.nan), where=scored > 0)
            )
        accuracies = np.hstack(parts)
        result.append(accuracies[0] if flat else accuracies)
    return result


def _intervals(
    observed: Floats, drawn: Floats, scenarios: int, seed: int, draws: int, level: float
) -> ScoreIntervals:
    def over(columns: Sequence[int]) -> Interval:
        values = [None if np.isnan(observed[c]) else float(observed[c]) for c in columns]
        return percentile_interval(
            mean_or_none(values), drawn[:, list(columns)].mean(axis=1), draws, level
        )

    everything = range(len(CELLS))
    return ScoreIntervals(
        macro=over(everything),
        cells=tuple(over([c]) for c in everything),
        dimensions=tuple(over([c for c in everything if CELLS[c][1] == d]) for d in DIMENSIONS),
        types=tuple(over([c for c in everything if CELLS[c][0] == t]) for t in TYPES),
        scenarios=scenarios,
        seed=seed,
    )


def percentile_interval(
    estimate: float | None, values: Floats, draws: int, level: float
) -> Interval:
    """The interval from drawn values; those that are NaN are left out and counted."""
    defined = values[~np.isnan(values)]
    undefined = draws - len(defined)
    if estimate is None or len(defined) == 0:
        return Interval(
            estimate=estimate, low=None, high=None, level=level, draws=draws, undefined=undefined
        )
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(defined, [tail, 100 - tail])
    return Interval(
        estimate=estimate,
        low=float(low),
        high=float(high),
        level=level,
        draws=draws,
        undefined=undefined,
    )
