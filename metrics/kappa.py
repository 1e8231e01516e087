"""How sure a kappa is: bootstrap intervals over scenarios.

Items of one scenario share its history, so that the scenario is what is resampled,
as in :mod:`stateauditor.metrics.bootstrap`. Each draw is computed from sums over
scenarios, which both kappas need no more than.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial

import numpy as np

from stateauditor.metrics.bootstrap import (
    DRAWS,
    LEVEL,
    Floats,
    Interval,
    percentile_interval,
    resampled_sums,
)
from stateauditor.metrics.statistics import check_level
from stateauditor.signatures.errors import InputError


def kappa_interval(
    rows: Iterable[tuple[Hashable, Sequence[bool]]],
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> Interval:
    """Cohen's kappa of two judges, Fleiss' of more, with its interval over clusters.

    ``rows`` gives for each item its cluster (a scenario's uid) and one vote a judge.
    The estimate is that of :func:`cohen_kappa` or :func:`fleiss_kappa`: None where all
    votes are one label. ``undefined`` counts the draws in which that was so.
    Raises :class:`InputError` for rows of different lengths or with fewer than two votes.
    """
    check_level(level)
    if draws < 1:
        raise InputError(f"draws must be 1 or more, got {draws}")
    kept = sorted((str(cluster), tuple(votes)) for cluster, votes in rows)
    judges = {len(votes) for _, votes in kept}
    if not kept:
        return Interval(estimate=None, low=None, high=None, level=level, draws=draws)
    if len(judges) > 1 or min(judges) < 2:
        raise InputError("every item needs one vote from each of two or more judges")
    count = judges.pop()
    columns = _pair_columns if count == 2 else _panel_columns
    kappa = _cohen if count == 2 else partial(_fleiss, judges=count)
    sums: dict[str, Floats] = {}
    for cluster, votes in kept:
        sums[cluster] = sums.get(cluster, np.zeros(4)) + columns(votes)
    clusters = np.array(list(sums.values()))
    observed = float(kappa(clusters.sum(axis=0, keepdims=True))[0])
    drawn = kappa(resampled_sums(clusters, draws, np.random.default_rng(seed)))
    return percentile_interval(None if np.isnan(observed) else observed, drawn, draws, level)


def _pair_columns(votes: Sequence[bool]) -> Floats:
    """One item of two judges: both yes, only the first, only the second, both no."""
    first, second = votes
    return np.array(
        [first and second, first and not second, second and not first, not (first or second)],
        dtype=np.float64,
    )


def _cohen(sums: Floats) -> Floats:
    """Kappa of each row of counts; NaN where chance alone explains full agreement."""
    both, one, two, neither = sums.T
    n = sums.sum(axis=1)
    by_chance = ((both + one) * (both + two) + (two + neither) * (one + neither)) / n**2
    return _kappa((both + neither) / n, by_chance)


def _panel_columns(votes: Sequence[bool]) -> Floats:
    """One item of several judges: 1, its agreeing (ordered) pairs, all its pairs, its yes."""
    yes, count = sum(votes), len(votes)
    no = count - yes
    agreeing = yes * (yes - 1) + no * (no - 1)
    return np.array([1, agreeing, count * (count - 1), yes], dtype=np.float64)


def _fleiss(sums: Floats, *, judges: int) -> Floats:
    items, agreeing, pairs, yes = sums.T
    share = yes / (items * judges)
    return _kappa(agreeing / pairs, share**2 + (1 - share) ** 2)


def _kappa(observed: Floats, by_chance: Floats) -> Floats:
    defined = by_chance < 1
    top, bottom = observed - by_chance, np.where(defined, 1 - by_chance, 1.0)
    found: Floats = np.where(defined, top / bottom, np.nan)
    return found
