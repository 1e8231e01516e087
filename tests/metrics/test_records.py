"""A score is a verdict or none; a failed item never has one."""

from __future__ import annotations

import random

import pytest
from pydantic import ValidationError

from stateauditor.metrics import CELLS, CellScore, cell_scores, item_scores
from stateauditor.signatures.errors import InputError
from tests.metrics.builders import cell, scenario


def test_the_six_cells_come_type_by_type() -> None:
    assert [f"{t} {d}" for t, d in CELLS] == [
        "T1 SR",
        "T1 PR",
        "T1 IPA",
        "T2 SR",
        "T2 PR",
        "T2 IPA",
    ]


@pytest.mark.parametrize("passed", [True, False])
def test_a_failed_item_with_a_verdict_is_refused(passed: bool) -> None:
    with pytest.raises(ValidationError, match="u1 SR: a failed item has no verdict"):
        cell("u1", "T1", "SR", passed, error=True)


def test_a_score_survives_a_json_round_trip() -> None:
    score = cell("u1", "T2", "IPA", None, error=True)
    assert CellScore.model_validate_json(score.model_dump_json()) == score


def test_a_verdict_on_a_failed_dimension_is_dropped() -> None:
    scores = cell_scores("u1", "T1", {"IPA": True, "SR": True}, errors=["SR", "PR"])
    assert [(s.dimension, s.passed, s.error) for s in scores] == [
        ("SR", None, True),
        ("PR", None, True),
        ("IPA", True, False),
    ]


def test_grouping_does_not_depend_on_the_order_of_work() -> None:
    cells = scenario("b", "T1", True, False, True) + scenario("a", "T2", False, False, None)
    shuffled = random.Random(1).sample(cells, len(cells))
    assert item_scores(shuffled) == item_scores(cells)
    first, second = item_scores(cells)
    assert (first.uid, first.passes, first.errors) == ("a", 0, 0)
    assert (second.passed("SR"), second.passed("PR"), second.passes) == (True, False, 2)
    assert first.passed("IPA") is None


def test_a_probe_scored_twice_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="u1: dimension SR is scored twice"):
        item_scores([cell("u1", "T1", "SR", True), cell("u1", "T1", "SR", True)])


def test_one_scenario_has_one_type() -> None:
    with pytest.raises(InputError, match="u1: scored both as T1 and as T2"):
        item_scores([cell("u1", "T1", "SR", True), cell("u1", "T2", "PR", True)])
