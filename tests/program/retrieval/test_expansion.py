"""The audit's expanded evidence keeps the readout and stays in its sessions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory.entries import Memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.signatures.models import Readout, RetrievalStep
from tests.program.retrieval.memories import QUESTIONS, memories, memory, move, turn

NARROW = RetrievalConfig(change_scan=False, session_companions=False, antecedents=False, fill=False)


def diary() -> Memory:
    long = (
        "Any ideas for the weekend? I live by the harbour. My knee is in a cast until May. "
        "It rains. We keep three hens in the yard. What do you think?"
    )
    other = "I drive an old van to work every day. Thanks!"
    return memory([turn("a", 0, "2024-01-01", long), turn("b", 0, "2024-02-01", other)])


def test_only_sessions_of_the_readout_are_expanded() -> None:
    index = MemoryIndex.build(diary(), NARROW)
    readout = index.retrieve("harbour")
    wider = index.expand(readout, ["harbour"], budget_tokens=9_000)
    assert {entry.session for entry in wider.entries} == {"a"}
    assert RetrievalStep.EXPANSION in {e.step for e in wider.entries} or len(
        wider.entries[0].text
    ) > len(readout.entries[0].text)


def test_queries_decide_what_is_added_first() -> None:
    index = MemoryIndex.build(diary(), NARROW)
    readout = index.retrieve("harbour", budget_tokens=26)
    room = readout.tokens + 22
    hens = index.expand(readout, ["How are the hens in the yard?"], budget_tokens=room)
    assert "three hens" in "".join(e.text for e in hens.entries)


def test_a_cut_line_leaves_the_readout_as_it_is() -> None:
    long = "My lodger pays in parsnips every " + "single " * 60 + "week."
    index = MemoryIndex.build(memory([turn("a", 0, "2024-01-01", long + " I keep hens.")]))
    readout = index.retrieve("lodger", config=NARROW, budget_tokens=40)
    assert len(readout.entries[0].text) < len(long)
    assert index.expand(readout, ["hens"], budget_tokens=9_000) == readout


def test_lines_of_another_memory_are_not_expanded() -> None:
    readout = MemoryIndex.build(move()).retrieve("Seattle")
    assert MemoryIndex.build(diary()).expand(readout, ["Seattle"], budget_tokens=9_000) == readout


@given(memories(), QUESTIONS, st.integers(60, 600), st.integers(60, 1_200))
def test_everything_in_the_readout_stays(
    given_memory: Memory, question: str, budget: int, wider_budget: int
) -> None:
    index = MemoryIndex.build(given_memory)
    readout = index.retrieve(question, budget_tokens=budget)
    wider = index.expand(readout, [question, "home"], budget_tokens=wider_budget)
    kept = [(e.entry_id, e.start, e.start + len(e.text)) for e in wider.entries]
    for line in readout.entries:
        assert any(
            name == line.entry_id and start <= line.start and line.start + len(line.text) <= end
            for name, start, end in kept
        )
    assert wider.tokens <= max(wider_budget, readout.tokens)
    line_of = {
        line.id: next(
            e.id
            for e in wider.entries
            if e.entry_id == line.entry_id
            and e.start <= line.start
            and line.start + len(line.text) <= e.start + len(e.text)
        )
        for line in readout.entries
    }
    assert {(line_of[old], line_of[new]) for old, new in readout.pairs} <= set(wider.pairs)
    if {e.id for e in given_memory.evidence()} != {e.entry_id for e in wider.entries}:
        assert {e.session for e in wider.entries} <= {e.session for e in readout.entries}


@given(memories(), QUESTIONS)
def test_redaction_does_not_lose_the_place_of_a_line(given_memory: Memory, question: str) -> None:
    index = MemoryIndex.build(given_memory)

    def redact(text: str) -> str:
        return text.replace("Lisbon", "[a place]")

    readout: Readout = index.retrieve(question, budget_tokens=300, redact=redact)
    wider = index.expand(readout, [question], budget_tokens=9_000, redact=redact)
    assert len(wider.entries) >= 0
    assert "Lisbon" not in "".join(e.text for e in wider.entries)


def test_a_readout_that_does_not_fit_any_more_is_returned_as_it_is() -> None:
    index = MemoryIndex.build(diary())
    readout = index.retrieve("harbour", budget_tokens=60)
    cheap = readout.model_copy(update={"tokens": 1})
    assert index.expand(cheap, ["harbour"], budget_tokens=2) == cheap
