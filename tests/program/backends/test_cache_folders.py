"""Whole cache folders: summaries, clearing, packing and unpacking."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from stateauditor.program.backends.cache_folders import (
    Existing,
    Imported,
    backends_in,
    clear,
    pack,
    summarise,
    unpack,
)
from stateauditor.program.backends.store import CacheMode, ResponseStore, request_key
from stateauditor.signatures.errors import InputError
from tests.program.backends.test_loopback import GOOD, ask, backend
from tests.support.loopback import Reply, json_reply, loopback

RECORD = {
    "outputs": ["yes"],
    "model": "openai/a",
    "input_tokens": 5,
    "output_tokens": 1,
    "cost": 0.5,
    "seconds": 0.1,
    "truncated": False,
}


def fill(folder: Path, name: str, count: int = 2, **changes: Any) -> list[str]:
    """Record some responses; their keys."""
    store = ResponseStore(folder / name, CacheMode.READ_WRITE)
    keys = [request_key(name, [{"n": number}], {}) for number in range(count)]
    for key in keys:
        store.put(key, RECORD | changes)
    return keys


def test_a_summary_counts_records_bytes_and_what_could_not_be_read(tmp_path: Path) -> None:
    fill(tmp_path, "one")
    (key, *_) = fill(tmp_path, "two", 3, model="openai/b")
    ResponseStore(tmp_path / "two", CacheMode.READ_WRITE).mark_unparsable(key)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "readme.json").write_text("{}")
    one, two = summarise(tmp_path)
    assert (one.name, one.records, one.unparsable, one.models) == ("one", 2, 0, ("openai/a",))
    assert (two.name, two.records, two.unparsable, two.models) == ("two", 3, 1, ("openai/b",))
    assert one.size == sum(path.stat().st_size for path in (tmp_path / "one").rglob("*.json"))


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert summarise(tmp_path / "none") == []
    assert clear(tmp_path / "none") == 0
    with pytest.raises(InputError, match="no recorded responses"):
        pack(tmp_path / "none", tmp_path / "x.zip")


def test_clearing_deletes_records_and_nothing_else(tmp_path: Path) -> None:
    fill(tmp_path, "one")
    fill(tmp_path, "two")
    kept = tmp_path / "one" / "mine.txt"
    kept.write_text("keep")
    assert clear(tmp_path, ["one"]) == 2
    assert list((tmp_path / "one").rglob("*")) == [kept]
    assert clear(tmp_path) == 2
    assert not (tmp_path / "two").exists()
    with pytest.raises(InputError, match="no records of a backend 'three'; there are: none"):
        clear(tmp_path, ["three"])


def test_a_symbolic_link_is_never_followed(tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere", "one")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "one").symlink_to(tmp_path / "elsewhere" / "one")
    assert clear(tmp_path / "cache") == 0
    assert backends_in(tmp_path / "elsewhere") == ["one"]


def test_the_same_records_pack_into_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        fill(tmp_path / name, "one", 5)
        assert pack(tmp_path / name, tmp_path / f"{name}.zip") == 5
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()


def test_a_packed_cache_replays_anywhere(tmp_path: Path) -> None:
    with loopback([json_reply(GOOD)]) as server:
        live = ask(backend(server, folder=tmp_path / "a", cache=CacheMode.READ_WRITE))
        pack(tmp_path / "a", tmp_path / "packed.zip")
        assert unpack(tmp_path / "packed.zip", tmp_path / "b") == Imported(1, 0, 0)
        replayed = ask(backend(server, folder=tmp_path / "b", cache=CacheMode.READ_ONLY))
        assert len(server.requests) == 1
    assert replayed[0] == live[0]


def test_only_the_named_backends_are_packed(tmp_path: Path) -> None:
    fill(tmp_path, "one")
    fill(tmp_path, "two")
    pack(tmp_path, tmp_path / "one.zip", ["one"])
    unpack(tmp_path / "one.zip", tmp_path / "new")
    assert backends_in(tmp_path / "new") == ["one"]


@pytest.mark.parametrize(("existing", "answer"), [(Existing.KEEP, "yes"), (Existing.REPLACE, "no")])
def test_another_answer_never_wins_silently(
    tmp_path: Path, existing: Existing, answer: str
) -> None:
    (key,) = fill(tmp_path / "here", "one", 1)
    fill(tmp_path / "there", "one", 2, outputs=["no"])
    pack(tmp_path / "there", tmp_path / "there.zip")
    with pytest.raises(InputError, match=r"1 record\(s\) hold another answer"):
        unpack(tmp_path / "there.zip", tmp_path / "here")
    assert summarise(tmp_path / "here")[0].records == 1
    assert unpack(tmp_path / "there.zip", tmp_path / "here", existing) == Imported(1, 0, 1)
    found = ResponseStore(tmp_path / "here" / "one", CacheMode.READ_ONLY).get(key)
    assert found is not None
    assert found["outputs"] == [answer]


def test_an_answer_that_another_run_paid_for_is_the_same_answer(tmp_path: Path) -> None:
    (key,) = fill(tmp_path / "here", "one", 1)
    ResponseStore(tmp_path / "there" / "one", CacheMode.READ_WRITE, "run").put(key, RECORD)
    pack(tmp_path / "there", tmp_path / "there.zip")
    assert unpack(tmp_path / "there.zip", tmp_path / "here") == Imported(0, 1, 0)


KEY = "ab" + "0" * 62
PLACE = f"one/ab/{KEY}.json"
WHOLE = {"format": 1, **RECORD}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("../../etc/passwd", WHOLE, "is no record"),
        (f"one/cd/{KEY}.json", WHOLE, "is no record"),
        (f"/one/ab/{KEY}.json", WHOLE, "is no record"),
        (PLACE, {**WHOLE, "format": 2}, "not in format 1"),
        (PLACE, [1], "not in format 1"),
        (PLACE, {**WHOLE, "outputs": "yes", "model": 3}, "has no right outputs, model"),
    ],
)
def test_a_file_that_is_not_ours_is_refused_whole(
    tmp_path: Path, name: str, content: Any, said: str
) -> None:
    source = tmp_path / "bad.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr(f"one/cd/cd{'1' * 62}.json", json.dumps(WHOLE))
        archive.writestr(name, json.dumps(content))
    with pytest.raises(InputError, match=said):
        unpack(source, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(InputError, match="not a file that `cache export` wrote"):
        unpack(tmp_path / "text.zip", tmp_path / "cache")
    with pytest.raises(InputError, match="there is no such file"):
        unpack(tmp_path / "none.zip", tmp_path / "cache")


# --- what records must not do -----------------------------------------------------------


def test_a_callers_mutation_of_a_reply_changes_nothing_later(tmp_path: Path) -> None:
    from stateauditor.signatures.step import LMRole

    with loopback([Reply("hello")]) as server:
        lm = backend(server, folder=tmp_path, cache=CacheMode.READ_WRITE).lm(LMRole.AUDITOR)
        for _ in range(3):
            outputs = lm("say hello")
            assert outputs == ["hello"]
            outputs[0] = "changed"
            outputs.append("more")
        assert len(server.requests) == 1


def test_no_key_is_in_a_record_or_in_a_packed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOP_KEY", "sk-loopback-secret")
    with loopback([json_reply(GOOD)]) as server:
        ask(
            backend(
                server,
                folder=tmp_path / "cache",
                cache=CacheMode.READ_WRITE,
                api_key_env="LOOP_KEY",
                extra={"extra_headers": {"X-Token": "another-secret"}},
            )
        )
    pack(tmp_path / "cache", tmp_path / "packed.zip")
    with zipfile.ZipFile(tmp_path / "packed.zip") as archive:
        texts = [archive.read(name) for name in archive.namelist()]
    assert len(texts) == 1
    assert b"secret" not in texts[0]
    assert all(b"secret" not in p.read_bytes() for p in (tmp_path / "cache").rglob("*.json"))
