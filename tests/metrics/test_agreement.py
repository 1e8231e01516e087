"""Several judges: their majority, and how far they agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.metrics import (
    CellScore,
    agreement,
    cohen_kappa,
    fleiss_kappa,
    majority_cells,
    majority_vote,
    percent_agreement,
    score_table,
)
from stateauditor.signatures.errors import InputError
from tests.metrics.builders import cell, scenario

# The usual textbook table: 20 both yes, 5 only the first, 10 only the second, 15 both no.
FIRST = [True] * 25 + [False] * 25
SECOND = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15

votes = st.lists(st.sampled_from([True, False, None]), min_size=2, max_size=5)


def test_cohens_kappa_of_the_textbook_table() -> None:
    # Observed .7, by chance .5 * .6 + .5 * .4 = .5: (.7 - .5) / (1 - .5).
    assert percent_agreement(FIRST, SECOND) == pytest.approx(0.7)
    assert cohen_kappa(FIRST, SECOND) == pytest.approx(0.4)


def test_fleiss_kappa_of_the_same_table_pools_the_margins() -> None:
    # By chance .55**2 + .45**2 = .505: (.7 - .505) / (1 - .505).
    rows = list(zip(FIRST, SECOND, strict=True))
    assert fleiss_kappa(rows) == pytest.approx(0.195 / 0.495)


def test_fleiss_kappa_of_three_judges() -> None:
    # Agreement within items 1, 1/3, 1/3, 1; all votes half yes: (2/3 - .5) / .5.
    rows = [[True] * 3, [True, True, False], [True, False, False], [False] * 3]
    assert fleiss_kappa(rows) == pytest.approx(1 / 3)


def test_full_agreement_on_two_labels_is_one_and_full_disagreement_minus_one() -> None:
    assert cohen_kappa([True, False], [True, False]) == pytest.approx(1.0)
    assert cohen_kappa([True, False], [False, True]) == pytest.approx(-1.0)


@pytest.mark.parametrize("label", [True, False])
def test_one_label_throughout_leaves_kappa_undefined(label: bool) -> None:
    same = [label] * 4
    assert cohen_kappa(same, same) is None
    assert fleiss_kappa([[label, label]] * 4) is None
    assert percent_agreement(same, same) == 1.0


def test_a_judge_that_never_varies_agrees_by_chance_only() -> None:
    assert cohen_kappa([True] * 4, [True, True, False, False]) == pytest.approx(0.0)


def test_nothing_in_common_leaves_everything_undefined() -> None:
    assert percent_agreement([True, None], [None, False]) is None
    assert cohen_kappa([], []) is None
    assert fleiss_kappa([[True, None]]) is None
    assert fleiss_kappa([[True], [False]]) is None
    assert fleiss_kappa([]) is None


def test_judges_must_vote_on_the_same_items() -> None:
    with pytest.raises(InputError, match="2 and 1 votes"):
        cohen_kappa([True, False], [True])
    with pytest.raises(InputError, match="one vote, or None, from each judge"):
        fleiss_kappa([[True, False], [True]])


@given(votes)
def test_a_majority_needs_more_than_half_of_the_votes_cast(ballots: list[bool | None]) -> None:
    found = majority_vote(ballots)
    assert found.yes + found.no + found.abstained == len(ballots)
    assert found.tie == (found.yes == found.no > 0)
    assert found.passed == (None if found.yes == found.no else found.yes > found.no)


def test_no_vote_is_no_tie() -> None:
    found = majority_vote([None, None])
    assert (found.passed, found.tie, found.abstained) == (None, False, 2)


def panel() -> dict[str, list[CellScore]]:
    failed = cell("b", "T2", "SR", None, error=True)
    return {
        "one": [*scenario("a", "T1", True, True, False), failed],
        "two": [*scenario("a", "T1", True, False, False), failed],
        "three": [*scenario("a", "T1", False, None, True)],
    }


def test_the_panels_verdict_keeps_ties_and_errors_apart() -> None:
    verdict = majority_cells(panel())
    assert verdict.ties == (("a", "PR"),)
    table = score_table(verdict.cells)
    assert (table.n, table.passed, table.undecided, table.errors) == (2, 1, 1, 1)


def test_one_failed_judge_does_not_fail_the_cell() -> None:
    judged = {
        "one": [cell("a", "T1", "SR", None, error=True)],
        "two": [cell("a", "T1", "SR", True)],
    }
    (found,) = majority_cells(judged).cells
    assert (found.passed, found.error) == (True, False)


def test_agreement_tells_each_pair_and_all_together() -> None:
    found = agreement(panel())
    assert found.judges == ("one", "two", "three")
    assert (found.items, found.left_out) == (2, 2)
    assert found.percent == 0.0
    assert [(p.first, p.second, p.items) for p in found.pairs] == [
        ("one", "two", 3),
        ("one", "three", 2),
        ("two", "three", 2),
    ]
    assert found.pairs[0].percent == pytest.approx(2 / 3)
    # By hand: observed 2/3, by chance 2/3 * 1/3 + 1/3 * 2/3 = 4/9.
    assert found.pairs[0].kappa == pytest.approx(0.4)
    assert found.pairs[1].kappa == pytest.approx(-1.0)


def test_no_judges_and_no_cells_agree_about_nothing() -> None:
    assert agreement({}).pairs == ()
    empty = agreement({"one": [], "two": []})
    assert (empty.items, empty.percent, empty.fleiss, empty.pairs[0].kappa) == (0, None, None, None)
