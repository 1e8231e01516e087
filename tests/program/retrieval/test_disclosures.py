"""Disclosures are ranked without a question, by general cues and readable weights."""

from __future__ import annotations

import pytest

from stateauditor.program.retrieval.disclosures import load_weights, parse_weights, score
from stateauditor.program.retrieval.features import SHAPES, Measured
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.signatures.errors import ConfigError
from tests.program.retrieval.memories import memory, move, turn


def scores(*texts: str) -> dict[str, float]:
    """The disclosure score of single sentences, each told in a session of its own."""
    entries = [turn(f"s{n}", 0, "2024-01-01", text) for n, text in enumerate(texts)]
    index = MemoryIndex.build(memory(entries))
    return dict(zip(texts, index.disclosure, strict=True))


@pytest.mark.parametrize(
    ("state", "other"),
    [
        ("My shift at the bakery starts at four every morning.", "What time do bakeries open?"),
        ("Since May I've been renting a room by the harbour.", "Rooms by the harbour are scarce."),
        ("I've got two toddlers at home five days a week.", "Thanks, that makes a lot of sense!"),
        ("Every Tuesday my knee therapist has me on the bike.", "Please add a bike to the agenda."),
        ("Our landlord sold the house and we moved in June.", "I wonder how AI changes society."),
        (
            "I keep a rabbit in my kitchen at the moment.",
            "If I could, I would maybe keep a rabbit one day.",
        ),
    ],
)
def test_a_lasting_fact_outranks_talk(state: str, other: str) -> None:
    found = scores(state, other)
    assert found[state] > found[other]


def test_a_new_fact_outranks_the_same_fact_without_a_date() -> None:
    new, plain = "Since June I work from the harbour.", "Today I work from the harbour."
    found = scores(new, plain)
    assert found[new] > found[plain]


def test_the_strongest_disclosure_of_a_session_is_its_aside() -> None:
    index = MemoryIndex.build(move())
    texts = [w.text for w in index.each_window()]
    assert len(texts) == index.windows_examined
    last = int(index.sentences.session.max())
    strongest = index.strongest[: last + 1]
    entry = index.sentences.entries[int(index.sentences.entry[strongest[0]])]
    start, end = index.sentences.start[strongest[0]], index.sentences.end[strongest[0]]
    assert entry.text[start:end].startswith("I've rented the same flat in Seattle")


def test_chinese_disclosures_are_seen() -> None:
    found = scores("我最近搬家了，现在每天坐地铁上班。", "人工智能是什么？")
    assert max(found, key=lambda text: found[text]).startswith("我最近")


def test_every_weight_names_a_feature_that_exists() -> None:
    index = MemoryIndex.build(move())
    weights = load_weights()
    assert weights is load_weights()
    assert set(weights.statement) | set(weights.change) | set(weights.fact) <= set(
        index.measured.columns
    )
    assert set(SHAPES) <= set(index.measured.columns)


def test_a_weight_for_an_unknown_feature_is_an_error() -> None:
    index = MemoryIndex.build(move())
    weights = load_weights().model_copy(update={"statement": {"charisma": 1.0}})
    known = index.measured
    empty = Measured((), known.values[:, :0], known.attributes, known.stored)
    with pytest.raises(ConfigError, match="charisma"):
        score(empty, weights)


def test_broken_weight_files_are_refused_with_the_place() -> None:
    with pytest.raises(ConfigError, match="bias"):
        parse_weights("version: 1\nstatement: {}\nchange: {}\n")
    with pytest.raises(ConfigError, match="not readable YAML"):
        parse_weights("a: [")
    with pytest.raises(ConfigError, match="weights"):
        parse_weights("- 1")
