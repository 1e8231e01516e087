"""Recorded responses: keyed by address, free of secrets, replayable, crash-proof."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stateauditor.program.backends.store import (
    CacheMode,
    ResponseStore,
    default_folder,
    request_key,
)

MESSAGES = [{"role": "user", "content": "hello"}]


def test_the_key_covers_what_shapes_an_answer_and_nothing_else() -> None:
    key = request_key("space", MESSAGES, {"temperature": 0})
    assert key == request_key("space", MESSAGES, {"temperature": 0, "api_key": "sk", "timeout": 9})
    assert key != request_key("other", MESSAGES, {"temperature": 0})
    assert key != request_key("space", MESSAGES, {"temperature": 1})
    assert key != request_key("space", MESSAGES, {"temperature": 0, "rollout_id": 1})
    assert key != request_key("space", [{"role": "user", "content": "hi"}], {"temperature": 0})


def test_what_is_recorded_comes_back_as_a_fresh_copy(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path, CacheMode.READ_WRITE)
    store.put("ab" * 32, {"outputs": ["été"]})
    first = store.get("ab" * 32)
    assert first is not None
    first["outputs"].append("mutated")
    again = store.get("ab" * 32)
    assert again is not None
    assert again["outputs"] == ["été"]


@pytest.mark.parametrize("mode", [CacheMode.OFF, CacheMode.READ_ONLY])
def test_only_read_write_writes(tmp_path: Path, mode: CacheMode) -> None:
    ResponseStore(tmp_path, mode).put("ab" * 32, {"outputs": []})
    assert list(tmp_path.rglob("*.json")) == []


def test_the_first_record_is_kept_and_a_later_one_is_told_of_it(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path, CacheMode.READ_WRITE)
    assert store.keep("ab" * 32, {"outputs": ["first"]}) is None
    first = store.keep("ab" * 32, {"outputs": ["second"]})
    assert first is not None
    assert first["outputs"] == ["first"]
    assert store.get("ab" * 32) == first


def test_of_two_twins_that_end_together_one_is_kept_and_both_know_it(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path, CacheMode.READ_WRITE)
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda n: store.keep("ab" * 32, {"outputs": [n]}), range(40)))
    (first,) = [number for number, found in enumerate(told) if found is None]
    assert all(found is None or found["outputs"] == [first] for found in told)


def test_off_reads_nothing(tmp_path: Path) -> None:
    ResponseStore(tmp_path, CacheMode.READ_WRITE).put("ab" * 32, {"outputs": []})
    assert ResponseStore(tmp_path, CacheMode.OFF).get("ab" * 32) is None


@pytest.mark.parametrize("content", ["", '{"format": 1, "outp', "[]", '{"format": 99}', "\xff"])
def test_a_torn_or_foreign_record_is_asked_for_again(tmp_path: Path, content: str) -> None:
    store = ResponseStore(tmp_path, CacheMode.READ_WRITE)
    path = tmp_path / "ab" / ("ab" * 32 + ".json")
    path.parent.mkdir()
    path.write_bytes(content.encode("latin-1"))
    assert store.get("ab" * 32) is None


def test_an_unparsable_reply_is_asked_for_again_but_replays_as_recorded(tmp_path: Path) -> None:
    writing = ResponseStore(tmp_path, CacheMode.READ_WRITE)
    writing.put("ab" * 32, {"outputs": ["nonsense"]})
    writing.mark_unparsable("ab" * 32)
    assert writing.get("ab" * 32) is None
    replayed = ResponseStore(tmp_path, CacheMode.READ_ONLY).get("ab" * 32)
    assert replayed is not None
    assert replayed["outputs"] == ["nonsense"]
    writing.mark_unparsable("cd" * 32)  # never recorded: nothing to mark
    assert writing.get("cd" * 32) is None


def test_the_folder_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATEAUDITOR_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("STATEAUDITOR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_folder() == tmp_path / "xdg" / "stateauditor" / "responses"


def test_a_continued_run_finds_its_own_records_as_paid_and_as_they_were(tmp_path: Path) -> None:
    first = ResponseStore(tmp_path, CacheMode.READ_WRITE, owner="run 1")
    first.put("ab" * 32, {"outputs": ["nonsense"], "unparsable": True})
    again = ResponseStore(tmp_path, CacheMode.READ_WRITE, owner="run 1").get("ab" * 32)
    assert again is not None
    assert first.owns(again)
    other = ResponseStore(tmp_path, CacheMode.READ_WRITE, owner="run 2")
    assert other.get("ab" * 32) is None
    assert not other.owns(again)
    assert not ResponseStore(tmp_path, CacheMode.READ_WRITE).owns(again)
