"""graphiti's and Zep's edges keep both of their times, and episodes are the user's own words."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from stateauditor.program.memory import (
    Memory,
    from_graphiti,
    from_zep,
)
from stateauditor.signatures.errors import InputError, InputWarning, TimestampError
from stateauditor.signatures.models import EntryRole, Validity


def dated(memory: Memory) -> list[tuple[str, str]]:
    return [(entry.text, str(entry.timestamp)) for entry in memory]


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


# --- ends ---------------------------------------------------------------------


def edge(fact: str, valid_at: str, **more: Any) -> dict[str, Any]:
    return {"uuid": fact, "fact": fact, "valid_at": valid_at, "created_at": "2024-01-01", **more}


def test_a_closed_edge_says_when_it_ended() -> None:
    memory = from_graphiti([edge("a", "2023-01-01", invalid_at="2023-08-01T10:00:00Z")])
    assert [(e.id, e.validity, str(e.ended)) for e in memory] == [
        ("a", Validity.CLOSED, "2023-08-01T10:00:00Z")
    ]


def test_an_edge_whose_end_is_still_to_come_is_open_though_graphiti_calls_it_expired() -> None:
    scheduled = edge("a", "2023-01-01", invalid_at="2023-09-01", expired_at="2023-02-01")
    assert from_zep([scheduled], as_of="2023-08-01").entries[0].validity is Validity.OPEN
    assert from_zep([scheduled], as_of="2023-10-01").entries[0].validity is Validity.CLOSED


def test_an_edge_that_expired_without_another_end_is_closed_then() -> None:
    expired = edge("a", "2023-01-01", invalid_at=None, expired_at="2023-02-01")
    assert str(from_graphiti([expired]).entries[0].ended) == "2023-02-01"


# --- episodes -----------------------------------------------------------------


def test_zep_episodes_and_messages_are_said_by_someone() -> None:
    said = {"uuid": "e", "content": "I live in Ghent.", "thread_uuid": "t", "graph_uuid": "g"}
    memory = from_zep(
        {
            "episodes": [
                {**said, "role": "user", "reference_time": "2023-05-20T10:00:00Z"},
                {**said, "uuid": "f", "role": "assistant", "reference_time": "2023-05-21"},
                {**said, "uuid": "g", "role": "tool", "reference_time": "2023-05-22"},
                {**said, "uuid": "h", "content": " ", "role": "user"},
            ],
            "edges": [],
        }
    )
    assert [(e.id, e.role, e.session) for e in memory] == [
        ("e", EntryRole.USER, "t"),
        ("f", EntryRole.ASSISTANT, "t"),
    ]


def episode(content: str, source: str = "message", **more: Any) -> dict[str, Any]:
    return {"uuid": "e", "content": content, "source": source, "valid_at": "2023-05-20", **more}


def test_speakers_inside_a_graphiti_episode_are_told_apart() -> None:
    said = "Kim: I live in Ghent.\nSecond line.\nassistant: Nice!\nLee (user): Me, too."
    memory = from_graphiti([episode(said)], user="Kim")
    assert [(e.text, e.role) for e in memory] == [
        ("I live in Ghent.\nSecond line.", EntryRole.USER),
        ("Nice!", EntryRole.ASSISTANT),
        ("Me, too.", EntryRole.USER),
    ]


def test_speakers_whom_nobody_named_are_no_evidence_and_that_is_said() -> None:
    with pytest.warns(InputWarning, match="user= names them"):
        memory = from_graphiti([episode("Kim: I live in Ghent.")])
    assert memory.evidence() == ()


def test_an_episode_of_text_is_a_fact() -> None:
    memory = from_graphiti({"episodes": [episode("Kim lives in Ghent.", "text")]}, user="Kim")
    assert [(e.text, e.role) for e in memory] == [("User lives in Ghent.", EntryRole.FACT)]


# --- pages and contexts ---------------------------------------------------------

PAGE = {"items": [edge("a", "2023-01-01")], "next_cursor": None, "total_size": 1}


def test_a_whole_page_is_read_and_a_part_of_several_refused() -> None:
    assert from_zep(PAGE) == from_zep(SimpleNamespace(**PAGE))
    for part in ({"next_cursor": "c"}, {"total_size": 9}):
        with pytest.raises(InputError, match=r"Zep: one page, 1.*records, and there are more"):
            from_zep({**PAGE, **part})


def test_a_context_response_gives_its_edges_and_episodes_and_says_if_it_was_cut() -> None:
    results = {"edges": PAGE["items"], "episodes": None, "nodes": [{"summary": "not read"}]}
    with pytest.warns(InputWarning, match="truncated"):
        memory = from_zep({"context": "...", "results": results, "truncated": True})
    assert dated(memory) == [("a", "2023-01-01")]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"context": "# FACTS"}, "Zep: a context block is text for a prompt"),
        ({"nodes": []}, "Zep: expected edges or episodes"),
        ("text", "Zep: expected edges or episodes: .* not text"),
    ],
)
def test_what_holds_no_records_is_refused_under_the_stores_own_name(
    data: object, what: str
) -> None:
    with pytest.raises(InputError, match=what):
        from_zep(data)
