"""Which cells are labelled: the same for the same seed, whatever order they come in.

The six strata (type and dimension) get as many cells each as far as they have them.
Within a type the dimensions take scenarios one after another from one shuffled round,
so that two cells share a history only where there are too few scenarios.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Final, Protocol, TypeVar

from stateauditor.metrics import CELLS, DIMENSIONS, TYPES, Dimension, ScenarioType
from stateauditor.signatures.errors import ConfigError


class HasStratum(Protocol):
    """What the choice looks at: whose probe it is, and of which kind."""

    @property
    def uid(self) -> str:
        """The scenario's id."""
        ...

    @property
    def type(self) -> ScenarioType:
        """The scenario's type."""
        ...

    @property
    def dimension(self) -> Dimension:
        """What the probe tests."""
        ...


C = TypeVar("C", bound=HasStratum)
Stratum = tuple[ScenarioType, Dimension]

# Left-over cells go round in this order, which keeps types and dimensions level.
_TURNS: Final[tuple[Stratum, ...]] = (
    ("T1", "SR"),
    ("T2", "PR"),
    ("T1", "IPA"),
    ("T2", "SR"),
    ("T1", "PR"),
    ("T2", "IPA"),
)


def choose(cells: Iterable[C], count: int, seed: int) -> tuple[C, ...]:
    """``count`` cells, or all where there are fewer, in order of uid and dimension.

    Raises :class:`ConfigError` for a ``count`` below 1.
    """
    if count < 1:
        raise ConfigError(f"the number of cells must be 1 or more, got {count}")
    pool: dict[Stratum, dict[str, C]] = {stratum: {} for stratum in CELLS}
    for cell in cells:
        pool[cell.type, cell.dimension][cell.uid] = cell
    wanted = quotas({stratum: len(found) for stratum, found in pool.items()}, count)
    chosen: list[C] = []
    for kind in TYPES:
        ring = _shuffled({uid for d in DIMENSIONS for uid in pool[kind, d]}, f"{seed}\0{kind}")
        for dimension in DIMENSIONS:
            found = pool[kind, dimension]
            taken = [uid for uid in ring if uid in found][: wanted[kind, dimension]]
            chosen += [found[uid] for uid in taken]
            # The next dimension begins with scenarios that this one left.
            ring = [uid for uid in ring if uid not in set(taken)] + taken
    return tuple(sorted(chosen, key=lambda cell: (cell.uid, DIMENSIONS.index(cell.dimension))))


def quotas(sizes: Mapping[Stratum, int], count: int) -> dict[Stratum, int]:
    """How many of ``count`` each stratum gives: level, but none more than it has.

    >>> sizes = {stratum: 50 for stratum in CELLS} | {("T1", "SR"): 2}
    >>> quotas(sizes, 22)["T1", "SR"], quotas(sizes, 22)["T2", "IPA"]
    (2, 4)
    """
    given = dict.fromkeys(CELLS, 0)
    left = min(count, sum(sizes.values()))
    while left:
        for stratum in _TURNS:
            if left and given[stratum] < sizes[stratum]:
                given[stratum] += 1
                left -= 1
    return given


def _shuffled(uids: Collection[str], salt: str) -> list[str]:
    """In an order that only ``salt`` decides, the same on every version of Python."""
    return sorted(uids, key=lambda uid: hashlib.sha256(f"{salt}\0{uid}".encode()).digest())
