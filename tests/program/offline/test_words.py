"""Sentences are copied, words are normalised."""

import pytest

from stateauditor.program.offline.words import content_words, normalise, sentences


def test_sentences_are_verbatim_pieces_of_the_text() -> None:
    text = 'I live in "St. Paul". Do you?\nDr. Lee says yes!  我住在北京。好'
    cut = [s.text for s in sentences(text)]
    assert all(piece in text for piece in cut)
    assert cut == ['I live in "St. Paul".', "Do you?", "Dr. Lee says yes!", "我住在北京。", "好"]


def test_blank_text_has_no_sentences() -> None:
    assert sentences(" \n ") == ()


@pytest.mark.parametrize(
    ("text", "norm"),
    [
        ("I've moved, haven't I?", " I have moved , have not I ? "),
        ("She’s my sister's boss", " She is my sister 's boss "),
        ("I can't and won't, let's see", " I can not and will not , let us see "),
        ("half-marathon at 7:30, $1,200, 5k", " half-marathon at 7:30 , $1,200 , 5k "),
        ("o'clock", " o'clock "),
    ],
)
def test_contractions_are_written_out(text: str, norm: str) -> None:
    assert normalise(text) == norm


def test_inflection_does_not_part_two_words() -> None:
    assert content_words("climbing hobbies") == content_words("climb hobby")


def test_content_words_leave_function_words_out() -> None:
    assert content_words("I have moved to the two-bedroom flats") == content_words(
        "moved two bedroom flat"
    )
