"""Which cells are chosen: level over the strata, spread over scenarios, by the seed alone."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.experiments.annotation.cells import choose, quotas
from stateauditor.metrics import CELLS, DIMENSIONS, Dimension, ScenarioType
from stateauditor.signatures.errors import ConfigError


@dataclass(frozen=True)
class Probe:
    """As little of a cell as a choice needs."""

    uid: str
    type: ScenarioType
    dimension: Dimension


def pool(scenarios: int) -> list[Probe]:
    """All probes of ``scenarios`` scenarios of each type."""
    return [
        Probe(f"{kind}-{n:03d}", kind, dimension)
        for kind, dimension in CELLS
        for n in range(scenarios)
    ]


def test_the_paper_s_hundred_cells_are_level_over_types_and_dimensions() -> None:
    chosen = choose(pool(200), 100, 42)
    assert Counter(cell.type for cell in chosen) == {"T1": 50, "T2": 50}
    assert sorted(Counter(cell.dimension for cell in chosen).values()) == [33, 33, 34]
    assert len({cell.uid for cell in chosen}) == 100, "no two cells share a history"


def test_scenarios_come_twice_only_where_there_are_too_few() -> None:
    chosen = choose(pool(20), 60, 1)
    assert set(Counter(cell.uid for cell in chosen).values()) <= {1, 2}
    assert len({cell.uid for cell in chosen}) == 40


def test_fewer_cells_than_wanted_are_all_taken() -> None:
    assert len(choose(pool(3), 100, 42)) == 18


@given(st.permutations(pool(4)), st.integers(1, 30), st.integers())
def test_the_order_of_cells_decides_nothing(cells: list[Probe], count: int, seed: int) -> None:
    assert choose(cells, count, seed) == choose(pool(4), count, seed)


def test_another_seed_chooses_others() -> None:
    assert choose(pool(50), 30, 1) != choose(pool(50), 30, 2)


@given(
    st.lists(st.integers(0, 12), min_size=6, max_size=6),
    st.integers(1, 90),
)
def test_no_stratum_gives_more_than_another_that_has_some_left(
    numbers: list[int], count: int
) -> None:
    sizes = dict(zip(CELLS, numbers, strict=True))
    given_ = quotas(sizes, count)
    assert sum(given_.values()) == min(count, sum(numbers))
    assert all(given_[s] <= sizes[s] for s in CELLS)
    most = max(given_.values())
    assert all(given_[s] >= most - 1 for s in CELLS if given_[s] < sizes[s])


def test_what_is_not_there_in_a_stratum_is_not_chosen() -> None:
    cells = [cell for cell in pool(10) if random.Random(str(cell)).random() < 0.5]
    chosen = choose(cells, 20, 3)
    assert len(set(chosen)) == 20
    assert set(chosen) <= set(cells)
    order = [(cell.uid, DIMENSIONS.index(cell.dimension)) for cell in chosen]
    assert order == sorted(order)


def test_no_cell_is_no_choice() -> None:
    with pytest.raises(ConfigError, match="1 or more, got 0"):
        choose(pool(1), 0, 42)
