"""A readout is oldest first, within budget, faithful to its entries, and repeatable."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory.entries import Memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.page import line_cost
from stateauditor.program.retrieval.tokens import count_tokens
from stateauditor.signatures.models import Readout
from stateauditor.signatures.readout import render_line
from tests.program.retrieval.memories import QUESTIONS, fact, memories, memory, move, turn

ROOMY = RetrievalConfig(budget_tokens=100_000)


def test_ids_run_from_the_oldest_line() -> None:
    readout = MemoryIndex.build(move()).retrieve("Where do I live?")
    assert [e.id for e in readout.entries] == [
        f"E{n:02d}" for n in range(1, len(readout.entries) + 1)
    ]
    times = [str(e.timestamp) for e in readout.entries]
    assert times == sorted(times)


def test_room_left_by_the_budget_is_spent_on_context() -> None:
    tight = MemoryIndex.build(move()).retrieve("Seattle", budget_tokens=60)
    roomy = MemoryIndex.build(move()).retrieve("Seattle", config=ROOMY)
    (line,) = [e for e in roomy.entries if "same flat" in e.text]
    assert line.text.startswith("What should I cook tonight? I've rented")
    assert len(tight.entries) < len(roomy.entries)
    assert all(e.text.count("?") == 0 or len(e.text) < 60 for e in tight.entries)


def test_windows_that_touch_become_one_line() -> None:
    text = " ".join(f"My rabbit number {n} sleeps in the kitchen every night." for n in range(6))
    readout = MemoryIndex.build(memory([turn("a", 0, "2024-01-01", text)])).retrieve("rabbit")
    assert [e.text for e in readout.entries] == [text]


def test_distant_windows_of_one_turn_stay_apart() -> None:
    middle = "Nothing here. " * 8
    text = (
        f"My rabbit sleeps in the kitchen every night. {middle}Since May I keep an owl in my shed."
    )
    config = RetrievalConfig(change_slots=2, session_companions=False, question_slots=0, fill=False)
    readout = MemoryIndex.build(memory([turn("a", 0, "2024-01-01", text)]), config).retrieve("pet")
    assert next(e.start for e in readout.entries) == 0
    assert len(readout.entries) == 2


def test_one_statement_too_long_for_the_budget_is_cut_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = "My lodger pays in parsnips every " + "single " * 60 + "week."
    index = MemoryIndex.build(memory([fact("x", "2024-01-01", text)]))
    with caplog.at_level(logging.WARNING):
        readout = index.retrieve("lodger", budget_tokens=40)
    (line,) = readout.entries
    assert text.startswith(line.text + " ")
    assert readout.tokens <= 40
    assert "entry x was cut" in caplog.text
    assert "parsnips" not in caplog.text


def test_a_budget_below_one_line_gives_nothing() -> None:
    index = MemoryIndex.build(memory([fact("x", "2024-01-01", "supercalifragilistic")]))
    assert index.retrieve("x", budget_tokens=2) == Readout()


def test_a_cut_inside_one_giant_word_keeps_its_head() -> None:
    index = MemoryIndex.build(memory([fact("x", "2024-01-01", "y" * 500)]))
    (line,) = index.retrieve("y", budget_tokens=40).entries
    assert set(line.text) == {"y"}


def test_texts_are_redacted_before_they_are_priced_and_shown() -> None:
    readout = MemoryIndex.build(move()).retrieve(
        "Seattle", budget_tokens=400, redact=lambda text: text.replace("Seattle", "[removed] " * 9)
    )
    assert "Seattle" not in "".join(e.text for e in readout.entries)
    assert readout.tokens <= 400


def test_an_empty_memory_gives_an_empty_readout() -> None:
    index = MemoryIndex.build(memory([]))
    assert index.retrieve("Where do I live?") == Readout()
    assert index.windows_examined == 0
    assert index.expand(Readout(), ["home"], budget_tokens=9_000) == Readout()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我上个月搬到了柏林。", "柏林的公寓"),
        ("先月ベルリンに引っ越しました。", "ベルリン"),
        ("지난달에 베를린으로 이사했어요.", "베를린"),
        ("ฉันย้ายไปเบอร์ลินเมื่อเดือนที่แล้ว", "เบอร์ลิน"),
        ("انتقلت إلى الشقة الجديدة في برلين.", "شقة برلين"),
        ("🐈 lives with me now", "🐈?"),
        ("Café Łódź is my local", "cafe lodz"),
    ],
)
def test_every_script_is_indexed_and_found(text: str, question: str) -> None:
    noise = [fact(f"n{n}", "2024-01-01", f"Plain words about topic {n}.") for n in range(5)]
    config = RetrievalConfig(
        change_scan=False, session_companions=False, antecedents=False, fill=False
    )
    index = MemoryIndex.build(memory([*noise, fact("x", "2024-01-02", text)]), config)
    assert [e.entry_id for e in index.retrieve(question).entries] == ["x"]


def test_one_entry_of_200_000_characters_works() -> None:
    text = "I tidy my shelf every day and " * 6_700
    readout = MemoryIndex.build(memory([fact("x", "2024-01-01", text)])).retrieve("shelf")
    assert 0 < readout.tokens <= 5_700


@given(memories(), QUESTIONS, st.integers(1, 400))
def test_the_budget_is_never_exceeded(given_memory: Memory, question: str, budget: int) -> None:
    readout = MemoryIndex.build(given_memory).retrieve(question, budget_tokens=budget)
    assert readout.tokens <= budget
    printed = "".join(render_line(e.id, e.timestamp, e.text) + "\n" for e in readout.entries)
    assert count_tokens(printed) <= readout.tokens
    assert readout.tokens == sum(line_cost(e.id, e.timestamp, e.text) for e in readout.entries)


@given(memories(), QUESTIONS, st.integers(30, 2_000))
def test_every_line_stands_word_for_word_in_its_entry(
    given_memory: Memory, question: str, budget: int
) -> None:
    by_id = {entry.id: entry for entry in given_memory}
    for line in MemoryIndex.build(given_memory).retrieve(question, budget_tokens=budget).entries:
        entry = by_id[line.entry_id]
        assert entry.text[line.start :].startswith(line.text)
        assert (line.timestamp, line.session, line.turn, line.role) == (
            entry.timestamp, entry.session, entry.turn, entry.role,
        )  # fmt: skip


@given(memories(), QUESTIONS)
def test_the_same_input_gives_the_same_bytes(given_memory: Memory, question: str) -> None:
    one = MemoryIndex.build(given_memory).retrieve(question)
    index = MemoryIndex.build(given_memory)
    index.retrieve("something else")
    assert index.retrieve(question).model_dump_json() == one.model_dump_json()


@given(memories(), QUESTIONS)
def test_lines_of_one_entry_never_touch_or_overlap(given_memory: Memory, question: str) -> None:
    ends: dict[str, int] = {}
    for line in MemoryIndex.build(given_memory).retrieve(question).entries:
        assert line.start >= ends.get(line.entry_id, 0)
        ends[line.entry_id] = line.start + len(line.text)
