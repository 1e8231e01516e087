"""Exact tests and intervals on counts (paper, sections 5 and 6).

Plain numbers in, plain numbers out: nothing here knows scenarios or arms. All
p-values are two-sided. scipy comes with the ``experiments`` extra and is imported
when a function first needs it; only its special functions are, since ``scipy.stats``
takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from importlib import import_module
from math import sqrt
from typing import Annotated, Any

from pydantic import Field

from stateauditor.metrics.records import Rate, Share
from stateauditor.signatures.errors import ConfigError, InputError
from stateauditor.signatures.models import Frozen

Count = Annotated[int, Field(ge=0)]


class SignTest(Frozen):
    """Wins and losses with ties left out; ``p`` is exact and two-sided.

    ``p`` is 1.0 when there is neither a win nor a loss: nothing was observed.
    """

    wins: Count
    losses: Count
    ties: Count = 0
    p: Share


class ClusteredSignTest(Frozen):
    """The sign test on clusters, for cells that are not independent of each other.

    ``fixes`` and ``breaks`` count the cells that gained and lost; ``clusters`` holds
    the test on the clusters' net directions, where a cluster whose gains and losses
    balance is a tie.
    """

    fixes: Count
    breaks: Count
    clusters: SignTest


def sign_test(wins: int, losses: int, ties: int = 0) -> SignTest:
    """Exact two-sided sign test: are wins as likely as losses? Ties carry no weight.

    Raises :class:`InputError` for a negative count.

    >>> round(sign_test(83, 48).p, 5)
    0.00283
    """
    return SignTest(wins=wins, losses=losses, ties=ties, p=_binomial_half(wins, losses))


def mcnemar_exact(fixed: int, broken: int) -> float:
    """P-value of McNemar's exact test from the two discordant counts.

    ``fixed`` items went from fail to pass, ``broken`` from pass to fail; concordant
    items do not matter. 1.0 when both are 0.
    """
    _refuse_negative(fixed=fixed, broken=broken)
    return _binomial_half(fixed, broken)


def clustered_sign_test(changes: Iterable[tuple[Hashable, int]]) -> ClusteredSignTest:
    """Sign test on clusters of paired cells (paper, section 6.1: 616 and 11 cells, 331:1).

    ``changes`` gives for each cell its cluster (a scenario's uid, a user) and its
    change: +1 fixed, -1 broken, 0 unchanged. Cells of one scenario share a history,
    so the cluster is the unit: it counts once, by the sign of its sum.
    Raises :class:`InputError` for any other change.
    """
    sums: dict[Hashable, int] = {}
    fixes = breaks = 0
    for cluster, change in changes:
        if change not in (-1, 0, 1):
            raise InputError(f"cluster {cluster}: a change is -1, 0 or 1, got {change}")
        fixes += change == 1
        breaks += change == -1
        sums[cluster] = sums.get(cluster, 0) + change
    better = sum(total > 0 for total in sums.values())
    worse = sum(total < 0 for total in sums.values())
    return ClusteredSignTest(
        fixes=fixes,
        breaks=breaks,
        clusters=sign_test(better, worse, ties=len(sums) - better - worse),
    )


def wilson_interval(hits: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval for a share of ``n``, inside [0, 1]; None where ``n`` is 0.

    Raises :class:`InputError` when ``hits`` is not within 0 and ``n``, or ``level``
    not strictly between 0 and 1.
    """
    _refuse_negative(hits=hits, n=n)
    if hits > n:
        raise InputError(f"hits must be at most n, got {hits} of {n}")
    check_level(level)
    if n == 0:
        return None
    z = float(load_extra("scipy.special").ndtri((1 + level) / 2))
    share, shrink = hits / n, 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / shrink
    # At the ends the closed form leaves rounding dust beside 0 and 1.
    return (
        0.0 if hits == 0 else max(0.0, centre - half),
        1.0 if hits == n else min(1.0, centre + half),
    )


def rate(hits: int, n: int, level: float = 0.95) -> Rate:
    """A share with its Wilson interval; everything but the counts is None where ``n`` is 0."""
    interval = wilson_interval(hits, n, level)
    if interval is None:
        return Rate(hits=hits, n=n)
    return Rate(hits=hits, n=n, value=hits / n, low=interval[0], high=interval[1])


def rate_of(outcomes: Iterable[bool], level: float = 0.95) -> Rate:
    """The share of true values."""
    kept = list(outcomes)
    return rate(sum(kept), len(kept), level)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment, in the order given; empty for no p-values.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none may come out
    below one that was smaller before, or above 1. Raises :class:`InputError` for a value
    outside [0, 1].
    """
    for p in p_values:
        if not 0.0 <= p <= 1.0:
            raise InputError(f"a p-value lies between 0 and 1, got {p}")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    ascending = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank, place in enumerate(ascending):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def check_level(level: float) -> None:
    """Refuse a confidence level that is none."""
    if not 0.0 < level < 1.0:
        raise InputError(f"a confidence level lies between 0 and 1, got {level}")


def _binomial_half(wins: int, losses: int) -> float:
    _refuse_negative(wins=wins, losses=losses)
    if wins + losses == 0:
        return 1.0
    tail = load_extra("scipy.special").bdtr(min(wins, losses), wins + losses, 0.5)
    return min(1.0, 2 * float(tail))


def _refuse_negative(**counts: int) -> None:
    for name, count in counts.items():
        if count < 0:
            raise InputError(f"{name} must be 0 or more, got {count}")


def load_extra(module: str) -> Any:
    """Import a module of the ``experiments`` extra, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ConfigError(
            f"statistics need {package}; install it with: pip install 'stateauditor[experiments]'"
        ) from error
