"""Texts are compared without an LM and without the program's own tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.metrics.text import contains, content_tokens, coverage, fold, sentences


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I’m “home”", 'I\'m "home"'),
        ("a\u00a0b\n c", "a b c"),
        ("7–8 pm…", "7-8 PM..."),
        ("ﬁancé", "fiancé"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_typography_case_and_white_space_fold_away(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@given(st.text(max_size=60))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_sentences_lose_their_marks() -> None:
    assert sentences("“It moved.” Did it? Yes!\nAt 7.30 p.m") == (
        "it moved",
        "did it",
        "yes",
        "at 7.30 p.m",
    )
    assert sentences(" ... ") == ()


def test_containment_is_by_whole_words() -> None:
    assert contains("i am single now", "single")
    assert not contains("single-handedly? no, singlehandedly", "singlehand")
    assert contains("cat catalog cat", "cat")
    assert not contains("catalog", "cat")
    assert not contains("anything", "")


def test_a_later_whole_word_counts_after_a_partial_one() -> None:
    assert contains("catalog of a cat", "cat")


def test_negations_are_one_token_and_never_dropped() -> None:
    for text in ("no milk", "without milk", "isn't milk", "cannot milk", "never milk"):
        assert content_tokens(text) == {"not", "milk"}


def test_words_are_stemmed_and_small_words_dropped() -> None:
    assert content_tokens("The user's living in Denver's flats") == {"live", "denver", "flat"}
    assert content_tokens("what is it to me") == {"what"}


def test_coverage_of_nothing_is_nothing() -> None:
    assert coverage(frozenset(), frozenset({"a"})) == 0.0
    assert coverage(frozenset({"a", "b"}), frozenset({"a"})) == 0.5
