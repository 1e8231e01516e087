"""Recorded conversations become dated entries without their annotations."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from stateauditor.program.memory import (
    from_locomo,
    from_longmemeval,
    from_memora,
    from_openai_messages,
    is_later,
)
from stateauditor.signatures.errors import InputError, TimestampError
from stateauditor.signatures.models import EntryRole

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


def memora(number: int, message: str, date: str = "2025-06-01") -> dict[str, Any]:
    return {
        "session_id": number,
        "date": date,
        "operation_details": {"item": "GOLD"},
        "conversation": [
            {"turn": 1, "speaker": "user_agent", "message": message, "share_memory": True},
            {"turn": 2, "speaker": "ai_agent", "message": "Noted."},
        ],
    }


def test_memora_sessions_of_a_day_are_ordered_by_number_and_none_is_later() -> None:
    sessions = [memora(10, "c"), memora(2, "b"), memora(1, "d", "2025-06-02"), memora(3, "x")]
    memory = from_memora(sessions)
    assert [e.id for e in memory if e.role is EntryRole.USER] == ["2.0", "3.0", "10.0", "1.0"]
    assert not is_later(memory.entries[4].timestamp, memory.entries[0].timestamp)
    assert "GOLD" not in repr(memory)
    random.Random(1).shuffle(sessions)
    assert from_memora(sessions) == memory


def test_memora_turns_without_a_message_are_an_error() -> None:
    broken = memora(1, "a")
    del broken["conversation"][0]["message"]
    with pytest.raises(InputError, match=r"entry 1 \(id '1'\), field 'turns\[0\]\.content'"):
        from_memora([broken])
    with pytest.raises(InputError, match="Memora sessions, entry 1: must be an object"):
        from_memora(["x"])  # type: ignore[list-item]


LONGMEMEVAL = {
    "question": "GOLD",
    "haystack_session_ids": ["answer_1", "filler_2"],
    "haystack_dates": ["2023/05/30 (Tue) 23:40", "2023/05/20 (Sat) 02:21"],
    "haystack_sessions": [
        [{"role": "user", "content": "Austin", "has_answer": True}],
        [{"role": "user", "content": "Seattle"}],
    ],
    "answer_session_ids": ["answer_1"],
}


def test_longmemeval_sessions_are_sorted_with_their_dates_and_renamed() -> None:
    """B28: the oracle file is unsorted; and its ids tell where the answer is."""
    memory = from_longmemeval(LONGMEMEVAL)
    assert [(e.id, e.text) for e in memory] == [("s01.0", "Seattle"), ("s02.0", "Austin")]
    assert "answer" not in repr(memory)
    assert "GOLD" not in repr(memory)


def test_longmemeval_ids_can_be_kept_for_recall() -> None:
    kept = from_longmemeval(LONGMEMEVAL, keep_ids=True)
    assert [e.session for e in kept] == ["filler_2", "answer_1"]


def test_longmemeval_needs_as_many_dates_as_sessions() -> None:
    with pytest.raises(InputError, match="not 2 haystack_sessions, 1 haystack_dates"):
        from_longmemeval({**LONGMEMEVAL, "haystack_dates": ["2023/05/20"]})
    with pytest.raises(InputError, match="LongMemEval 'haystack_dates': must be a list, not null"):
        from_longmemeval({"haystack_sessions": []})


LOCOMO = {
    "speaker_a": "Caroline",
    "speaker_b": "Melanie",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Caroline", "dia_id": "D1:1", "text": "I moved", "blip_caption": "GOLD"},
        {"speaker": "Melanie", "dia_id": "D1:2", "text": "I did not"},
    ],
    "session_2_date_time": "2:00 pm on 9 May, 2023",
    "events_session_1": {"Caroline": ["GOLD"]},
}


@pytest.mark.parametrize("record", [LOCOMO, {"sample_id": "x", "conversation": LOCOMO}])
def test_locomo_talks_have_one_user_and_dates_without_sessions_are_skipped(
    record: dict[str, Any],
) -> None:
    memory = from_locomo(record)
    assert [(e.id, e.text) for e in memory.evidence()] == [("session_1.0", "I moved")]
    assert str(memory.entries[0].timestamp) == "2023-05-08T13:56Z"
    assert "GOLD" not in repr(memory)
    other = from_locomo(record, user="speaker_b")
    assert [e.text for e in other.evidence()] == ["I did not"]


def test_locomo_without_speakers_is_refused() -> None:
    with pytest.raises(InputError, match="field 'speaker_a' is missing"):
        from_locomo({"conversation": []})
