"""Windows overlap, cover every evidence turn, and know where they stand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory.entries import Memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.sentences import sentence_spans
from stateauditor.program.retrieval.windows import cut_windows, ragged_range, read_sentences
from stateauditor.signatures.models import EntryRole
from tests.program.retrieval.memories import fact, memories, memory, move, turn


def test_windows_slide_by_one_sentence_within_a_turn() -> None:
    index = MemoryIndex.build(memory([turn("a", 0, "2024-01-01", "One. Two. Three. Four.")]))
    assert [w.text for w in index.each_window()] == ["One. Two. Three.", "Two. Three. Four."]


def test_a_wider_stride_still_reaches_the_last_sentence() -> None:
    sentences = read_sentences([turn("a", 0, None, "A b. C d. E f. G h. I j. K l.")])
    windows = cut_windows(sentences, 3, 2)
    assert list(zip(windows.first.tolist(), windows.last.tolist(), strict=True)) == [
        (0, 3), (2, 5), (3, 6),
    ]  # fmt: skip


def test_assistant_turns_have_no_window() -> None:
    roles = {entry.id: entry.role for entry in move()}
    found = {roles[window.entry_id] for window in MemoryIndex.build(move()).each_window()}
    assert found == {EntryRole.USER}


def test_a_window_knows_its_entry_session_turn_time_and_offsets() -> None:
    entry = turn("s", 4, "2024-01-01", "  I moved.  ")
    (window,) = MemoryIndex.build(memory([entry])).each_window()
    assert window == ("s.4", "s", 4, entry.timestamp, 2, 10, "I moved.")


def test_a_fact_is_a_session_of_its_own() -> None:
    sentences = read_sentences(
        [fact("x", None, "I ski."), fact("y", None, "I row."), turn("s", 0, None, "Hi.")]
    )
    assert sentences.entry_session.tolist() == [0, 1, 2]


def test_entries_without_a_sentence_have_no_window() -> None:
    index = MemoryIndex.build(memory([fact("x", None, " "), fact("y", None, "I row.")]))
    assert [window.entry_id for window in index.each_window()] == ["y"]


def test_ragged_range_counts_up_for_each_length() -> None:
    assert ragged_range(np.array([2, 0, 3])).tolist() == [0, 1, 0, 1, 2]


@given(memories(), st.integers(1, 4), st.data())
def test_windows_cover_every_visible_character_of_the_evidence(
    given_memory: Memory, size: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, size))
    config = RetrievalConfig(window_sentences=size, window_stride=stride)
    covered: dict[str, set[int]] = {}
    for window in MemoryIndex.build(given_memory, config).each_window():
        covered.setdefault(window.entry_id, set()).update(range(window.start, window.end))
    for entry in given_memory.evidence():
        visible = {n for n, char in enumerate(entry.text) if not char.isspace()}
        assert visible <= covered.get(entry.id, set())


@given(st.lists(st.text(alphabet=st.sampled_from("aB .!?\n…。1Dr搬"), max_size=40), max_size=6))
def test_entries_are_split_as_if_each_stood_alone(texts: list[str]) -> None:
    entries = [fact(f"f{number}", None, text) for number, text in enumerate(texts)]
    sentences = read_sentences(entries)
    found = [
        (int(entry), int(start), int(end))
        for entry, start, end in zip(sentences.entry, sentences.start, sentences.end, strict=True)
    ]
    assert found == [
        (number, start, end)
        for number, text in enumerate(texts)
        for start, end in sentence_spans(text)
    ]
