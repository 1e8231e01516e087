"""An index grows, is saved and is loaded without changing a byte of any readout."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory import read_memory
from stateauditor.program.memory.entries import Memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.disclosures import load_weights
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.storage import pack
from stateauditor.program.retrieval.tokens import stem
from stateauditor.signatures.errors import InputError
from tests.program.retrieval.memories import QUESTIONS, fact, memories, memory, move


def bytes_of(index: MemoryIndex, question: str) -> str:
    readout = index.retrieve(question)
    return (
        readout.model_dump_json()
        + index.expand(readout, [question], budget_tokens=9_000).model_dump_json()
    )


@given(memories(), QUESTIONS, st.data())
def test_an_extended_index_equals_a_fresh_one_to_the_byte(
    grown: Memory, question: str, data: st.DataObject
) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(grown), max_size=len(grown)))
    before = memory([entry for entry, kept in zip(grown, keep, strict=True) if kept])
    extended = MemoryIndex.build(before).extend(grown)
    fresh = MemoryIndex.build(grown)
    assert bytes_of(extended, question) == bytes_of(fresh, question)
    assert pack(extended.sentences, extended.config) == pack(fresh.sentences, fresh.config)


def test_entries_that_are_gone_are_forgotten() -> None:
    index = MemoryIndex.build(move()).extend(memory([fact("x", "2024-05-01", "I keep bees.")]))
    assert [line.entry_id for line in index.retrieve("Seattle").entries] == ["x"]


def test_an_entry_whose_text_changed_is_read_again() -> None:
    index = MemoryIndex.build(memory([fact("x", "2024-05-01", "I keep bees.")]))
    grown = index.extend(memory([fact("x", "2024-05-01", "I keep goats now.")]))
    assert grown.retrieve("animals").entries[0].text == "I keep goats now."


@given(memories(), QUESTIONS)
def test_a_saved_index_answers_like_the_one_it_was(
    tmp_path_factory: pytest.TempPathFactory, given_memory: Memory, question: str
) -> None:
    path = tmp_path_factory.mktemp("index") / "memory.index"
    index = MemoryIndex.build(given_memory, RetrievalConfig(window_sentences=2))
    index.save(path)
    loaded = MemoryIndex.load(path)
    assert loaded.config == index.config
    assert bytes_of(loaded, question) == bytes_of(index, question)
    assert pack(loaded.sentences, loaded.config) == path.read_bytes()


def test_a_saved_index_is_plain_text_with_a_header(tmp_path: Path) -> None:
    path = tmp_path / "memory.index"
    MemoryIndex.build(memory([fact("x", "2024-05-01", "我搬家了。")])).save(path)
    header, body = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(header)["format"] == "stateauditor-index"
    assert "我搬家了。" in body


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: "no json\n" + text, "first line is not JSON"),
        (lambda text: "[]\n" + text, "does not say"),
        (lambda text: text.replace('"version":1', '"version":9', 1), "has index version 9"),
        (lambda text: text.replace("bees", "wasps"), "checksum"),
    ],
)
def test_a_damaged_or_foreign_file_is_named_in_the_error(
    tmp_path: Path, damage: object, message: str
) -> None:
    assert callable(damage)
    path = tmp_path / "memory.index"
    MemoryIndex.build(memory([fact("x", "2024-05-01", "I keep bees.")])).save(path)
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(InputError, match=rf"memory\.index.*{message}"):
        MemoryIndex.load(path)


def test_a_well_checksummed_but_wrong_body_is_refused(tmp_path: Path) -> None:
    import hashlib

    body = b'{"entries":[]}\n'
    header = {"format": "stateauditor-index", "version": 1, "config": {}}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    path = tmp_path / "memory.index"
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    with pytest.raises(InputError, match="not a readable index"):
        MemoryIndex.load(path)


def test_shuffling_the_input_changes_nothing() -> None:
    facts = [
        {"id": f"f{n}", "timestamp": f"2024-01-{n + 1:02d}", "text": f"I keep {n} goats at home."}
        for n in range(20)
    ]
    one = MemoryIndex.build(read_memory(facts)).retrieve("goats").model_dump_json()
    random.Random(5).shuffle(facts)
    assert MemoryIndex.build(read_memory(facts)).retrieve("goats").model_dump_json() == one


def test_other_weights_can_be_tried_without_touching_the_package() -> None:
    flat = load_weights().model_copy(update={"statement": {}, "change": {}})
    index = MemoryIndex.build(move(), weights=flat)
    assert set(index.disclosure) == {flat.bias}


def test_a_question_of_function_words_alone_is_still_asked() -> None:
    index = MemoryIndex.build(move())
    assert index.query_terms("Who am I?") == []
    assert index.query_terms("What should the user plan?") != []
    assert index.retrieve("Who am I?").entries


def test_a_question_is_asked_without_the_words_of_the_asking() -> None:
    question = "Based on the conversation history, does the user still live in Seattle?"
    assert MemoryIndex.build(move()).query_terms(question) == ["liv", "seattl"]


def test_a_shared_word_counts_even_in_a_memory_of_one_window() -> None:
    config = RetrievalConfig(
        change_scan=False, session_companions=False, antecedents=False, fill=False
    )
    index = MemoryIndex.build(memory([fact("x", "2024-01-01", "I keep bees.")]), config)
    assert [line.entry_id for line in index.retrieve("bees?").entries] == ["x"]
    assert index.retrieve("goats?").entries == ()


@given(memories(), QUESTIONS)
def test_a_sentence_matches_by_the_rarity_of_the_words_that_it_holds(
    given_memory: Memory, question: str
) -> None:
    index = MemoryIndex.build(given_memory)
    rarity = {term: max(index.postings.idf[n], 1e-6) for term, n in index.postings.terms.items()}
    wanted = set(index.query_terms(question))
    bounds = zip(index.sentences.offsets, index.sentences.offsets[1:], strict=False)
    words_of = [index.sentences.word_ids[begin:end].tolist() for begin, end in bounds]
    expected = [
        sum(
            rarity.get(term, 0.0)
            for term in (stem(index.sentences.vocabulary[w]) for w in held)
            if term in wanted
        )
        for held in words_of
    ]
    assert index.sentence_match(question).tolist() == pytest.approx(expected, abs=1e-8)
