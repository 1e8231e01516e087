"""The inverted index scores exactly like rank-bm25's BM25Okapi."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from stateauditor.program.retrieval.bm25 import Postings, build_postings

_WORDS = st.sampled_from([f"w{n}" for n in range(12)])
# rank-bm25 divides by the number of windows and of words, so it needs one of each.
_CORPORA = st.lists(st.lists(_WORDS, max_size=12), min_size=1, max_size=25).filter(any)


def postings_of(corpus: list[list[str]]) -> Postings:
    terms = list(dict.fromkeys(word for window in corpus for word in window))
    ids = np.array([terms.index(word) for window in corpus for word in window], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum([len(window) for window in corpus], dtype=np.int64)))
    return build_postings(terms, ids, offsets)


@given(_CORPORA, st.lists(_WORDS, max_size=8))
def test_scores_equal_bm25okapi_on_random_corpora(
    corpus: list[list[str]], query: list[str]
) -> None:
    expected = BM25Okapi(corpus).get_scores(query)
    assert postings_of(corpus).scores(query) == pytest.approx(expected, abs=1e-9)


def test_a_word_in_most_windows_gets_the_epsilon_floor() -> None:
    corpus = [["the", "cat"], ["the", "dog"], ["the", "the", "owl"], ["the"]]
    okapi = BM25Okapi(corpus)
    assert okapi.idf["the"] == okapi.epsilon * okapi.average_idf
    assert postings_of(corpus).scores(["the", "owl", "the"]) == pytest.approx(
        okapi.get_scores(["the", "owl", "the"]), abs=1e-9
    )


def test_larger_corpora_agree_too() -> None:
    random = np.random.default_rng(7)
    corpus = [[f"w{n}" for n in random.zipf(1.3, 30) if n < 500] for _ in range(400)]
    okapi, postings = BM25Okapi(corpus), postings_of(corpus)
    for _ in range(20):
        query = [f"w{n}" for n in random.integers(1, 60, 15)]
        assert postings.scores(query) == pytest.approx(okapi.get_scores(query), abs=1e-9)


def test_no_windows_and_empty_windows_score_nothing() -> None:
    assert postings_of([]).scores(["a"]).tolist() == []
    assert postings_of([[], []]).scores(["a"]).tolist() == [0.0, 0.0]


def test_an_unknown_word_scores_nothing() -> None:
    assert postings_of([["a"], ["b"]]).scores(["zebra"]).tolist() == [0.0, 0.0]
