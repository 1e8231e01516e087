"""Lone surrogates: one character is lost, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from stateauditor.signatures.surrogates import replace_surrogates


@given(st.text(st.characters(blacklist_categories=())))
def test_after_replacing_surrogates_any_text_encodes(text: str) -> None:
    assert len(replace_surrogates(text).encode("utf-8")) >= 0


def test_a_lone_surrogate_becomes_one_replacement_character() -> None:
    assert replace_surrogates("a\ud83d b") == "a\ufffd b"
    assert replace_surrogates("plain 👍") == "plain 👍"


def test_a_pair_of_surrogates_is_the_character_that_it_spells() -> None:
    assert replace_surrogates("\ud83d\ude00") == "😀"
