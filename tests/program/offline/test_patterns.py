"""The pattern language of the lexicon."""

import pytest

from stateauditor.program.offline.patterns import PatternIndex, compile_pattern
from stateauditor.program.offline.words import sentences


def found(pattern: str, text: str) -> str | None:
    match = compile_pattern(pattern).find(sentences(text)[0])
    return None if match is None else match.value or match.phrase


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("i live in {place}", "We live in New Orleans now.", "New Orleans"),
        ("i live|lives in {place}", "The user lives in Bath", "Bath"),
        ("i live in {place}", "I live in a van.", None),
        ("jog*", "Jogging is fun", "Jogging"),
        ("sold my just? car", "I sold my car", "sold my car"),
        ("broke .. ankle", "I broke my left ankle", "broke my left ankle"),
        ("broke .. ankle", "I broke, then, my ankle", None),
        ("^ moved to {place}", "Well, moved to Rome", "Rome"),
        ("^ moved to {place}", "They moved to Rome", None),
        ("i quit my? {thing}", "I quit piano lessons because of time", "piano lessons"),
    ],
)
def test_patterns_find_words_and_values(pattern: str, text: str, expected: str | None) -> None:
    assert found(pattern, text) == expected


def test_a_pattern_without_a_plain_word_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one plain word"):
        compile_pattern(".. {place}")


def test_an_index_yields_labels_in_the_order_of_the_lexicon() -> None:
    index = PatternIndex(
        [
            ("b", compile_pattern("car")),
            ("a", compile_pattern("sold")),
            ("c", compile_pattern("van")),
        ]
    )
    sentence = sentences("I sold the car")[0]
    assert [label for label, _ in index.find(sentence)] == ["b", "a"]
    assert index.matches(sentence)
    assert not index.matches(sentences("Hello")[0])
