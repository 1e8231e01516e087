"""Tracking in MLflow: everything is there, and nothing that breaks there breaks a run."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.results.summary import summary_of
from stateauditor.experiments.results.tracking import (
    DATABASE,
    RUN_TAG,
    metrics_of,
    params_of,
    track,
)
from stateauditor.experiments.runs.folder import RunFolder
from tests.experiments.records import run_folder

mlflow = pytest.importorskip("mlflow")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MLFLOW_") or name == "DO_NOT_TRACK":
            monkeypatch.delenv(name)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    found = run_folder(tmp_path / "runs" / "first", 4, judges={"loop": True})
    found.write_text("table.md", "a table\n")
    found.write_text("report.html", "<p>a report</p>\n")
    (found.path / "plots").mkdir()
    (found.path / "plots" / "cells.svg").write_text("<svg/>", "utf-8")
    return found


def tracked(runs: Path) -> list[Any]:
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{runs / DATABASE}")
    experiment = client.get_experiment_by_name("data.json")
    return list(client.search_runs([experiment.experiment_id]))


def test_a_run_is_tracked_beside_its_folder(
    folder: RunFolder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    assert track(folder, summary_of(folder)) is None
    assert capfd.readouterr().err == "", "migrations are nobody's news"
    runs = folder.path.parent
    (run,) = tracked(runs)
    assert run.info.run_name == "first"
    assert run.info.status == "FINISHED"
    assert run.data.tags["arm"] == "strict_vta"
    assert run.data.tags[RUN_TAG] == folder.manifest().run_id
    assert run.data.params["seed"] == "42"
    assert run.data.params["audit.retrieval.budget_tokens"] == "5700"
    assert run.data.params["data.sha256"] == "0" * 64
    assert run.data.params["version.dspy"].startswith("3.")
    assert run.data.metrics["loop/benchmark/macro"] == 1.0
    assert run.data.metrics["cost/dollars"] == 3.0
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{runs / DATABASE}")
    artifacts = {a.path for a in client.list_artifacts(run.info.run_id)}
    assert artifacts == {"items.jsonl", "table.md", "report.html", "plots"}
    assert not (tmp_path / "mlruns").exists(), "artifacts stay beside the runs"
    assert mlflow.get_tracking_uri() == before, "the process keeps its own settings"
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_tracking_again_brings_the_entry_up_to_date(folder: RunFolder) -> None:
    for _ in range(2):
        assert track(folder, summary_of(folder)) is None
    other = run_folder(folder.path.parent / "second", 2, judges={"loop": False})
    assert track(other, summary_of(other)) is None
    assert sorted(run.info.run_name for run in tracked(folder.path.parent)) == ["first", "second"]


def test_a_server_that_is_down_is_a_reason_and_takes_seconds(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    started = time.monotonic()
    reason = track(folder, summary_of(folder))
    assert reason is not None
    assert "127.0.0.1" in reason
    assert "\n" not in reason
    assert time.monotonic() - started < 30


def test_a_broken_database_is_a_reason(folder: RunFolder) -> None:
    (folder.path.parent / DATABASE).write_text("no database", "utf-8")
    assert "file is not a database" in str(track(folder, summary_of(folder)))


def test_a_missing_package_is_a_reason_that_says_what_to_install(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    assert "pip install 'stateauditor[experiments]'" in str(track(folder, summary_of(folder)))


def test_figures_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", 1)
    found = metrics_of(summary_of(folder))
    assert "loop/benchmark/macro" not in found
    assert found["latency/p50"] == 1.5
    assert found["directives/rewritten"] == 1.0
    assert not any(name.endswith(("/low", "/high")) for name in found), "bounds are no metrics"


def test_parameters_are_the_whole_config_flattened(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", 1, judges=None)
    params = params_of(folder.spec(), folder.manifest())
    assert params["data.path"] == "data.json"
    assert params["arm"] == "strict_vta"
    assert all(isinstance(value, str) for value in params.values())
