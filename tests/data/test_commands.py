"""``stateauditor data`` prints what a user needs and exits as a script expects."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from stateauditor.cli.data import app
from stateauditor.data.frozen import load_frozen
from stateauditor.data.registry import STALE
from stateauditor.signatures.errors import InputError
from tests.data.records import record, write_json

RUN = CliRunner()


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STATEAUDITOR_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("COLUMNS", "200")


def test_list_shows_pins_and_how_to_fetch() -> None:
    result = RUN.invoke(app, ["list"])
    assert result.exit_code == 0
    assert STALE.pin is not None
    parts = ("stateauditor data fetch stale", STALE.pin.revision, STALE.pin.sha256, "CC BY 4.0")
    assert all(part in result.output for part in (*parts, "ships with the package"))


def test_list_shows_where_a_fetched_file_is(tmp_path: Path) -> None:
    path = tmp_path / "data" / "stale" / "T1_T2_400_FULL.json"
    path.parent.mkdir(parents=True)
    path.touch()
    output = RUN.invoke(app, ["list"]).output
    assert "not fetched" not in output
    assert "T1_T2_400_FULL.json" in output


def test_verify_exits_with_zero_for_good_records(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [record("a"), record("b", type="T2")])
    result = RUN.invoke(app, ["verify", str(path)])
    assert result.exit_code == 0
    assert "records   2 good ones (1 T1, 1 T2)" in result.output
    assert "broken    none" in result.output


def test_verify_exits_with_one_and_names_the_broken_field(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [record("bad", M_new=None)])
    result = RUN.invoke(app, ["verify", str(path)])
    assert result.exit_code == 1
    assert "uid 'bad'), field 'M_new'" in result.output


def test_fetch_without_a_network_raises_the_message_for_the_front_door(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    impatient = SimpleNamespace(sleep=lambda seconds: None)
    monkeypatch.setattr("huggingface_hub.utils._http.time", impatient)
    result = RUN.invoke(app, ["fetch", "stale"])
    assert isinstance(result.exception, InputError)
    assert "stateauditor data verify" in str(result.exception)


def test_freeze_writes_a_list_that_loads(tmp_path: Path) -> None:
    records = [record(f"{t}-{i}", type=t) for t in ("T1", "T2") for i in range(40)]
    source, out = write_json(tmp_path / "mine.json", records), tmp_path / "mine_dev.json"
    result = RUN.invoke(app, ["freeze", str(source), "--out", str(out)])
    assert result.exit_code == 0
    frozen = load_frozen(out)
    assert (frozen.name, frozen.dataset, len(frozen.ids)) == ("mine_dev", "mine.json", 50)
    assert frozen.revision.startswith("sha256:")
    assert frozen.sha256 in result.output
    assert json.loads(out.read_text())["seed"] == 42


def test_freeze_does_not_overwrite_a_list(tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    out.write_text("kept")
    result = RUN.invoke(app, ["freeze", "stale_mini", "--out", str(out), "-n", "4"])
    assert isinstance(result.exception, InputError)
    assert out.read_text() == "kept"


def test_freeze_of_stale_needs_the_fetched_file(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["freeze", "stale", "--out", str(tmp_path / "stale_dev.json")])
    assert isinstance(result.exception, InputError)
    assert "stateauditor data fetch stale" in str(result.exception)


def test_freeze_of_the_pinned_bytes_records_the_pinned_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses
    import hashlib

    from stateauditor.data import registry
    from stateauditor.data.freezing import freeze

    path = write_json(tmp_path / "data.json", [record("a"), record("b", type="T2")])
    content = path.read_bytes()
    assert STALE.pin is not None
    pin = dataclasses.replace(
        STALE.pin, size=len(content), sha256=hashlib.sha256(content).hexdigest()
    )
    monkeypatch.setitem(registry._DATASETS, "stale", dataclasses.replace(STALE, pin=pin))
    frozen = freeze(str(path), "stale_dev")
    assert (frozen.dataset, frozen.revision) == ("stale", pin.revision)
