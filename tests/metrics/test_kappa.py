"""Intervals of kappas: their estimates are the known ones, scenarios are what is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.metrics import cohen_kappa, fleiss_kappa, kappa_interval
from stateauditor.signatures.errors import InputError

# 20 both yes, 5 only the first, 10 only the second, 15 both no: kappa .4.
FIRST = [True] * 25 + [False] * 25
SECOND = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
TEXTBOOK = list(zip(FIRST, SECOND, strict=True))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12))
def test_of_two_it_estimates_cohens_kappa(votes: list[tuple[bool, bool]]) -> None:
    found = kappa_interval(enumerate(votes), seed=1, draws=10)
    expected = cohen_kappa([a for a, _ in votes], [b for _, b in votes])
    assert found.estimate == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(*[st.booleans()] * 4), max_size=12))
def test_of_more_it_estimates_fleiss_kappa(votes: list[tuple[bool, ...]]) -> None:
    found = kappa_interval(enumerate(votes), seed=1, draws=10)
    expected = fleiss_kappa(votes)
    assert found.estimate == (None if expected is None else pytest.approx(expected))


def test_the_interval_of_the_textbook_table_is_about_that_of_the_closed_form() -> None:
    # Fleiss, Cohen and Everitt (1969): the standard error of this table is .1270.
    found = kappa_interval(enumerate(TEXTBOOK), seed=42)
    assert found.low == pytest.approx(0.4 - 1.96 * 0.1270, abs=0.03)
    assert found.high == pytest.approx(0.4 + 1.96 * 0.1270, abs=0.03)


def test_items_of_one_scenario_are_drawn_together() -> None:
    alone = kappa_interval(enumerate(TEXTBOOK * 4), seed=42)
    together = kappa_interval(((n % 50, v) for n, v in enumerate(TEXTBOOK * 4)), seed=42)
    once = kappa_interval(enumerate(TEXTBOOK), seed=42)
    assert together.estimate == alone.estimate == once.estimate

    def width(low: float | None, high: float | None) -> float:
        assert low is not None
        assert high is not None
        return high - low

    assert width(together.low, together.high) == pytest.approx(width(once.low, once.high), abs=0.03)
    assert width(alone.low, alone.high) < 0.6 * width(together.low, together.high)


def test_the_order_of_items_decides_nothing() -> None:
    rows = [(f"u{n % 9}", votes) for n, votes in enumerate(TEXTBOOK)]
    assert kappa_interval(rows, seed=3) == kappa_interval(rows[::-1], seed=3)


def test_draws_of_one_label_are_left_out_and_counted() -> None:
    found = kappa_interval(enumerate([(True, True)] * 4 + [(False, False)]), seed=1, draws=500)
    assert found.estimate == pytest.approx(1.0)
    assert 0 < found.undefined < 500
    assert found.low == pytest.approx(1.0)


def test_what_has_no_kappa_has_no_interval() -> None:
    for rows in ([], [(1, (True, True)), (2, (True, True))]):
        found = kappa_interval(rows, seed=1, draws=10)
        assert (found.estimate, found.low, found.high) == (None, None, None)


@pytest.mark.parametrize("rows", [[(1, (True,))], [(1, (True, False)), (2, (True, False, True))]])
def test_every_item_needs_a_vote_of_each(rows: list[tuple[int, tuple[bool, ...]]]) -> None:
    with pytest.raises(InputError, match="one vote from each of two or more judges"):
        kappa_interval(rows, seed=1)


def test_draws_and_level_must_make_sense() -> None:
    with pytest.raises(InputError, match="draws must be 1 or more"):
        kappa_interval(enumerate(TEXTBOOK), seed=1, draws=0)
    with pytest.raises(InputError, match="confidence level"):
        kappa_interval(enumerate(TEXTBOOK), seed=1, level=1.0)
