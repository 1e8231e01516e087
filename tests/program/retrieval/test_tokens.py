"""Words of every script become terms, and a text has a price without a network."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.retrieval import tokens
from stateauditor.program.retrieval.tokens import count_tokens, fold, stem, term, words


def test_contractions_and_letters_with_digits_stay_whole() -> None:
    assert words("I'm at 7:42 on the 2nd, b12") == [
        "i'm",
        "at",
        "7",
        "42",
        "on",
        "the",
        "2nd",
        "b12",
    ]


def test_dense_scripts_are_indexed_by_characters_and_pairs() -> None:
    assert words("我搬家") == ["我", "搬", "家", "我搬", "搬家"]
    assert "서울" in words("서울에 살아요")
    assert "ไท" in words("ภาษาไทย")
    assert words("iPhone新") == ["iphone", "新"]


def test_emoji_and_flags_are_words() -> None:
    assert words("🐈 home 🇩🇪!") == ["🐈", "home", "🇩🇪"]


def test_letters_keep_their_marks() -> None:
    assert words("हिन्दी में") == ["हिन्दी", "में"]


@given(st.text(alphabet=st.characters(max_codepoint=127) | st.sampled_from("'aB ")))
def test_the_fast_path_for_ascii_finds_the_same_words(text: str) -> None:
    assert words(text) == [fold(word) for word in tokens._WORD.findall(text)]


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Café", "cafe"),
        ("I’VE", "i've"),
        ("ﬁancée", "fiancee"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("Ａ", "a"),
        ("الشُّقَّة", "الشقه"),
        ("И́", "И́".casefold()),
        ("アパート", "アパート"),
    ],
)
def test_folding_drops_case_accents_and_typography(written: str, folded: str) -> None:
    assert fold(written) == folded


@pytest.mark.parametrize(
    "family",
    [
        "hike hikes hiked hiking",
        "cycle cycles cycled cycling",
        "move moves moved moving",
        "run runs running",
        "carry carries carried",
        "lease leases leased leasing",
        "party parties",
        "box boxes",
        "daughter daughters daughter's daughters'",
        "glass glasses",
    ],
)
def test_inflected_forms_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


def test_short_words_numbers_and_lookalikes_are_left_alone() -> None:
    assert [stem(w) for w in ("bus", "his", "gas", "7:42", "sing", "red", "us")] == [
        "bus", "his", "gas", "7:42", "sing", "red", "us",
    ]  # fmt: skip
    assert stem("general") != stem("generous")
    assert stem("news") != stem("status")


def test_arabic_articles_are_dropped_from_long_words_only() -> None:
    assert term("الشقة") == term("شقة")
    assert stem("الو") == "الو"


def test_terms_of_other_scripts_are_only_folded() -> None:
    assert term("Кошка") == "кошка"


def test_ascii_costs_a_quarter_token_a_character_rounded_up() -> None:
    assert [count_tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


def test_wide_characters_cost_one_token_each() -> None:
    assert count_tokens("我搬家了") == 4
    assert count_tokens("我 moved") == 1 + 2
    assert count_tokens("café") == 1


@given(st.text(), st.text())
def test_the_price_grows_with_the_text_and_is_about_additive(one: str, other: str) -> None:
    joint = count_tokens(one + other)
    assert max(count_tokens(one), count_tokens(other)) <= joint
    assert joint <= count_tokens(one) + count_tokens(other)


def test_many_texts_are_split_as_if_one_by_one() -> None:
    texts = ["I'm here", "", "'quoted' 'tis", "café 我", "nul\0byte", "last"]
    expected = [item for text in texts for item in (*words(text), tokens.BREAK)]
    assert tokens.words_of_all(texts) == expected


def test_a_word_of_marks_that_fold_to_nothing_is_dropped() -> None:
    assert words("ـ") == []
