"""Rows of any store become facts, by the fields that hold their text and their time."""

from __future__ import annotations

import pytest

from stateauditor.program.memory import from_rows
from stateauditor.signatures.errors import InputError, InputWarning, TimestampError
from stateauditor.signatures.models import EntryRole, Validity


def test_the_fields_are_found_or_said() -> None:
    rows = [{"content": "Likes tea", "created_at": "2023-05-20", "seen": "2023-05-21", "n": "x"}]
    assert str(from_rows(rows).entries[0].timestamp) == "2023-05-20"
    named = from_rows(rows, text="n", time="seen").entries[0]
    assert (named.text, str(named.timestamp)) == ("x", "2023-05-21")


def test_times_of_different_kinds_are_not_mixed() -> None:
    rows = [
        {"content": "a", "valid_at": "2023-05-20", "created_at": "2025-01-01"},
        {"content": "b", "created_at": "2024-01-01"},
    ]
    with pytest.raises(TimestampError, match="entry 2, field 'timestamp': is missing"):
        from_rows(rows)
    assert [e.text for e in from_rows(rows, allow_undated=True).undated()] == ["b"]


def test_bare_texts_are_rows_without_a_time() -> None:
    with pytest.raises(TimestampError):
        from_rows(["Likes tea"])
    assert [e.text for e in from_rows(["Likes tea"], allow_undated=True)] == ["Likes tea"]


def test_rows_keep_who_said_them_and_that_they_ended() -> None:
    rows = [
        {"note": "a", "date": "2023-05-20", "role": "assistant"},
        {"note": "b", "date": "2023-05-20", "is_deleted": True, "updated_at": "2023-06-01"},
    ]
    first, second = from_rows(rows)
    assert first.role is EntryRole.ASSISTANT
    assert (second.validity, str(second.ended)) == (Validity.CLOSED, "2023-06-01")
    with pytest.raises(InputError, match="'alien' is unknown"):
        from_rows([{"note": "a", "date": "2023-05-20", "role": "alien"}])
    with pytest.raises(InputError, match="rows: must be a list, not an object"):
        from_rows({})


def test_a_row_that_was_changed_is_dated_by_its_change_unless_the_field_is_said() -> None:
    rows = [{"note": "a", "created_at": "2023-05-20", "updated_at": "2023-06-01"}]
    with pytest.warns(InputWarning, match="1 records were changed in place"):
        assert str(from_rows(rows).entries[0].timestamp) == "2023-06-01"
    assert str(from_rows(rows, time="created_at").entries[0].timestamp) == "2023-05-20"
