"""Sentences are found in any script, as offsets, and never grow too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.retrieval.sentences import MAX_SENTENCE_CHARS, sentence_spans


def split(text: str, limit: int = MAX_SENTENCE_CHARS) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, limit)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I moved. It rains!  Why?", ["I moved.", "It rains!", "Why?"]),
        (
            "我上个月搬家了。新公寓很小！你呢？好",
            ["我上个月搬家了。", "新公寓很小！", "你呢？", "好"],
        ),
        ("引っ越しました。「狭い。」と思う。", ["引っ越しました。", "「狭い。」", "と思う。"]),
        ("أين تسكن؟ في برلين.", ["أين تسكن؟", "في برلين."]),
        ("میں یہاں ہوں۔ ٹھیک ہے۔", ["میں یہاں ہوں۔", "ٹھیک ہے۔"]),
        ("मैं यहाँ हूँ। ठीक है।", ["मैं यहाँ हूँ।", "ठीक है।"]),
        ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
    ],
)
def test_terminal_marks_of_each_script_end_a_sentence(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Lee moved me to Ward B.",
        "It costs 3.50 euros, e.g. at the kiosk",
        "I saw J. Smith on Jan. 5th",
        "At 5 p.m. we eat",
        "Well… maybe",
        "Well... maybe",
        "see version 2.0.1 of it",
    ],
)
def test_a_stop_that_ends_no_sentence_is_passed_over(text: str) -> None:
    assert split(text) == [text]


def test_an_abbreviated_hour_may_still_end_a_sentence() -> None:
    assert split("I clock off at 5 p.m. Then I run.") == ["I clock off at 5 p.m.", "Then I run."]


def test_an_ellipsis_before_a_capital_ends_a_sentence() -> None:
    assert split("I moved… Now I rest. Hm... Yes.") == ["I moved…", "Now I rest.", "Hm...", "Yes."]


def test_bullets_and_blank_lines_separate_sentences() -> None:
    text = "My week:\n- gym on Monday\n- choir\n\n1. buy rice\n2. sleep"
    assert split(text) == ["My week:", "- gym on Monday", "- choir", "1. buy rice", "2. sleep"]


def test_a_wrapped_line_goes_on_but_a_short_line_ends() -> None:
    wrapped = "since the new shift started I have been going to bed at around\nnine in the evening"
    assert split(wrapped) == [wrapped]
    assert split("i moved\nits small") == ["i moved", "its small"]


def test_a_long_line_before_a_blank_line_ends() -> None:
    first = "since the new shift started I have been going to bed at around nine"
    assert split(f"{first}\n\nand that is it") == [first, "and that is it"]


def test_blank_text_has_no_sentence() -> None:
    assert split("") == split(" \n\t ") == []


def test_a_giant_sentence_is_cut_between_words() -> None:
    pieces = split("word " * 40_000)
    assert max(map(len, pieces)) <= MAX_SENTENCE_CHARS
    assert set(" ".join(pieces).split()) == {"word"}
    assert len(pieces) < 400


def test_a_giant_sentence_without_spaces_is_cut_between_characters() -> None:
    pieces = split("搬" * 2_000, 100)
    assert [len(piece) for piece in pieces] == [100] * 20


def test_a_cut_does_not_tear_an_emoji_or_an_accent_from_its_base() -> None:
    cook = "👩\u200d🍳"
    assert all(piece.startswith("👩") for piece in split(cook * 300, 100))
    assert all(piece.startswith("e") for piece in split("e\u0301" * 300, 101))


def test_a_text_of_marks_alone_is_still_bounded() -> None:
    assert max(map(len, split("\u0301" * 500, 100))) <= 100


@given(
    st.text(alphabet=st.sampled_from("ab .!?\n…。？\u0301é我1-Z\"'"), max_size=300),
    st.integers(8, 60),
)
def test_every_visible_character_is_in_exactly_one_bounded_span(text: str, limit: int) -> None:
    spans = sentence_spans(text, limit)
    covered = [place for start, end in spans for place in range(start, end)]
    assert covered == sorted(set(covered))
    assert all(0 < end - start <= limit for start, end in spans)
    assert {n for n, char in enumerate(text) if not char.isspace()} <= set(covered)


def test_titles_go_on_and_shortened_words_only_before_small_letters() -> None:
    assert split("On Sat. we row. There we sat. Then it rained.") == [
        "On Sat. we row.",
        "There we sat.",
        "Then it rained.",
    ]
    assert split("(Prof. Lee) left. b. second item") == ["(Prof. Lee) left.", "b. second item"]


def test_a_blank_line_ends_a_sentence_even_after_an_abbreviation() -> None:
    assert split("Ask Dr.\n\nlater") == ["Ask Dr.", "later"]


def test_a_cut_that_ends_in_space_leaves_no_empty_piece() -> None:
    assert split("x" * 30 + " " * 40 + "y", 32) == ["x" * 30, "y"]
