"""A scenario shows the program what it may see, under the ids that it will get."""

from __future__ import annotations

import pytest

from stateauditor.data.records import parse_record
from stateauditor.data.scenario import Dimension, oracle_memory
from stateauditor.program.memory import read_memory
from tests.data.records import record

ITEM = parse_record(record(), "f", 1)


def test_the_memory_is_the_one_that_the_raw_record_gives() -> None:
    assert read_memory(ITEM.scenario.memory_items()) == read_memory(record())


def test_dimensions_are_named_as_in_the_benchmark() -> None:
    assert [d.key for d in Dimension] == ["dim1", "dim2", "dim3"]
    queries = record()["probing_queries"]
    assert {f"{d.key}_query": text for d, text in ITEM.scenario.probes.items()} == queries
    assert ITEM.scenario.probes[Dimension.IPA] == queries["dim3_query"]


def test_oracle_sessions_have_the_ids_that_the_memory_has() -> None:
    assert ITEM.oracle_sessions == ("s01", "s03")
    sessions = {entry.session for entry in read_memory(ITEM.scenario.memory_items())}
    assert set(ITEM.oracle_sessions) <= sessions


def test_oracle_memory_keeps_the_two_sessions_and_their_ids() -> None:
    scenario = oracle_memory(ITEM)
    assert [session.id for session in scenario.sessions] == ["s01", "s03"]
    assert scenario.uid == ITEM.uid
    assert scenario.probes == ITEM.scenario.probes


def test_indices_and_histories_stay_out_of_reprs() -> None:
    assert repr(ITEM.oracle) == "OracleIndices()"
    assert "Denver." not in repr(ITEM.scenario.sessions)


def test_parts_are_immutable() -> None:
    with pytest.raises(AttributeError):
        ITEM.scenario.uid = "other"  # type: ignore[misc]
