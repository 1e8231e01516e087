"""Two arms on the same scenarios, against the counts of the paper's strict run."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateauditor.metrics import (
    CELLS,
    CellScore,
    Comparison,
    Dimension,
    compare_arms,
    pair_arms,
    paired_difference,
    scenario_wins,
    sign_test,
)
from stateauditor.signatures.errors import InputError
from tests.metrics.builders import PAIRED, arms, cell, published_arms, scenario


@pytest.fixture(scope="module")
def strict_run() -> Comparison:
    return compare_arms(*published_arms(), seed=42)


def test_the_paired_gain_is_5_points_with_the_published_interval(strict_run: Comparison) -> None:
    gain = strict_run.differences.macro
    assert gain.estimate == pytest.approx(0.050)
    # The paper has [+2.9, +7.2]. How its counts fall on scenarios is not published;
    # with the assignment rebuilt here the ends agree within half a point.
    assert gain.low == pytest.approx(0.029, abs=0.005)
    assert gain.high == pytest.approx(0.072, abs=0.005)


def test_84_scenarios_are_better_and_37_worse(strict_run: Comparison) -> None:
    found = strict_run.scenarios
    assert (found.wins, found.losses, found.ties) == (84, 37, 279)
    assert found.p < 1e-4
    assert strict_run.clustered.clusters == found
    assert (strict_run.clustered.fixes, strict_run.clustered.breaks) == (108, 48)


@pytest.mark.parametrize(
    ("dimension", "wins", "losses"), [("SR", 24, 32), ("PR", 31, 10), ("IPA", 53, 6)]
)
def test_each_dimension_moves_as_published(dimension: Dimension, wins: int, losses: int) -> None:
    found = scenario_wins(*published_arms(), dimension=dimension)
    assert (found.wins, found.losses) == (wins, losses)


def test_the_t2_pocket_is_found() -> None:
    arms_ = published_arms()
    found = scenario_wins(*arms_, dimension="SR", type="T2")
    assert (found.wins, found.losses, found.ties) == (12, 21, 167)
    assert scenario_wins(*arms_, type="T1").wins + scenario_wins(*arms_, type="T2").wins == 84


def test_each_cell_has_mcnemars_test_and_holms_correction(strict_run: Comparison) -> None:
    assert [(c.type, c.dimension) for c in strict_run.cells] == list(CELLS)
    for found in strict_run.cells:
        assert (found.fixed, found.broken) == PAIRED[found.type, found.dimension]
        assert found.n == 200
        assert found.p == pytest.approx(sign_test(found.fixed, found.broken).p)
        assert found.p_holm >= found.p
    smallest = min(strict_run.cells, key=lambda c: c.p)
    assert (smallest.type, smallest.dimension) == ("T2", "IPA")
    assert smallest.p_holm == pytest.approx(6 * smallest.p)


def test_the_short_form_gives_the_same_difference(strict_run: Comparison) -> None:
    assert paired_difference(*published_arms(), seed=42) == strict_run.differences.macro


def test_a_probe_that_failed_in_one_arm_leaves_the_comparison() -> None:
    first = [*scenario("a", "T1", True, True, True), cell("b", "T1", "SR", None, error=True)]
    second = [*scenario("a", "T1", False, True, None), cell("b", "T1", "SR", True)]
    paired = pair_arms(first, second)
    assert [item.uid for item in paired.first] == ["a"]
    assert [c.dimension for c in paired.first[0].cells] == ["SR", "PR"]
    assert (paired.unpaired_cells, paired.unpaired_scenarios) == (2, 1)
    assert scenario_wins(first, second).wins == 1
    assert scenario_wins(first, second, dimension="IPA").ties == 0


def test_a_scenario_of_one_arm_only_is_counted_apart() -> None:
    first = scenario("a", "T1", True, True, True)
    paired = pair_arms(first, first + scenario("b", "T2", True, True, True))
    assert (paired.unpaired_cells, paired.unpaired_scenarios) == (3, 1)


def test_a_scenario_keeps_its_type_in_both_arms() -> None:
    with pytest.raises(InputError, match="a: T1 in one arm and T2 in the other"):
        pair_arms(scenario("a", "T1", True), scenario("a", "T2", True))


@settings(max_examples=8)
@given(arms(2, errors=True), st.randoms(use_true_random=False))
def test_the_order_of_scenarios_changes_no_byte(
    built: list[list[CellScore]], rng: random.Random
) -> None:
    mixed = [rng.sample(arm, len(arm)) for arm in built]
    straight = compare_arms(*built, seed=1, draws=200).model_dump_json()
    assert compare_arms(*mixed, seed=1, draws=200).model_dump_json() == straight
    assert "NaN" not in straight


@settings(max_examples=8)
@given(arms(2, errors=True))
def test_swapping_the_arms_swaps_wins_and_losses(built: list[list[CellScore]]) -> None:
    forth = compare_arms(built[0], built[1], seed=1, draws=100)
    back = compare_arms(built[1], built[0], seed=1, draws=100)
    assert (forth.scenarios.wins, forth.scenarios.losses) == (
        back.scenarios.losses,
        back.scenarios.wins,
    )
    assert forth.scenarios.p == back.scenarios.p
    assert [(c.fixed, c.broken, c.p) for c in forth.cells] == [
        (c.broken, c.fixed, c.p) for c in back.cells
    ]
    assert forth.unpaired_cells == back.unpaired_cells
