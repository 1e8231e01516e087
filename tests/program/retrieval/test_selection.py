"""The four steps, each with its switch, choose and pair what they should."""

from __future__ import annotations

import pytest
from hypothesis import given
from pydantic import ValidationError

from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.timestamps import is_later
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.selection import _weave
from stateauditor.signatures.models import Readout, RetrievalStep
from tests.program.retrieval.memories import QUESTIONS, fact, memories, memory, move, turn

OFF = RetrievalConfig(
    question_anchored=False,
    change_scan=False,
    session_companions=False,
    antecedents=False,
    later_tellings=False,
    fill=False,
)
SWITCHES = {
    "question_anchored": RetrievalStep.QUESTION,
    "change_scan": RetrievalStep.CHANGE_SCAN,
    "session_companions": RetrievalStep.COMPANION,
    "antecedents": RetrievalStep.ANTECEDENT,
}


def only(**steps: bool) -> RetrievalConfig:
    return OFF.model_copy(update=steps)


def texts(readout: Readout) -> str:
    return "\n".join(entry.text for entry in readout.entries)


def test_the_question_finds_the_statement_that_shares_its_words() -> None:
    readout = MemoryIndex.build(move(), only(question_anchored=True)).retrieve(
        "Does the user still live in Seattle?"
    )
    assert [entry.step for entry in readout.entries] == [RetrievalStep.QUESTION]
    assert "same flat in Seattle" in texts(readout)


def test_the_change_scan_finds_the_move_that_shares_no_word_with_the_question() -> None:
    readout = MemoryIndex.build(move(), only(change_scan=True)).retrieve("Seattle?")
    assert "my new place in Austin" in texts(readout)


def test_question_matches_are_one_a_session() -> None:
    entries = [turn("a", n, "2024-01-01", f"The otter swims, take {n}.") for n in range(5)]
    entries.append(turn("b", 0, "2024-01-02", "An otter again."))
    entries += [turn("c", n, "2024-01-03", f"Unrelated talk number {n}.") for n in range(9)]
    selection = MemoryIndex.build(memory(entries), only(question_anchored=True)).select("otter")
    assert len(selection.choices) == 2


def test_question_matches_look_into_every_part_of_the_history() -> None:
    entries = [
        turn(f"s{n:02d}", 0, f"2024-01-{n + 1:02d}", f"otter otter {'otter' if n < 8 else 'x y z'}")
        for n in range(16)
    ]
    entries += [turn(f"t{n:02d}", 0, f"2024-02-{n + 1:02d}", "plain words only") for n in range(24)]
    spread = only(question_anchored=True, question_slots=8, time_buckets=5)
    index = MemoryIndex.build(memory(entries), spread)
    sessions = [int(index.session_of[c.row]) for c in index.select("otter").choices]
    assert sessions[:5] == [0, 1, 2, 3, 8]
    plain = spread.model_copy(update={"time_buckets": 1})
    assert [int(index.session_of[c.row]) for c in index.select("otter", plain).choices] == [
        *range(8)
    ]


def test_companions_bring_the_selected_sessions_own_disclosure() -> None:
    question = "What should I cook tonight?"
    alone = MemoryIndex.build(move(), only(question_anchored=True)).retrieve(question)
    joined = MemoryIndex.build(
        move(), only(question_anchored=True, session_companions=True)
    ).retrieve(question)
    assert {e.step for e in joined.entries} >= {e.step for e in alone.entries}
    rows = MemoryIndex.build(
        move(), only(question_anchored=True, session_companions=True, window_sentences=1)
    ).select(question)
    assert RetrievalStep.COMPANION in {choice.step for choice in rows.choices}


def test_antecedents_pair_a_disclosure_with_the_earlier_statement() -> None:
    readout = MemoryIndex.build(move()).retrieve("Where should I eat?")
    by_id = {entry.id: entry.text for entry in readout.entries}
    assert any("Seattle" in by_id[old] and "Austin" in by_id[new] for old, new in readout.pairs)


def test_a_restated_state_is_paired_with_its_latest_telling() -> None:
    entries = [
        turn("a", 0, "2024-01-01", "I rent a flat in Lyon."),
        turn("b", 0, "2024-02-01", "I rent a flat in Lyon."),
        turn("c", 0, "2024-03-01", "Since March I rent a house in Nice."),
    ]
    index = MemoryIndex.build(memory(entries))
    assert index.antecedents(2, 2) == (1, 0)


def test_of_three_values_the_newest_survives_the_tightest_budget() -> None:
    cities = ["Rome", "Oslo", "Quito"]
    entries = [
        turn(f"s{n}", 0, f"2024-0{n + 1}-01", f"I live in a small flat in {city} now.")
        for n, city in enumerate(cities)
    ]
    index = MemoryIndex.build(memory(entries), only(change_scan=True))
    one, two, all_three = (index.retrieve("city", budget_tokens=n) for n in (16, 32, 48))
    assert [city for city in cities if city in texts(one)] == ["Quito"]
    assert [city for city in cities if city in texts(two)] == ["Oslo", "Quito"]
    assert [city for city in cities if city in texts(all_three)] == cities


@pytest.mark.parametrize("when", [None, "2024-01-01", "2024-01-01T09:00Z"])
def test_a_tie_or_an_unknown_time_makes_no_pair(when: str | None) -> None:
    entries = [
        fact("x", when, "I rent a flat in Lyon."),
        fact("y", when, "Since March I rent a house in Nice."),
    ]
    readout = MemoryIndex.build(memory(entries)).retrieve("Where do I live?")
    assert len(readout.entries) == 2
    assert readout.pairs == ()


def test_one_session_makes_no_pair_with_itself() -> None:
    entries = [
        turn("a", 0, "2024-01-01T09:00Z", "I rent a flat in Lyon."),
        turn("a", 1, "2024-01-01T10:00Z", "Since March I rent a house in Nice."),
    ]
    assert MemoryIndex.build(memory(entries)).retrieve("home").pairs == ()


def test_a_stride_wider_than_a_window_is_refused() -> None:
    with pytest.raises(ValidationError, match="fall between windows"):
        RetrievalConfig(window_sentences=2, window_stride=3)


def test_lists_are_woven_by_share_without_repeats() -> None:
    assert _weave([([1, 2, 3], 0.25), ([4, 5, 1, 6], 0.75)]) == [4, 5, 1, 6, 2, 3]
    assert _weave([]) == []


@given(memories(), QUESTIONS)
def test_a_step_that_is_off_contributes_nothing(given_memory: Memory, question: str) -> None:
    index = MemoryIndex.build(given_memory)
    assert index.retrieve(question, config=OFF) == Readout()
    for switch, step in SWITCHES.items():
        config = RetrievalConfig(**{switch: False})
        selection = index.select(question, config)
        assert step not in {choice.step for choice in selection.choices}
        assert not (selection.pairs and switch == "antecedents")


@given(memories(), QUESTIONS)
def test_pairs_point_to_strictly_earlier_sessions(given_memory: Memory, question: str) -> None:
    readout = MemoryIndex.build(given_memory).retrieve(question)
    by_id = {entry.id: entry for entry in readout.entries}
    for old, new in readout.pairs:
        assert is_later(by_id[new].timestamp, by_id[old].timestamp)
        assert by_id[old].session is None or by_id[old].session != by_id[new].session


@given(memories())
def test_antecedents_are_the_best_links_that_are_certainly_earlier(given_memory: Memory) -> None:
    index = MemoryIndex.build(given_memory)
    entries, entry_of = index.sentences.entries, index.lists.entry
    for row in range(len(index.sentences)):
        found = index.antecedents(row, 3)
        assert len(found) == len(set(found)) <= 3
        assert found[:1] == tuple(index.antecedents(row, 1))
        for old in found:
            assert index.session_of[old] != index.session_of[row]
            assert is_later(entries[entry_of[row]].timestamp, entries[entry_of[old]].timestamp)


def test_no_disclosure_or_no_candidate_means_no_antecedent() -> None:
    assert MemoryIndex.build(move()).finder.find([], 1) == []
    assert MemoryIndex.build(memory([])).finder.find([], 1) == []
