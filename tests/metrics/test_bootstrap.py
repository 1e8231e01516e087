"""Intervals over scenarios: seeded, stratified, and honest about what is undefined."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateauditor.metrics import (
    DIMENSIONS,
    TYPES,
    CellScore,
    bootstrap_difference,
    bootstrap_scores,
    item_scores,
    pair_arms,
    score_table,
)
from stateauditor.signatures.errors import InputError
from tests.metrics.builders import arms, cell, published_arms, scenario


def test_the_same_seed_gives_the_same_bytes_in_any_order() -> None:
    cells, _ = published_arms()
    shuffled = random.Random(3).sample(cells, len(cells))
    first, again = bootstrap_scores(cells, seed=42), bootstrap_scores(shuffled, seed=42)
    assert first.model_dump_json() == again.model_dump_json()
    assert first.macro.draws == 10_000
    assert bootstrap_scores(cells, seed=43).macro != first.macro


def test_what_a_seed_means_is_pinned() -> None:
    vta, _ = published_arms()
    macro = bootstrap_scores(vta, seed=42, draws=1000).macro
    assert (macro.low, macro.high) == pytest.approx((0.6974791666666665, 0.7725), abs=1e-12)


def test_a_cell_interval_is_the_binomials() -> None:
    # One cell resampled is a binomial draw: 160 of 200, sd = sqrt(.8 * .2 / 200).
    vta, _ = published_arms()
    interval = bootstrap_scores(vta, seed=1).cells[0]
    sd = np.sqrt(0.8 * 0.2 / 200)
    assert interval.estimate == pytest.approx(0.8)
    assert interval.low == pytest.approx(0.8 - 1.96 * sd, abs=0.006)
    assert interval.high == pytest.approx(0.8 + 1.96 * sd, abs=0.006)


def test_scenarios_are_resampled_not_cells() -> None:
    # Three probes that always agree carry the information of one.
    together = [c for n in range(100) for c in scenario(f"a{n}", "T1", *[n < 50] * 3)]
    together += [c for n in range(100) for c in scenario(f"b{n}", "T2", *[n < 50] * 3)]
    interval = bootstrap_scores(together, seed=5).macro
    assert interval.low is not None
    assert interval.high is not None
    half = (interval.high - interval.low) / 2
    by_scenario = 1.96 * np.sqrt(0.25 / 200)
    assert half == pytest.approx(by_scenario, rel=0.05)


def test_strata_keep_their_sizes() -> None:
    # All of T1 passes, nothing of T2: only resampling across types could move the macro.
    cells = scenario("a", "T1", True, True, True) + scenario("b", "T2", False, False, False)
    cells += scenario("c", "T1", True, True, True)
    macro = bootstrap_scores(cells, seed=0).macro
    assert (macro.low, macro.estimate, macro.high) == (0.5, 0.5, 0.5)


def test_a_small_bootstrap_has_the_distribution_of_full_enumeration() -> None:
    # All 27 resamples of (pass, fail, fail): 3 passes once, 2 six times, 1 twelve times.
    outcomes = [True, False, False]
    cells = [cell(f"{t}{n}", t, "SR", v) for t in TYPES for n, v in enumerate(outcomes)]
    shares = [sum(draw) / 3 for draw in product(outcomes, repeat=3)]
    for level in (0.5, 0.8, 0.95):
        tails = [100 * (1 - level) / 2, 100 * (1 + level) / 2]
        low, high = np.percentile(shares, tails, method="inverted_cdf")
        interval = bootstrap_scores(cells, seed=9, level=level).cells[0]
        assert (interval.low, interval.high) == pytest.approx((low, high))


def test_the_level_widens_the_interval() -> None:
    vta, _ = published_arms()
    wide, narrow = (bootstrap_scores(vta, seed=2, level=level).macro for level in (0.99, 0.5))
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low


def test_a_cell_without_a_score_has_no_interval() -> None:
    table = bootstrap_scores(scenario("a", "T1", True, False, True), seed=0)
    assert table.cells[0].low == table.cells[0].high == 1.0
    assert (table.macro.estimate, table.macro.low, table.macro.high) == (None, None, None)
    assert "NaN" not in table.model_dump_json()


def test_no_scenarios_have_no_interval() -> None:
    assert bootstrap_scores([], seed=0).macro.low is None


def test_draws_that_hit_only_failed_items_are_counted() -> None:
    cells = [cell("a", "T1", "SR", True), cell("b", "T1", "SR", None, error=True)]
    interval = bootstrap_scores(cells, seed=0, draws=2000).cells[0]
    assert (interval.estimate, interval.low, interval.high) == (1.0, 1.0, 1.0)
    assert 400 < interval.undefined < 600  # one draw in four


@pytest.mark.parametrize(("draws", "level"), [(0, 0.95), (10, 0.0), (10, 1.0)])
def test_settings_that_mean_nothing_are_refused(draws: int, level: float) -> None:
    with pytest.raises(InputError, match=r"draws must be 1 or more|a confidence level"):
        bootstrap_scores(scenario("a", "T1", True), seed=0, draws=draws, level=level)


@settings(max_examples=40)
@given(arms(), st.integers(0, 2**32))
def test_the_interval_holds_the_estimate(built: list[list[CellScore]], seed: int) -> None:
    macro = bootstrap_scores(built[0], seed=seed, draws=2000).macro
    assert macro.estimate == pytest.approx(score_table(built[0]).macro)
    assert macro.low is not None
    assert macro.estimate is not None
    assert macro.high is not None
    assert macro.low - 1e-12 <= macro.estimate <= macro.high + 1e-12


@settings(max_examples=30)
@given(arms(2))
def test_swapping_the_arms_negates_the_difference(built: list[list[CellScore]]) -> None:
    paired = pair_arms(*built)
    forth = bootstrap_difference(paired.first, paired.second, seed=7, draws=500)
    back = bootstrap_difference(paired.second, paired.first, seed=7, draws=500)
    for one, other in zip((forth.macro, *forth.cells), (back.macro, *back.cells), strict=True):
        assert one.estimate == pytest.approx(-(other.estimate or 0.0), abs=1e-12)
        assert one.low == pytest.approx(-(other.high or 0.0), abs=1e-12)
        assert one.high == pytest.approx(-(other.low or 0.0), abs=1e-12)


def test_an_arm_differs_from_itself_by_nothing() -> None:
    vta, _ = published_arms()
    items = item_scores(vta)
    macro = bootstrap_difference(items, items, seed=0, draws=200).macro
    assert (macro.low, macro.estimate, macro.high) == (0.0, 0.0, 0.0)


def test_unpaired_scenarios_are_refused() -> None:
    one, other = (item_scores(scenario(uid, "T1", True, True, True)) for uid in "ab")
    with pytest.raises(InputError, match="the same scenarios in the same order"):
        bootstrap_difference(one, other, seed=0)
    part = item_scores(scenario("a", "T1", True, None, True))
    with pytest.raises(InputError, match="verdicts on the same cells"):
        bootstrap_difference(one, part, seed=0)


def test_every_dimension_and_type_has_its_interval() -> None:
    vta, _ = published_arms()
    table = bootstrap_scores(vta, seed=0, draws=300)
    scores = score_table(vta)
    assert len(table.dimensions) == len(DIMENSIONS)
    assert [i.estimate for i in table.dimensions] == pytest.approx(
        [d.accuracy for d in scores.dimensions]
    )
    assert [i.estimate for i in table.types] == pytest.approx([t.accuracy for t in scores.types])
