"""Items of a LangGraph store become facts, dated by what last changed their text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from stateauditor.program.memory import (
    Memory,
    from_langgraph,
)
from stateauditor.signatures.errors import InputWarning
from stateauditor.signatures.models import EntryRole, Validity


def dated(memory: Memory) -> list[tuple[str, str]]:
    return [(entry.text, str(entry.timestamp)) for entry in memory]


# Most items here were put twice, and that warning has a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore::stateauditor.signatures.errors.InputWarning")


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


# --- what was not given, and ends ---------------------------------------------


def test_as_many_items_as_a_search_gives_by_default_bring_a_warning() -> None:
    items = [item({"text": "x"}, key=str(n), updated_at="2023-05-20T10:00:00Z") for n in range(10)]
    with pytest.warns(InputWarning, match="10 records are what a LangGraph store's searches"):
        from_langgraph(items)


def test_an_item_that_was_put_again_says_that_its_past_is_lost() -> None:
    with pytest.warns(InputWarning, match="LangGraph: 1 records were changed in place"):
        from_langgraph([item({"text": "x"})])


def test_an_item_put_again_to_mark_its_end_is_dated_by_its_creation() -> None:
    (entry,) = from_langgraph([item({"text": "x", "superseded_by": "k2"})])
    assert (str(entry.timestamp), str(entry.ended)) == (
        "2023-05-20T10:00:00Z",
        "2023-06-01T10:00:00Z",
    )
    (entry,) = from_langgraph([item({"text": "x", "invalid_at": "2023-05-25"})])
    assert str(entry.ended) == "2023-05-25"


def test_a_field_of_a_profile_is_no_mark_of_the_store() -> None:
    (entry,) = from_langgraph([item({"plan": "gold", "active": False, "status": "inactive"})])
    assert entry.validity is Validity.OPEN
