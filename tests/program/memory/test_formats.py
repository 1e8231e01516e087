"""Each format is recognised by its shape, read by its name, and named where it is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stateauditor
from stateauditor.program.memory import load_memory, parse_memory_text, read_memory
from stateauditor.program.memory.formats import FORMATS, format_named, names, recognise
from stateauditor.signatures.errors import InputError
from tests.program.memory.converters.test_benchmarks import LOCOMO, LONGMEMEVAL, memora
from tests.program.memory.converters.test_exports import CHATGPT

EDGE = {"uuid": "e", "fact": "A", "valid_at": "2023-05-20", "created_at": "2023-05-21"}
ITEM = {"namespace": ["u"], "key": "k", "value": {"text": "A"}}
TIMES = {"created_at": "2023-05-20", "updated_at": "2023-05-20"}
TURN = {"role": "user", "content": "A", "timestamp": "2023-05-20"}
CLAUDE = {"sender": "human", "text": "A", "created_at": "2023-05-20T10:00:00Z"}

SHAPES: list[tuple[str, Any]] = [
    ("facts", [{"timestamp": "2023-05-20", "text": "A"}]),
    ("facts", [{"timestamp": "2023-05-20", "turns": [TURN]}]),
    ("facts", {"haystack_session": [[TURN]], "timestamps": ["2023-05-20"]}),
    ("mem0", {"results": [{"id": "m", "memory": "A", **TIMES}]}),
    ("mem0", [{"id": "m", "memory": "A", **TIMES}]),
    ("mem0", [{"memory_id": "m", "event": "ADD", "new_memory": "A", **TIMES}]),
    ("graphiti", [{**EDGE, "group_id": "g"}]),
    ("graphiti", {"edges": [{**EDGE, "group_id": "g"}], "nodes": []}),
    ("zep", {"edges": [EDGE]}),
    ("zep", {"items": [EDGE], "next_cursor": None}),
    ("zep", {"context": "# FACTS", "results": {"edges": [EDGE]}}),
    ("langgraph", [{**ITEM, **TIMES}]),
    ("letta", [{"text": "A", "archive_id": "a", "created_at": "2023-05-20"}]),
    ("letta", [{"message_type": "user_message", "content": "A", "date": "2023-05-20"}]),
    ("chatgpt", [CHATGPT]),
    ("claude", [{"uuid": "t", "created_at": "2023-05-20", "chat_messages": [CLAUDE]}]),
    ("longmemeval", LONGMEMEVAL),
    ("longmemeval", [LONGMEMEVAL]),
    ("locomo", LOCOMO),
    ("locomo", [{"sample_id": "x", "conversation": LOCOMO}]),
    ("memora", [memora(1, "A")]),
    ("langchain", [{"type": "human", "content": "A", "additional_kwargs": TIMES}]),
    ("openai", [TURN]),
    ("openai", {"messages": [TURN]}),
    ("rows", [{"content": "A", "created_at": "2023-05-20"}]),
    ("rows", [{"text": "A", "created_at": "2023-05-20"}]),
]


@pytest.mark.parametrize(("name", "data"), SHAPES)
def test_a_format_is_recognised_and_read_from_a_file(name: str, data: Any, tmp_path: Path) -> None:
    found = recognise(data)
    assert found is not None
    assert found.name == name
    path = tmp_path / "memory.json"
    path.write_text(json.dumps(data))
    memory = load_memory(path)
    assert len(memory) > 0
    assert load_memory(path, format=name) == memory
    if isinstance(data, list):
        lines = "\n".join(map(json.dumps, data))
        assert parse_memory_text(lines, source="m.jsonl") == memory


def test_every_format_is_covered_here_and_its_converter_is_public() -> None:
    assert {name for name, _ in SHAPES} == set(names())
    for known in FORMATS:
        assert callable(getattr(stateauditor, known.called))


@pytest.mark.parametrize(("name", "data"), [pair for pair in SHAPES if pair[0] != "facts"])
def test_what_read_memory_does_not_read_is_refused_with_the_converter_that_does(
    name: str, data: Any
) -> None:
    with pytest.raises(InputError, match=format_named(name).called):
        read_memory(data)


def test_bare_texts_are_refused_with_the_converter_that_takes_them() -> None:
    with pytest.raises(InputError, match="from_rows takes it"):
        read_memory(["I live in Ghent"])


def test_an_unknown_name_is_refused_with_all_known_ones() -> None:
    with pytest.raises(InputError, match="no memory format is called 'csv'; known: facts, mem0"):
        parse_memory_text("[]", format="csv")


@pytest.mark.parametrize("known", [f for f in FORMATS if not f.is_own], ids=lambda f: f.name)
def test_what_has_another_shape_is_an_input_error_that_names_source_and_format(known: Any) -> None:
    for data in ({"x": 1}, [7], "text"):
        with pytest.raises(InputError, match=f"m.json, read as {known.name}: "):
            parse_memory_text(json.dumps(data), source="m.json", format=known.name)


def test_problems_keep_their_lines_in_a_file_of_ones_own_facts() -> None:
    with pytest.raises(InputError, match=r"entry 1 \(line 2\)"):
        parse_memory_text('\n{"timestamp": "2023-05-20", "text": " "}\n', source="m.jsonl")
