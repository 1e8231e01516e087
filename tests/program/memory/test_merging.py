"""Memories of several sources become one, whatever ids each of them had given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory import Memory, read_memory
from stateauditor.signatures.models import Validity


def fact(text: str, at: str = "2023-05-20", **more: Any) -> dict[str, Any]:
    return {"text": text, "timestamp": at, **more}


def session(*texts: str, at: str = "2023-05-20", **more: Any) -> dict[str, Any]:
    turns = [{"role": "user", "content": text} for text in texts]
    return {"timestamp": at, "turns": turns, **more}


def told(memory: Memory) -> list[tuple[str, str]]:
    return [(entry.id, entry.text) for entry in memory]


def test_one_id_for_different_things_is_told_apart() -> None:
    one = read_memory([fact("a", id="home"), session("x", at="2023-05-21")])
    other = read_memory([fact("b", "2023-05-19", id="home"), session("y", at="2023-05-22")])
    assert told(one + other) == [
        ("home", "b"),
        ("home~2", "a"),
        ("s01.0", "x"),
        ("s01~2.0", "y"),
    ]
    assert {e.session for e in one + other if e.session} == {"s01", "s01~2"}


def test_what_both_hold_stands_once_and_a_session_becomes_whole() -> None:
    early = read_memory([fact("a", id="f"), session("x", id="s")])
    late = read_memory([fact("a", id="f"), session("x", "y", id="s")])
    assert early + late == late


def test_a_fact_that_one_of_them_has_closed_stays_closed() -> None:
    still = read_memory([fact("a", id="f")])
    ended = read_memory([fact("a", id="f", invalid_at="2023-08-01")])
    assert still + ended == ended + still == ended
    assert (still + ended).entries[0].validity is Validity.CLOSED


def test_a_fact_may_not_take_the_id_of_a_turn() -> None:
    both = read_memory([session("x", id="a")]) + read_memory([fact("b", id="a.0")])
    assert sorted(told(both)) == [("a.0", "x"), ("a.0~2", "b")]


def test_only_memories_can_be_added() -> None:
    assert sum([read_memory([fact("a")])], Memory()) == read_memory([fact("a")])
    with pytest.raises(TypeError):
        sum([[fact("a")]], Memory())  # type: ignore[arg-type]


items = st.lists(
    st.builds(
        fact,
        st.sampled_from("ab"),
        st.sampled_from(["2023-05-20", "2023-05-21"]),
        id=st.sampled_from(["f", "s01", "s01.0"]),
    )
    | st.builds(
        lambda texts, name: session(*texts, id=name),
        st.lists(st.sampled_from("xy"), max_size=2),
        st.sampled_from(["s01", "f"]),
    ),
    max_size=4,
    unique_by=lambda item: str(item["id"])[:3],
).map(read_memory)


@given(items, items)
def test_the_order_of_the_sources_changes_nothing_and_nothing_is_lost(
    one: Memory, other: Memory
) -> None:
    both = one + other
    assert both == other + one
    assert len({entry.id for entry in both}) == len(both)
    texts = {(e.timestamp, e.text, e.role) for e in both}
    assert texts == {(e.timestamp, e.text, e.role) for e in (*one, *other)}
    assert one + one == one
    assert one + Memory() == one
