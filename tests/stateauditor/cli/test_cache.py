"""``stateauditor cache``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.backends.test_cache_folders import fill
from tests.stateauditor.cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, with two records of one backend and one of another."""
    place = tmp_path / "responses"
    monkeypatch.setenv("STATEAUDITOR_CACHE", str(place))
    fill(place, "one")
    fill(place, "two", 1, model="openai/b")
    return place


def test_info_lists_backends_records_and_models(run: Run, folder: Path) -> None:
    done = run("cache", "info")
    assert done.status == 0
    assert [line.split()[:2] for line in done.out.splitlines()[1:3]] == [["one", "2"], ["two", "1"]]
    assert str(folder) in done.out
    listed = run("cache", "info", "--json").json()["backends"]
    assert [(b["name"], b["records"], b["unparsable"]) for b in listed] == [
        ("one", 2, 0),
        ("two", 1, 0),
    ]


def test_info_of_nothing(run: Run, tmp_path: Path) -> None:
    assert "no recorded responses" in run("cache", "info", "--folder", tmp_path).out


def test_clear_asks_first(run: Run, folder: Path) -> None:
    refused = run("cache", "clear", stdin="n\n")
    assert refused.status == 1
    assert "Delete 3 record(s) of one, two" in refused.err
    assert "3" in run("cache", "info").out or folder.is_dir()
    assert run("cache", "clear", "one", stdin="y\n").out.endswith("2 record(s) deleted\n")
    assert run("cache", "clear", "--yes").out.endswith("1 record(s) deleted\n")
    assert "no recorded responses" in run("cache", "info").out


def test_clear_of_an_unknown_backend_is_an_error(run: Run, folder: Path) -> None:
    done = run("cache", "clear", "three", "--yes")
    assert done.status == 2
    assert "there are: one, two" in done.err


def test_what_is_exported_can_be_imported_elsewhere(run: Run, folder: Path, tmp_path: Path) -> None:
    packed, elsewhere = tmp_path / "replies.zip", tmp_path / "elsewhere"
    assert "3 record(s)" in run("cache", "export", packed).out
    assert (
        "3 record(s) added, 0 were there"
        in run("cache", "import", packed, "--folder", elsewhere).out
    )
    assert "0 record(s) added, 3 were there" in run("cache", "import", packed).out


def test_another_answer_is_refused_until_it_is_said_which_one_counts(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "replies.zip"
    run("cache", "export", packed, "one")
    fill(folder, "one", outputs=["no"])
    refused = run("cache", "import", packed)
    assert refused.status == 2
    assert "--existing keep or replace" in refused.err
    kept = run("cache", "import", packed, "--existing", "keep")
    assert "2 with another answer kept" in kept.out
    replaced = run("cache", "import", packed, "--existing", "replace")
    assert "2 with another answer replaced" in replaced.out
