"""A run's folder: flushed line by line, tolerant of a torn one, never run over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stateauditor.experiments.runs import folder as folder_module
from stateauditor.experiments.runs.folder import RunFolder, git_hash, package_versions
from stateauditor.signatures.errors import ConfigError, InputError
from tests.experiments.records import item, run_folder


def test_records_come_back_as_they_were_written(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", 2)
    folder.append(written := item("ü-漢字", judges={"loop": True}))
    assert [i.uid for i in folder.items()] == ["u001", "u002", "ü-漢字"]
    assert list(folder.items())[-1] == written
    assert "漢字" in folder.items_path.read_text("utf-8")
    assert folder.done() == {"u001", "u002", "ü-漢字"}


@pytest.mark.parametrize("torn", [b"{", b'{"uid": "u3"', '{"uid": "é'.encode()[:-1]])
def test_a_torn_last_line_is_left_out_and_cut_off_before_going_on(
    tmp_path: Path, torn: bytes
) -> None:
    folder = run_folder(tmp_path / "run", 2)
    with folder.items_path.open("ab") as file:
        file.write(torn)
    assert [i.uid for i in folder.items()] == ["u001", "u002"]
    folder.begin(folder.spec(), folder.manifest(), resume=True)
    folder.append(item("u003"))
    assert [i.uid for i in folder.items()] == ["u001", "u002", "u003"]


def test_a_broken_line_in_the_middle_is_an_error_with_its_number(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", 1)
    with folder.items_path.open("ab") as file:
        file.write(b'{"uid": 5}\n')
    with pytest.raises(InputError, match="line 2: not a record of this version"):
        list(folder.items())


def test_a_run_without_records_has_none(tmp_path: Path) -> None:
    assert list(run_folder(tmp_path / "run", 0).items()) == []


def test_going_on_keeps_the_first_manifest(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", 1)
    first = folder.manifest()
    later = first.model_copy(update={"run_id": "another", "started": "later"})
    assert folder.begin(folder.spec(), later, resume=True) == first


@pytest.mark.parametrize("setting", ["max_cost", "concurrency", "tracking"])
def test_what_changes_no_answer_may_differ_when_going_on(tmp_path: Path, setting: str) -> None:
    folder = run_folder(tmp_path / "run", 1)
    value = {"max_cost": 5.0, "concurrency": 2, "tracking": False}[setting]
    changed = folder.spec().model_copy(update={setting: value})
    folder.begin(changed, folder.manifest(), resume=True)


def test_records_are_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", 3)
    before = folder.items_path.read_bytes()

    def broken() -> object:
        yield item("x001")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        folder.replace_items(broken())  # type: ignore[arg-type]
    assert folder.items_path.read_bytes() == before
    folder.replace_items(i for i in folder.items() if i.uid != "u002")
    assert [i.uid for i in folder.items()] == ["u001", "u003"]


@pytest.mark.parametrize("missing", ["config.yaml", "manifest.json"])
def test_what_is_no_run_is_said(tmp_path: Path, missing: str) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(ConfigError, match=f"is no run folder: it has no {missing}"):
        folder.spec() if missing == "config.yaml" else folder.manifest()


def test_json_files_are_sorted_and_readable(tmp_path: Path) -> None:
    path = RunFolder(tmp_path).write_json("x.json", {"b": "é", "a": 1})
    assert path.read_text("utf-8") == '{\n  "a": 1,\n  "b": "é"\n}\n'
    assert json.loads(path.read_text("utf-8"))["a"] == 1


def test_versions_are_those_that_are_installed() -> None:
    assert package_versions()["stateauditor"]


def test_without_git_there_is_no_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert git_hash() is None
    monkeypatch.setattr(folder_module, "_git", lambda *words: "abc" if "HEAD" in words else " M x")
    assert git_hash() == "abc+dirty"
