"""Folding keeps the words and the way back to them."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.grounding.folding import fold, fold_with_map
from stateauditor.program.grounding.tokens import Kind, content_tokens, tokenize

TEXT = st.text(st.characters(), max_size=60)


@given(TEXT)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(st.characters(categories=("L", "M", "N", "Zs")), max_size=60))
def test_composed_and_decomposed_text_fold_alike(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert fold(unicodedata.normalize("NFD", composed)) == fold(composed)


@given(TEXT)
def test_the_map_points_into_the_original(text: str) -> None:
    folded = fold_with_map(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    for start, end in zip(folded.starts, folded.ends, strict=True):
        assert 0 <= start < end <= len(text)


@given(TEXT)
def test_tokens_lie_in_order_inside_the_text(text: str) -> None:
    tokens = tokenize(text)
    assert all(0 <= t.start < t.end <= len(text) for t in tokens)
    assert all(a.start <= b.start for a, b in pairwise(tokens))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﬁne", "FINE"),
        ("œuvre", "oeuvre"),
        ("Straße", "STRASSE"),
        ("“don’t”", '"don\'t"'),
        ("one‑bedroom — flat", "one-bedroom - flat"),
        ("wait…", "wait..."),
        ("no\u00a0break", "no break"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("٤٢", "42"),
        ("👩\u200d💻", "👩💻"),
        ("a\u0323\u0307", "a\u0307\u0323"),
    ],
)
def test_typographic_variants_fold_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"), [("1½", "11/2"), ("10²", "102"), ("résumé", "resume"), ("Dеnver", "Denver")]
)
def test_different_things_stay_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_marks_in_any_order_keep_their_offsets() -> None:
    # Two marks swap when ordered; U+0488 has class 0 and stays in place.
    text = "xa\u0307\u0323\u0488\u0301b"
    folded = fold_with_map(text)
    assert folded.text == "xa\u0323\u0307\u0488\u0301b"
    assert list(folded.starts) == [0, 1, 3, 2, 4, 5, 6]
    accented = "cafe\u0301\u0323 au lait"
    first = tokenize(accented)[0]
    assert accented[first.start : first.end] == "cafe\u0301\u0323"


def shape(text: str) -> list[tuple[str, str]]:
    return [(t.text, t.kind.value) for t in tokenize(text)]


@pytest.mark.parametrize(
    "text", ["don't", "don’t", "dont", "do\u200bn't", "can't", "cannot", "ain't"]
)
def test_contractions_are_negations(text: str) -> None:
    assert shape(text) == [("not", "negation")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,040", ["1040"]),
        ("400,000 lines", ["400000", "lines"]),
        ("5:40 a.m.", ["5:40", "am"]),
        ("5:40am", ["5:40", "am"]),
        ("3.5 km", ["3.5", "km"]),
        ("25%", ["25", "%"]),
        ("25 percent", ["25", "%"]),
        ("$80", ["$", "80"]),
        ("-5 degrees", ["-5", "degrees"]),
        ("10-14 miles", ["10", "14", "miles"]),
        ("2011", ["2011"]),
        ("the 2nd", ["2nd"]),
        ("B12", ["b12"]),
        ("½ cup", ["1/2", "cup"]),
        ("٤٢", ["42"]),
        ("O'Brien's", ["obrien"]),
        ("l'appartement", ["appartement"]),
        ("n'habite", ["ne", "habite"]),
        ("un**employed**", ["unemployed"]),
        ("snake_case", ["snake", "case"]),
        ("東京に", ["東", "京", "に"]),
        ("います", ["い", "ま", "す"]),
        ("いません", ["い", "ません"]),
        ("ประเทศ", ["ป", "ร", "ะ", "เ", "ท", "ศ"]),
        ("the of and", []),
        ("👍 …", []),
    ],
)
def test_content_tokens(text: str, words: list[str]) -> None:
    assert [fold_token.text for fold_token in content_tokens(text)] == [fold(w) for w in words]


def test_kinds() -> None:
    assert shape("I am 30 am") == [
        ("i", "stop"),
        ("am", "stop"),
        ("30", "number"),
        ("am", "number"),
    ]
    assert [t.kind for t in tokenize("three 三 않아요 nobody")] == [
        Kind.NUMBER,
        Kind.NUMBER,
        Kind.NEGATION,
        Kind.NEGATION,
    ]
