"""Records of memory systems become dated entries, and their traps are avoided."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from stateauditor.program.memory import (
    from_graphiti,
    from_langgraph,
    from_mem0,
    from_zep,
    is_later,
)
from stateauditor.signatures.errors import InputError, InputWarning, TimestampError
from stateauditor.signatures.models import EntryRole, Validity


def dated(memory: Any) -> list[tuple[str, str]]:
    return [(entry.text, str(entry.timestamp)) for entry in memory]


# --- mem0 -------------------------------------------------------------------

ROW = {
    "id": "m1",
    "memory": "Lives in Austin",
    "hash": "h",
    "metadata": {"said_at": "2014-01-01"},
    "created_at": "2015-03-01T10:00:00-07:00",
    "updated_at": "2025-03-01T10:00:00Z",
}


def test_mem0_results_and_bare_lists_are_dated_in_utc() -> None:
    row = {**ROW, "updated_at": ROW["created_at"]}
    memory = from_mem0({"results": [row]})
    assert [entry.id for entry in memory] == ["m1"]
    assert dated(memory) == [("Lives in Austin", "2015-03-01T17:00:00Z")]
    assert from_mem0([row]) == memory


def test_mem0_dates_an_updated_row_by_its_update_and_says_that_its_past_is_lost() -> None:
    with pytest.warns(InputWarning, match=r"1 records were changed in place.*history="):
        memory = from_mem0([ROW])
    assert dated(memory) == [("Lives in Austin", "2025-03-01T10:00:00Z")]


def test_mem0_event_time_orders_and_its_field_can_be_named() -> None:
    """B21: which of the stored times is the event's is the caller's to say."""
    assert dated(from_mem0([ROW], time_field="created_at"))[0][1] == "2015-03-01T17:00:00Z"
    assert dated(from_mem0([ROW], time_field="said_at"))[0][1] == "2014-01-01"


def test_mem0_without_a_time_is_an_error_unless_allowed() -> None:
    row = {**ROW, "created_at": None, "updated_at": None}
    with pytest.raises(TimestampError, match=r"entry 1 \(id 'm1'\), field 'timestamp'"):
        from_mem0([row])
    assert from_mem0([row], allow_undated=True).undated()


def test_mem0_verbatim_rows_keep_their_speaker() -> None:
    row = {**ROW, "updated_at": None}
    assert from_mem0([{**row, "role": "assistant"}]).evidence() == ()
    assert from_mem0([{**row, "attributed_to": "assistant"}]).evidence() == ()


def history(event: str, memory_id: str = "m1", **more: Any) -> dict[str, Any]:
    row = {"memory_id": memory_id, "event": event, "created_at": "2023-05-20T10:00:00"}
    return {"id": f"{memory_id}-{event}", "updated_at": None, "is_deleted": 0, **row, **more}


def test_mem0_history_gives_each_version_its_own_time() -> None:
    rows = [
        history(
            "UPDATE", old_memory="Seattle", new_memory="Austin", updated_at="2023-06-01T10:00:00"
        ),
        history("ADD", old_memory=None, new_memory="Seattle"),
        history("NONE", "m2", new_memory="Seattle"),
        history("UPDATE", "m3", old_memory="tea", new_memory="coffee"),
    ]
    memory = from_mem0(rows)
    assert dated(memory) == [
        ("Seattle", "2023-05-20T10:00:00Z"),
        ("coffee", "2023-05-20T10:00:00Z"),
        ("Austin", "2023-06-01T10:00:00Z"),
    ]
    assert is_later(memory.entries[2].timestamp, memory.entries[0].timestamp)


def test_mem0_history_of_a_deleted_memory_is_closed() -> None:
    rows = [
        history("ADD", new_memory="Seattle"),
        history(
            "DELETE",
            old_memory="Seattle",
            new_memory=None,
            is_deleted=1,
            updated_at="2023-07-01T10:00:00",
        ),
        history("ADD", "m2", new_memory="Austin"),
    ]
    closed = [(e.text, str(e.ended)) for e in from_mem0(rows) if e.validity is Validity.CLOSED]
    assert closed == [("Seattle", "2023-07-01T10:00:00Z")]


def test_mem0_history_joins_the_rows_that_it_tells_of() -> None:
    rows = [
        {"id": "m1", "memory": "Austin", "created_at": "2023-05-20T10:00:00"}
        | {"updated_at": "2023-06-01T10:00:00", "expiration_date": "2023-08-01"},
        {"id": "m2", "memory": "Likes tea", "created_at": "2023-05-21"},
    ]
    told = [
        history("ADD", new_memory="Seattle"),
        history("UPDATE", old_memory="Seattle", new_memory="Austin", updated_at="2023-06-01T10:00"),
    ]
    memory = from_mem0({"results": rows}, history=[told, []])
    assert [(e.text, str(e.timestamp), str(e.ended)) for e in memory] == [
        ("Seattle", "2023-05-20T10:00:00Z", "2023-06-01T10:00Z"),
        ("Likes tea", "2023-05-21", "None"),
        ("Austin", "2023-06-01T10:00Z", "2023-08-01"),
    ]
    assert from_mem0(rows, history=told) == memory


def test_mem0_other_shapes_are_refused() -> None:
    with pytest.raises(InputError, match="mem0: expected a list, or one under 'results'"):
        from_mem0({"result": []})


# --- graphiti and Zep -------------------------------------------------------


EDGES: list[Any] = [
    {"uuid": "a", "fact": "A", "valid_at": datetime(2023, 5, 20), "created_at": "2025-01-01"},
    SimpleNamespace(
        uuid="b", fact="B", valid_at=None, reference_time=datetime(2023, 5, 21, tzinfo=UTC)
    ),
    {"uuid": "c", "fact": "C", "valid_at": None, "created_at": "2023-05-22T00:00:00Z"},
    {"uuid": "d", "fact": None, "valid_at": None},
]


def test_graphiti_edges_are_dated_by_validity_then_reference() -> None:
    memory = from_graphiti([EDGES[0], EDGES[1], EDGES[3]])
    assert [entry.id for entry in memory] == ["a", "b"]
    assert [stamp[:10] for _, stamp in dated(memory)] == ["2023-05-20", "2023-05-21"]


def test_the_time_of_storage_is_not_compared_with_the_times_of_events() -> None:
    with pytest.warns(InputWarning, match=r"1 of 3 records say when they were stored \(created_at"):
        memory = from_graphiti(EDGES)
    assert [(e.id, e.timestamp is None) for e in memory] == [
        ("c", True), ("a", False), ("b", False),
    ]  # fmt: skip
    by_choice = from_graphiti(EDGES, time_fields=("valid_at", "reference_time", "created_at"))
    assert [entry.id for entry in by_choice] == ["a", "b", "c"]


def test_a_store_that_knows_the_time_of_storage_alone_is_ordered_by_it() -> None:
    stored = [
        {"uuid": name, "fact": name, "created_at": f"2023-05-2{day}T00:00:00Z"}
        for name, day in (("b", 2), ("a", 1))
    ]
    assert [entry.id for entry in from_graphiti(stored)] == ["a", "b"]


def test_the_time_of_storage_can_be_refused_as_an_events_time() -> None:
    edge = {"uuid": "c", "fact": "C", "created_at": "2023-05-22T00:00:00Z"}
    with pytest.raises(TimestampError):
        from_graphiti([edge], time_fields=("valid_at", "reference_time"))


def test_zep_edges_have_strings_and_an_id_with_an_underscore() -> None:
    edge = SimpleNamespace(
        uuid_="z", fact="A", valid_at="2023-05-20T10:00:00Z", invalid_at="2023-06-01T00:00:00Z"
    )
    memory = from_zep(SimpleNamespace(edges=[edge]))
    assert memory.entries[0].id == "z"
    assert dated(memory) == [("A", "2023-05-20T10:00:00Z")]
    assert from_zep({"edges": [vars(edge)]}) == memory


# --- LangGraph --------------------------------------------------------------


def item(value: object, **more: Any) -> dict[str, Any]:
    return {
        "namespace": ("memories", "u1"),
        "key": "k",
        "value": value,
        "created_at": "2023-05-20T10:00:00+00:00",
        "updated_at": "2023-06-01T10:00:00+00:00",
        **more,
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"text": "x"}, "x"),
        ({"content": "x"}, "x"),
        ({"memory": "x", "score": 1}, "x"),
        ({"data": "x"}, "x"),
        ({"kind": "Memory", "content": {"content": "x"}}, "x"),
        ("x", "x"),
        ({"city": "Zürich", "pets": ["cat"], "age": 5, "gone": None}, None),
    ],
)
def test_langgraph_values_give_their_text(value: object, text: str | None) -> None:
    expected = text or 'city: Zürich\npets: ["cat"]\nage: 5'
    assert from_langgraph([item(value)]).entries[0].text == expected


def test_langgraph_items_are_dated_by_their_last_put_and_named_by_path() -> None:
    memory = from_langgraph([SimpleNamespace(**item({"text": "x"}))])
    assert memory.entries[0].id == "memories/u1/k"
    assert memory.entries[0].role is EntryRole.FACT
    assert dated(memory) == [("x", "2023-06-01T10:00:00Z")]


def test_langgraph_time_may_stand_in_the_value() -> None:
    value = {"text": "x", "when": "2023-01-01"}
    memory = from_langgraph([item(value, key=None)], time_field="when")
    assert dated(memory) == [("x", "2023-01-01")]
    assert memory.entries[0].id == "f01"
