"""Six cells and their mean; what failed is counted apart."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.metrics import CELLS, Cell, CellScore, ScoreTable, score_table
from stateauditor.metrics.scores import mean_or_none
from tests.metrics.builders import (
    PREDECESSOR,
    RETRIEVAL_ONLY,
    STRICT_VTA,
    arms,
    cell,
    published_arms,
    scenario,
)

JOINT_PANEL = [
    ((0.605, 0.210, 0.595, 0.295, 0.130, 0.415), 0.375),
    ((0.795, 0.755, 0.705, 0.675, 0.595, 0.555), 0.680),
    ((0.940, 0.935, 0.890, 0.850, 0.870, 0.790), 0.879),
]


def table_of(accuracies: dict[Cell, float]) -> ScoreTable:
    """200 scenarios a type, as many passes a cell as the accuracy says."""
    return score_table(
        cell(f"{kind}-{n}", kind, dimension, n < round(share * 200))
        for (kind, dimension), share in accuracies.items()
        for n in range(200)
    )


@pytest.mark.parametrize(
    ("accuracies", "macro"),
    [
        (RETRIEVAL_ONLY, 0.395),
        (PREDECESSOR, 0.686),
        (STRICT_VTA, 0.736),
        *((dict(zip(CELLS, row, strict=True)), macro) for row, macro in JOINT_PANEL),
    ],
)
def test_table_1_macros_follow_from_table_1_cells(
    accuracies: dict[Cell, float], macro: float
) -> None:
    table = table_of(accuracies)
    assert [c.accuracy for c in table.cells] == pytest.approx(list(accuracies.values()))
    assert table.macro == pytest.approx(macro, abs=0.0005)


def test_the_rebuilt_arms_have_the_published_cells() -> None:
    for arm, published in zip(published_arms(), (STRICT_VTA, PREDECESSOR), strict=True):
        found = [c.accuracy for c in score_table(arm).cells]
        assert found == pytest.approx(list(published.values()))


def test_errors_and_ties_are_neither_right_nor_wrong() -> None:
    table = score_table(
        [
            cell("a", "T1", "SR", True),
            cell("b", "T1", "SR", False),
            cell("c", "T1", "SR", None, error=True),
            cell("d", "T1", "SR", None),
        ]
    )
    found = table.cell("T1", "SR")
    assert (found.n, found.passed, found.errors, found.undecided) == (2, 1, 1, 1)
    assert found.accuracy == 0.5
    assert (table.n, table.errors, table.undecided, table.scenarios) == (2, 1, 1, 4)


def test_a_cell_without_a_score_leaves_the_macro_undefined() -> None:
    table = score_table(scenario("a", "T1", True, True, False))
    assert table.cell("T2", "SR").accuracy is None
    assert table.macro is None
    assert table.mean_of_scored == pytest.approx(2 / 3)
    assert [t.accuracy for t in table.types] == [pytest.approx(2 / 3), None]
    assert [d.accuracy for d in table.dimensions] == [None, None, None]


def test_no_records_give_an_empty_table_without_nan() -> None:
    table = score_table([])
    assert (table.macro, table.mean_of_scored, table.n, table.scenarios) == (None, None, 0, 0)
    assert "NaN" not in table.model_dump_json()
    assert ScoreTable.model_validate_json(table.model_dump_json()) == table


def test_a_mean_with_a_hole_is_no_mean() -> None:
    assert mean_or_none([0.5, None]) is None


@given(arms())
def test_the_macro_is_the_mean_of_dimensions_and_of_types(built: list[list[CellScore]]) -> None:
    table = score_table(built[0])
    assert table.macro is not None
    assert mean_or_none([d.accuracy for d in table.dimensions]) == pytest.approx(table.macro)
    assert mean_or_none([t.accuracy for t in table.types]) == pytest.approx(table.macro)


@given(arms(errors=True), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(
    built: list[list[CellScore]], rng: random.Random
) -> None:
    shuffled = rng.sample(built[0], len(built[0]))
    assert score_table(shuffled).model_dump_json() == score_table(built[0]).model_dump_json()


@given(arms())
def test_a_failed_scenario_changes_no_accuracy(built: list[list[CellScore]]) -> None:
    failed = [cell("zz", "T1", d, None, error=True) for d in ("SR", "PR", "IPA")]
    before, after = score_table(built[0]), score_table(built[0] + failed)
    assert [c.accuracy for c in after.cells] == [c.accuracy for c in before.cells]
    assert after.errors == before.errors + 3
