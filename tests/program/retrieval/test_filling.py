"""A memory that fits is shown whole; a larger one fills its budget to the next line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory.entries import Memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.page import line_cost
from stateauditor.signatures.models import Readout, RetrievalStep
from tests.program.retrieval.memories import QUESTIONS, fact, memories, memory, turn

LIKES = ("green tea", "old maps", "brass bands", "long trains", "cold soup", "black cats")


def store(size: int) -> Memory:
    """``size`` likings, a home early on and another one late."""
    texts = [f"User likes {LIKES[n % len(LIKES)]} number {n}." for n in range(size)]
    texts.insert(size // 5, "User lives in Leipzig.")
    texts.insert(size * 4 // 5, "User is settling into the new Ghent flat.")
    return memory(
        [
            fact(
                f"f{n:04d}", f"20{20 + n // 336:02d}-{n // 28 % 12 + 1:02d}-{n % 28 + 1:02d}", text
            )
            for n, text in enumerate(texts)
        ]
    )


def cost_of(given_memory: Memory) -> int:
    """What a readout of every entry costs, one line each."""
    return sum(
        line_cost(f"E{number:02d}", entry.timestamp, entry.text)
        for number, entry in enumerate(given_memory.evidence(), start=1)
    )


def holds(readout: Readout, text: str) -> bool:
    return any(text in line.text for line in readout.entries)


def test_two_hundred_short_facts_are_shown_whole() -> None:
    given_memory = store(200)
    readout = MemoryIndex.build(given_memory).retrieve("What should I do this weekend?")
    assert [line.text for line in readout.entries] == [entry.text for entry in given_memory]


def test_both_homes_are_shown_among_a_thousand_facts() -> None:
    readout = MemoryIndex.build(store(1_000)).retrieve("What should I do this weekend?")
    assert holds(readout, "Leipzig")
    assert holds(readout, "Ghent")
    assert 5_600 < readout.tokens <= 5_700


@given(memories(), QUESTIONS)
def test_a_memory_that_fits_to_the_token_is_shown_whole(
    given_memory: Memory, question: str
) -> None:
    budget = cost_of(given_memory)
    readout = MemoryIndex.build(given_memory).retrieve(question, budget_tokens=budget)
    assert [line.entry_id for line in readout.entries] == [e.id for e in given_memory.evidence()]
    assert readout.tokens <= budget


@given(st.integers(20, 160), st.integers(40, 2_000), QUESTIONS)
def test_the_budget_is_used_up_to_the_next_line(size: int, budget: int, question: str) -> None:
    given_memory = store(size)
    readout = MemoryIndex.build(given_memory).retrieve(question, budget_tokens=budget)
    shown = {line.entry_id for line in readout.entries}
    left_out = [
        line_cost("E00", entry.timestamp, entry.text)
        for entry in given_memory
        if entry.id not in shown
    ]
    # One token for an id that grows by a digit where the new line pushes it on.
    assert not left_out or readout.tokens + min(left_out) + 1 > budget


@given(memories(), QUESTIONS, st.integers(30, 600))
def test_lines_stand_in_the_order_of_the_memory(
    given_memory: Memory, question: str, budget: int
) -> None:
    place = {entry.id: number for number, entry in enumerate(given_memory)}
    readout = MemoryIndex.build(given_memory).retrieve(question, budget_tokens=budget)
    places = [(place[line.entry_id], line.start) for line in readout.entries]
    assert places == sorted(places)


def test_the_expanded_evidence_is_the_whole_memory_where_that_fits() -> None:
    given_memory = store(300)
    index = MemoryIndex.build(given_memory)
    wider = index.expand(index.retrieve("tea", budget_tokens=400), ["tea"], budget_tokens=9_000)
    assert [line.text for line in wider.entries] == [entry.text for entry in given_memory]


def test_the_expanded_evidence_of_a_large_store_fills_its_budget() -> None:
    index = MemoryIndex.build(store(1_000))
    wider = index.expand(index.retrieve("tea", budget_tokens=400), ["tea"], budget_tokens=9_000)
    assert 8_900 < wider.tokens <= 9_000


def test_without_filling_only_what_the_steps_choose_is_shown() -> None:
    index = MemoryIndex.build(store(200), RetrievalConfig(fill=False))
    steps = {line.step for line in index.retrieve("tea").entries}
    assert RetrievalStep.FILL not in steps
    assert len(index.retrieve("tea").entries) < 202


def test_more_change_slots_at_question_time_select_more() -> None:
    alone = RetrievalConfig(
        question_anchored=False, session_companions=False, antecedents=False,
        later_tellings=False, fill=False,
    )  # fmt: skip
    index = MemoryIndex.build(store(200), alone)
    few, many = (
        len(index.select("tea", alone.model_copy(update={"change_slots": slots})).choices)
        for slots in (80, 150)
    )
    assert (few, many) == (80, 150)


def test_a_later_telling_of_the_same_thing_is_chosen_beside_the_earlier() -> None:
    entries = [fact(f"n{n:02d}", f"2024-02-{n + 1:02d}", f"Plain words {n}.") for n in range(20)]
    old = fact("a", "2024-01-01", "User dislikes the songs of Marlova.")
    new = fact("z", "2024-03-01", "User cannot stop playing Marlova.")
    index = MemoryIndex.build(memory([old, *entries, new]))
    assert index.later_telling(0) == 21
    assert index.later_telling(21) == -1


def test_the_words_of_a_draft_pull_evidence_for_the_audit_only() -> None:
    index = MemoryIndex.build(store(1_000))
    question, draft = "What should I do this weekend?", "Bring brass bands number 440 along."
    plain = index.retrieve(question, budget_tokens=300)
    drawn = index.retrieve(question, draft=draft, budget_tokens=300)
    assert not holds(plain, "number 440.")
    assert holds(drawn, "number 440.")
    assert RetrievalStep.DRAFT in {line.step for line in drawn.entries}
    assert RetrievalStep.DRAFT not in {line.step for line in plain.entries}


def test_living_somewhere_is_linked_to_the_new_flat() -> None:
    pairs = (
        ("I live in Leipzig.", "The new Ghent flat smells of paint."),
        ("User lives in Leipzig.", "User lives in Ghent now."),
        ("User works at Norden.", "User started a job at Halden."),
    )
    for old, new in pairs:
        noise = [fact(f"n{n}", f"2024-01-1{n}", f"Tea number {n} was fine.") for n in range(5)]
        entries = [fact("a", "2024-01-01", old), *noise, fact("z", "2024-03-01", new)]
        assert MemoryIndex.build(memory(entries)).antecedents(6, 1) == (0,)


def test_the_overview_is_the_same_for_every_question_and_within_its_budget() -> None:
    index = MemoryIndex.build(
        memory(
            [turn(f"s{n:02d}", 0, f"2024-01-{n + 1:02d}", f"I keep {n} bees.") for n in range(28)]
        )
    )
    overview = index.overview(budget_tokens=200)
    index.retrieve("bees")
    assert overview == index.overview(budget_tokens=200)
    assert 0 < overview.tokens <= 200
