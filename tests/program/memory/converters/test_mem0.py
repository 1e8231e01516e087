"""mem0's rows, history and pages become dated entries, and its traps are avoided."""

from __future__ import annotations

from typing import Any

import pytest

from stateauditor.program.memory import (
    Memory,
    from_mem0,
    is_later,
)
from stateauditor.signatures.errors import InputError, InputWarning, TimestampError
from stateauditor.signatures.models import Validity


def dated(memory: Memory) -> list[tuple[str, str]]:
    return [(entry.text, str(entry.timestamp)) for entry in memory]


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


# --- what was not given -------------------------------------------------------


@pytest.mark.parametrize(
    "page", [{"count": 250, "next": None}, {"count": 1, "next": "https://x/?page=2"}]
)
def test_one_page_of_several_is_refused(page: dict[str, Any]) -> None:
    row = {"id": "m", "memory": "Likes tea", "created_at": "2023-05-20"}
    with pytest.raises(InputError, match=r"mem0: one page, 1.*newest fact may be missing"):
        from_mem0({**page, "results": [row]})
    assert len(from_mem0({"count": 1, "next": None, "results": [row]})) == 1


def test_as_many_rows_as_come_by_default_bring_a_warning() -> None:
    rows = [{"id": str(n), "memory": f"Fact {n}", "created_at": "2023-05-20"} for n in range(20)]
    with pytest.warns(InputWarning, match="20 records are what mem0 search and get_all return"):
        from_mem0({"results": rows})


# --- ends ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::stateauditor.signatures.errors.InputWarning")
def test_a_row_past_its_expiration_date_is_closed_and_dated_by_its_creation() -> None:
    row = {"id": "m", "memory": "Rents a flat", "expiration_date": "2023-08-01"}
    row |= {"created_at": "2023-05-20", "updated_at": "2023-06-20"}
    (entry,) = from_mem0([row], as_of="2023-08-02")
    assert (entry.validity, str(entry.ended)) == (Validity.CLOSED, "2023-08-01")
    assert str(entry.timestamp) == "2023-05-20"
    (entry,) = from_mem0([row], as_of="2023-08-01")
    assert entry.validity is Validity.OPEN, "mem0 shows it until the day is over"
    assert str(entry.timestamp) == "2023-06-20"


def test_a_mark_in_the_metadata_ends_a_row_when_the_mark_was_set() -> None:
    row = {"id": "m", "memory": "Lives in Ghent", "metadata": {"superseded_by": "n"}}
    row |= {"created_at": "2023-05-20", "updated_at": "2023-06-20"}
    (entry,) = from_mem0([row])
    assert (str(entry.timestamp), str(entry.ended)) == ("2023-05-20", "2023-06-20")


def test_an_end_that_cannot_be_read_is_named() -> None:
    row = {"id": "m", "memory": "x", "created_at": "2023-05-20", "expiration_date": "soon"}
    with pytest.raises(TimestampError, match=r"mem0 record 'm', field 'expiration_date': 'soon'"):
        from_mem0([row])
    assert from_mem0([row], allow_undated=True).entries[0].validity is Validity.CLOSED


def test_times_that_stand_in_the_metadata_are_found() -> None:
    metadata = {"created_at": "2023-05-20", "updated_at": "2023-06-01", "status": "archived"}
    (entry,) = from_mem0([{"id": "m", "memory": "x", "metadata": metadata}])
    assert (str(entry.timestamp), str(entry.ended)) == ("2023-05-20", "2023-06-01")
