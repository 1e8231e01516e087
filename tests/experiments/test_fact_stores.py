"""Stores with one plain change in them are what the fact benchmark says they are."""

from __future__ import annotations

import pytest

from stateauditor.experiments.benchmarks.fact_stores import (
    Kind,
    build_store,
    load_pairs,
    statements,
)
from stateauditor.experiments.benchmarks.fact_wording import as_fact, clauses


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Speaking of films, I really love westerns.", "User really loves westerns."),
        ("My car is a Skoda now.", "User's car is a Skoda now."),
        ("I've sold my car to a friend", "User has sold their car to a friend"),
        ("How are you today, my friend?", None),
        ("I agree with that entirely.", None),
    ],
)
def test_a_sentence_about_oneself_becomes_a_fact_about_user(said: str, fact: str | None) -> None:
    assert as_fact(said) == fact


def test_a_sentence_is_cut_into_statements_of_their_own() -> None:
    assert clauses("I sold my car, and I cycle to work; it rains.") == [
        "I sold my car", "I cycle to work", "it rains.",
    ]  # fmt: skip


def test_no_pair_stands_in_both_halves() -> None:
    tune, report = ({pair.old for pair in load_pairs(half)} for half in ("tune", "report"))
    assert len(tune) == len(report) == 20
    assert tune.isdisjoint(report)


@pytest.mark.parametrize("kind", Kind)
def test_a_store_holds_both_sides_the_old_one_first(kind: Kind) -> None:
    store = build_store(load_pairs("tune")[0], statements(), 60, kind, control=False, number=1)
    texts = [entry.text for entry in store.memory.evidence()]
    (old,) = [place for place, text in enumerate(texts) if store.old in text]
    (new,) = [place for place, text in enumerate(texts) if store.new in text]
    assert old < new
    assert len(texts) == 62
