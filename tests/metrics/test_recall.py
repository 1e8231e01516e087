"""Strict recall asks for the gold text itself."""

from __future__ import annotations

import pytest

from stateauditor.metrics import (
    Dimension,
    PairRecall,
    RecallItem,
    ScenarioType,
    pair_recall,
    recall_table,
    session_recall,
)
from stateauditor.signatures.errors import InputError

OLD = "I've rented the same one-bedroom in Denver for four years."
NEW = "The truck on my block in Milwaukee rolls through at 5:40. I picked up the keys in March."


def test_a_pair_is_recalled_when_both_texts_stand_in_the_readout() -> None:
    lines = ["By the way: I’ve rented  the same one-bedroom in Denver for four years. Ha.", NEW]
    found = pair_recall(lines, OLD, NEW)
    assert (found.found_old, found.found_new, found.both) == (True, True, True)


def test_half_a_pair_is_no_pair() -> None:
    found = pair_recall([OLD], OLD, NEW)
    assert (found.found_old, found.found_new, found.both) == (True, False, False)


def test_near_is_not_there() -> None:
    assert not pair_recall(["I've rented a one-bedroom in Denver for four years."], OLD, NEW).both


def test_a_text_cut_between_windows_counts_when_every_sentence_is_there() -> None:
    first = "Funny. The truck on my block in Milwaukee rolls through at 5:40."
    second = "I picked up the keys in March. It is loud."
    assert pair_recall([first, second], OLD, NEW).found_new
    assert not pair_recall([first], OLD, NEW).found_new


def test_a_sentence_cut_in_two_is_not_found() -> None:
    cut = ["I've rented the same one-bedroom", "in Denver for four years."]
    assert not pair_recall(cut, OLD, NEW).found_old


def test_an_empty_readout_recalls_nothing() -> None:
    assert pair_recall([], OLD, NEW) == PairRecall(found_old=False, found_new=False)


@pytest.mark.parametrize("blank", ["", "  ", "..."])
def test_a_blank_gold_text_is_refused(blank: str) -> None:
    with pytest.raises(InputError, match="the old gold text is blank"):
        pair_recall([OLD], blank, NEW)


def test_session_recall_asks_for_a_line_of_each_relevant_session() -> None:
    assert session_recall([3, 14, 32], 14, 32).both
    assert session_recall([14], 14, 32) == PairRecall(found_old=True, found_new=False)


def item(
    uid: str, kind: ScenarioType, dimension: Dimension, old: bool, new: bool, tokens: int = 100
) -> RecallItem:
    recall = PairRecall(found_old=old, found_new=new)
    return RecallItem(uid=uid, type=kind, dimension=dimension, recall=recall, tokens=tokens)


def test_the_table_breaks_recall_down_with_intervals_and_tokens() -> None:
    table = recall_table(
        [
            item("a", "T1", "SR", True, True, 100),
            item("a", "T1", "PR", True, False, 300),
            item("b", "T2", "SR", False, True, 200),
            item("c", "T2", "SR", True, True, 200),
        ]
    )
    assert (table.overall.pair.hits, table.overall.pair.n) == (2, 4)
    assert (table.overall.old.hits, table.overall.new.hits) == (3, 3)
    assert table.overall.mean_tokens == 200.0
    # Wilson for 2 of 4, by hand: .5 -+ sqrt(z2/16 + z2*z2/64) / (1 + z2/4), z2 = 3.8415.
    assert table.overall.pair.low == pytest.approx(0.1500, abs=5e-5)
    assert [row.name for row in table.dimensions] == ["SR", "PR", "IPA"]
    assert [row.pair.hits for row in table.types] == [1, 1]
    assert table.cells[3].name == "T2-SR"
    assert table.cells[3].pair.value == 0.5
    assert (table.cells[5].pair.value, table.cells[5].mean_tokens) == (None, None)


def test_a_probe_counts_once() -> None:
    probe = item("a", "T1", "SR", True, True)
    with pytest.raises(InputError, match="a: the recall of dimension SR comes twice"):
        recall_table([probe, probe])
