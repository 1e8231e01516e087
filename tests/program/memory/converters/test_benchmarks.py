"""Records of benchmarks become dated entries without their annotations."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stateauditor.program.memory import (
    from_locomo,
    from_longmemeval,
    from_memora,
    is_later,
)
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import EntryRole


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


def test_locomo_knows_its_user_by_name() -> None:
    assert [e.text for e in from_locomo(LOCOMO, user="melanie").evidence()] == ["I did not"]
    with pytest.raises(InputError, match="no speaker is 'Kim'; known: Caroline, Melanie"):
        from_locomo(LOCOMO, user="Kim")


def test_one_record_alone_in_a_list_is_read_and_several_are_refused() -> None:
    assert from_locomo([LOCOMO]) == from_locomo(LOCOMO)
    assert from_longmemeval([LONGMEMEVAL]) == from_longmemeval(LONGMEMEVAL)
    with pytest.raises(InputError, match="LoCoMo: 2 records, each the memory of another user"):
        from_locomo([LOCOMO, LOCOMO])
    with pytest.raises(InputError, match="LongMemEval: a record is an object, not null"):
        from_longmemeval(None)  # type: ignore[arg-type]


def test_one_memora_session_needs_no_list() -> None:
    assert from_memora(memora(1, "a")) == from_memora([memora(1, "a")])
