"""Chat messages of several makers become one session, and no time is guessed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from stateauditor.program.memory import (
    Memory,
    from_langchain_messages,
    from_letta,
    from_openai_messages,
)
from stateauditor.signatures.errors import InputError, TimestampError
from stateauditor.signatures.models import EntryRole


def said(memory: Memory) -> list[tuple[str, EntryRole]]:
    return [(entry.text, entry.role) for entry in memory]


MESSAGES: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "I moved"}, {"type": "image_url"}]},
    {"role": "assistant", "tool_calls": [{"id": "c"}]},
    {"role": "tool", "content": "{}"},
    SimpleNamespace(role="assistant", content="Where to?", tool_calls=None),
]


def test_openai_messages_become_one_session_at_the_given_time() -> None:
    memory = from_openai_messages(MESSAGES, timestamp="2023-05-20 10:00", session_id="chat")
    assert [(e.id, e.text, str(e.timestamp)) for e in memory] == [
        ("chat.1", "I moved", "2023-05-20T10:00Z"),
        ("chat.4", "Where to?", "2023-05-20T10:00Z"),
    ]


def test_openai_messages_have_no_time_and_none_is_guessed() -> None:
    with pytest.raises(TimestampError, match="pass timestamp="):
        from_openai_messages(MESSAGES)
    assert len(from_openai_messages(MESSAGES, allow_undated=True).undated()) == 2
    with pytest.raises(TimestampError, match="pass timestamp="):
        from_openai_messages([])


def test_openai_messages_may_carry_their_own_time() -> None:
    timed = [{"role": "system", "content": "x"}, {**MESSAGES[1], "timestamp": 1684576800}]
    assert str(from_openai_messages(timed).entries[0].timestamp) == "2023-05-20T10:00:00Z"


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ({"messages": []}, "messages: must be a list, not an object"),
        (["Hi"], r"turns\[0\]\.role': is missing"),
        ([{"role": "user"}], r"turns\[0\]\.content': is missing"),
    ],
)
def test_broken_messages_are_named(messages: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        from_openai_messages(messages, timestamp="2023-05-20")


def test_content_parts_may_be_objects() -> None:
    parts = [
        SimpleNamespace(type="text", text="I moved"),
        SimpleNamespace(type="text", text=SimpleNamespace(value="to Austin")),
        SimpleNamespace(type="image_url", image_url="x"),
    ]
    memory = from_openai_messages([{"role": "user", "content": parts}], timestamp="2023-05-20")
    assert said(memory) == [("I moved\nto Austin", EntryRole.USER)]


def test_a_message_is_dated_by_when_it_was_created() -> None:
    memory = from_openai_messages(
        [
            {"role": "user", "content": "a", "created_at": 1684576800},
            SimpleNamespace(role="user", content="b", created_at="2023-05-21"),
        ]
    )
    assert [str(entry.timestamp) for entry in memory] == ["2023-05-20T10:00:00Z", "2023-05-21"]


def test_a_page_that_lists_the_latest_first_is_turned_round() -> None:
    page = SimpleNamespace(
        data=[
            {"role": "user", "content": "b", "created_at": 1684576801},
            {"role": "assistant", "content": "a2", "created_at": 1684576800},
            {"role": "user", "content": "a1", "created_at": 1684576800},
        ],
        has_more=False,
    )
    assert [e.text for e in from_openai_messages(page)] == ["a1", "a2", "b"]  # type: ignore[arg-type]
    page.has_more = True
    with pytest.raises(InputError, match="there are more"):
        from_openai_messages(page)  # type: ignore[arg-type]


def test_calls_and_reasoning_in_a_session_of_agents_are_dropped() -> None:
    items = [
        {"role": "user", "content": "I live in Ghent"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
        {"type": "reasoning", "id": "r", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Noted"}],
        },
    ]
    memory = from_openai_messages(items, timestamp="2023-05-20", session_id="s")
    assert [(e.id, e.text) for e in memory] == [("s.0", "I live in Ghent"), ("s.4", "Noted")]


# --- LangChain ------------------------------------------------------------------

LANGCHAIN: list[Any] = [
    {"type": "system", "content": "Be brief."},
    SimpleNamespace(type="human", content="I live in Ghent", additional_kwargs={}),
    {"type": "ai", "data": {"type": "ai", "content": [{"type": "text", "text": "Noted"}]}},
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "and I love it"},
    },
    {"type": "AIMessageChunk", "content": "Good"},
    {"type": "chat", "role": "user", "content": "Bye"},
]


def test_langchain_messages_are_read_however_they_were_written() -> None:
    memory = from_langchain_messages(LANGCHAIN, timestamp="2023-05-20", session_id="s")
    assert [(e.id, e.text, e.role) for e in memory] == [
        ("s.1", "I live in Ghent", EntryRole.USER),
        ("s.2", "Noted", EntryRole.ASSISTANT),
        ("s.3", "and I love it", EntryRole.USER),
        ("s.4", "Good", EntryRole.ASSISTANT),
        ("s.5", "Bye", EntryRole.USER),
    ]


def test_langchain_messages_may_carry_their_time_beside_the_text() -> None:
    timed = {"type": "human", "content": "x", "additional_kwargs": {"timestamp": "2023-05-20"}}
    assert str(from_langchain_messages([timed]).entries[0].timestamp) == "2023-05-20"
    with pytest.raises(TimestampError, match="pass timestamp="):
        from_langchain_messages(LANGCHAIN)


def test_a_type_that_langchain_does_not_have_is_named() -> None:
    with pytest.raises(InputError, match="type 'alien' is unknown; known: human, ai"):
        from_langchain_messages([{"type": "alien", "content": "x"}], timestamp="2023-05-20")


# --- Letta ----------------------------------------------------------------------


def test_letta_blocks_give_a_fact_a_line_and_nothing_of_the_agent() -> None:
    blocks = [
        {"label": "human", "value": "Name: Kim\n\n- Lives in Ghent\n"},
        {"label": "persona", "value": "I am Sam."},
    ]
    memory = from_letta({"memory": {"blocks": blocks}}, timestamp="2023-05-20", user="Kim")
    assert [(e.id, e.text) for e in memory] == [
        ("human.1", "Name: User"),
        ("human.3", "User lives in Ghent"),
    ]
    assert from_letta(blocks, allow_undated=True).undated()
    with pytest.raises(TimestampError):
        from_letta(blocks)


def test_letta_passages_are_facts_and_deleted_ones_are_closed() -> None:
    passages = [
        {"id": "p", "text": "Likes tea", "created_at": "2023-05-20", "archive_id": "a"},
        {"id": "q", "text": "Likes ale", "created_at": "2023-05-21", "is_deleted": True}
        | {"updated_at": "2023-06-01"},
    ]
    assert [(e.id, e.validity.value, str(e.ended)) for e in from_letta(passages)] == [
        ("p", "open", "None"),
        ("q", "closed", "2023-06-01"),
    ]


def test_letta_messages_keep_who_said_them() -> None:
    messages = [
        {"message_type": "assistant_message", "content": "Noted", "date": "2023-05-20T10:00:01Z"},
        {"message_type": "reasoning_message", "reasoning": "x", "date": "2023-05-20T10:00:00Z"},
        {"message_type": "user_message", "content": "I moved", "date": "2023-05-20T10:00:00Z"},
    ]
    assert said(from_letta(messages)) == [
        ("I moved", EntryRole.USER),
        ("Noted", EntryRole.ASSISTANT),
    ]
