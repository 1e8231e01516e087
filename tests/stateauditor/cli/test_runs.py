"""The commands that read finished runs: rejudge, compare, table, export, import, ui."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateauditor.cli.ui import command_line
from stateauditor.experiments.runs.runner import run as run_spec
from stateauditor.experiments.runs.spec import load_spec
from stateauditor.signatures.errors import ConfigError, InputError
from tests.experiments.pipeline import (
    pipeline,
    roles,
    write_backend,
    write_config,
    write_scenarios,
)
from tests.experiments.records import run_folder
from tests.stateauditor.cli.conftest import Run
from tests.support.loopback import Loopback, loopback


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(pipeline) as running:
        yield running


@pytest.fixture
def strict(tmp_path: Path, server: Loopback) -> Path:
    """A finished run of four scenarios, judged by ``loop``."""
    backend = write_backend(tmp_path / "loop.yaml", server)
    data = write_scenarios(tmp_path / "data.json", 4)
    settings = {"data": {"path": str(data)}, "backend": str(backend), "judges": [str(backend)]}
    run_spec(load_spec(write_config(tmp_path / "c.yaml", **settings)), tmp_path / "strict")
    server.requests.clear()
    return tmp_path / "strict"


# --- rejudge --------------------------------------------------------------------------


def test_another_judge_scores_and_nothing_is_generated(
    run: Run, tmp_path: Path, server: Loopback, strict: Path
) -> None:
    before = {line["uid"]: line for line in map(json.loads, (strict / "items.jsonl").open())}
    second, third = (write_backend(tmp_path / f"{n}.yaml", server) for n in ("second", "third"))
    done = run("rejudge", strict, "--judge", second, "--judge", third)
    assert done.status == 0
    assert roles(server.requests) == {"StaleJudgment": 8}
    for line in map(json.loads, (strict / "items.jsonl").open()):
        old = before[line["uid"]]
        assert line["probes"] == old["probes"]
        assert line["judgments"].keys() == {"loop", "second", "third"}
        assert line["judgments"]["loop"] == old["judgments"]["loop"]
        assert len(line["calls"]) == len(old["calls"]) + 2
    summary = json.loads((strict / "summary.json").read_text())
    judges = {scores["judge"] for scores in summary["scores"]}
    assert judges == {"loop", "second", "third", "majority"}
    assert summary["agreement"]["benchmark"]["judges"] == ["loop", "second", "third"]
    assert "majority" in done.out
    again = run("rejudge", strict, "--judge", second)
    assert again.status == 0
    assert "every scenario was scored already" in again.err
    assert roles(server.requests) == {"StaleJudgment": 8}


def test_a_copy_leaves_the_run_as_it_is(
    run: Run, tmp_path: Path, server: Loopback, strict: Path
) -> None:
    before = (strict / "items.jsonl").read_bytes()
    second = write_backend(tmp_path / "second.yaml", server)
    done = run("rejudge", strict, "--judge", second, "--out", tmp_path / "copy", "--json")
    assert done.status == 0
    assert (done.json()["judged"], done.json()["failed"]) == (4, 0)
    assert (strict / "items.jsonl").read_bytes() == before
    assert (tmp_path / "copy" / "report.html").exists()


def test_a_rejudging_that_was_broken_off_pays_for_nothing_twice(
    run: Run, tmp_path: Path, server: Loopback, strict: Path
) -> None:
    second = write_backend(tmp_path / "second.yaml", server)
    before = (strict / "items.jsonl").read_bytes()
    assert run("rejudge", strict, "--judge", second).status == 0
    after = (strict / "items.jsonl").read_bytes()
    (strict / "items.jsonl").write_bytes(before)  # as if killed before the records were written
    assert run("rejudge", strict, "--judge", second).status == 0
    assert (strict / "items.jsonl").read_bytes() == after
    assert roles(server.requests) == {"StaleJudgment": 4}


def test_other_data_cannot_be_rejudged(
    run: Run, tmp_path: Path, server: Loopback, strict: Path
) -> None:
    write_scenarios(tmp_path / "data.json", 5)
    done = run("rejudge", strict, "--judge", write_backend(tmp_path / "second.yaml", server))
    assert done.status == 2
    assert "these are not the data of" in done.err


def test_rules_cannot_judge(run: Run, strict: Path) -> None:
    done = run("rejudge", strict, "--judge", "offline")
    assert done.status == 2
    assert "lexical rules cannot judge" in done.err


# --- compare and table -------------------------------------------------------------------


def test_two_runs_are_compared(run: Run, tmp_path: Path) -> None:
    first = run_folder(tmp_path / "first", 6, judges={"loop": True}).path
    second = run_folder(tmp_path / "second", 6, judges={"loop": False}, arm="predecessor").path
    done = run("compare", first, second)
    assert done.status == 0
    assert "first (A) against second (B)" in done.out
    found = run("compare", first, second, "--rubric", "grounded", "--json").json()
    assert found["accuracies"]["rubric"] == "grounded"
    assert found["accuracies"]["comparison"]["scenarios"]["wins"] == 6


def test_a_judge_of_one_run_only_cannot_compare(run: Run, tmp_path: Path) -> None:
    first = run_folder(tmp_path / "first", 2, judges={"loop": True}).path
    second = run_folder(tmp_path / "second", 2, judges={"other": True}).path
    done = run("compare", first, second)
    assert done.status == 2
    assert "stateauditor rejudge" in done.err


def test_the_table_has_runs_and_published_rows(run: Run, tmp_path: Path) -> None:
    first = run_folder(tmp_path / "first", 4, judges={"loop": True}).path
    second = run_folder(tmp_path / "second", 4, judges={"loop": False}).path
    done = run("table", first, second)
    assert done.status == 0
    assert "first" in done.out
    assert "second" in done.out
    assert "CUPMem" in done.out
    assert [r["name"] for r in run("table", first, "--json").json()["runs"]] == ["first"]


@pytest.mark.parametrize("command", [("table",), ("compare", "elsewhere"), ("export", "official")])
def test_what_is_no_run_is_said(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run(*command, tmp_path)
    assert done.status == 2
    assert "is no run folder" in done.err


# --- export and import --------------------------------------------------------------------


def test_answers_go_out_and_results_come_back(run: Run, tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "first", 4, judges={"loop": True}, failed=1)
    done = run("export", "official", folder.path)
    assert done.status == 0
    assert "left out: f001" in done.err
    answers = json.loads((folder.path / "official_answers.json").read_text("utf-8"))
    assert len(answers["data"]) == 4
    results = tmp_path / "results.json"
    verdicts = {"dim1": True, "dim2": False, "dim3": 1}
    scored = [{"uid": entry["uid"], **verdicts} for entry in answers["data"]]
    results.write_text(json.dumps({"data": scored}), "utf-8")
    done = run("import", "official", results, "--run", folder.path)
    assert done.status == 0
    assert "official" in done.out
    assert "4 scenarios judged by official" in done.out


def test_results_in_another_layout_say_what_was_expected(run: Run, tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "first", 1)
    (tmp_path / "results.json").write_text('{"accuracy": 0.5}', "utf-8")
    done = run("import", "official", tmp_path / "results.json", "--run", folder.path)
    assert done.status == 2
    assert "expected one entry a scenario" in done.err


# --- ui -----------------------------------------------------------------------------------


def test_the_pages_show_the_database_beside_the_runs_on_loopback_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(InputError, match=r"holds no mlflow.db"):
        command_line(tmp_path, 5000)
    (tmp_path / "mlflow.db").touch()
    command = command_line(tmp_path, 8080)
    assert command[:4] == [sys.executable, "-m", "mlflow", "ui"]
    assert f"sqlite:///{tmp_path / 'mlflow.db'}" in command
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert command[command.index("--port") + 1] == "8080"


def test_runs_on_a_server_are_looked_at_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://tracking.example:5000")
    with pytest.raises(ConfigError, match="open that address"):
        command_line(tmp_path, 5000)


def test_without_the_package_the_message_says_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stateauditor.cli.ui.find_spec", lambda name: None)
    done = run("ui", "--runs", tmp_path)
    assert done.status == 2
    assert "pip install 'stateauditor[experiments]'" in done.err
