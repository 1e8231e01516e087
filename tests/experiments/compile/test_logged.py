"""A compile in MLflow: a parent run, its candidates as children, and never a failure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.compile import logged
from stateauditor.experiments.compile.logged import track_compile
from tests.experiments.compile.conftest import Made

mlflow = pytest.importorskip("mlflow")


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from mlflow import MlflowClient

    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.chdir(tmp_path)
    return MlflowClient(tracking_uri=uri)


def test_one_parent_with_settings_artifacts_and_a_child_a_candidate(
    bootstrapped: Made, client: Any
) -> None:
    done = bootstrapped.done
    assert track_compile(done.folder, done.result, done.board) is None
    (experiment,) = [e for e in client.search_experiments() if e.name.startswith("compile ")]
    runs = client.search_runs([experiment.experiment_id])
    (parent,) = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    children = [run for run in runs if run is not parent]
    assert parent.data.params["optimizer.name"] == "bootstrap_few_shot"
    assert parent.data.params["optimizer.metric_threshold"] == "0.8"
    assert parent.data.metrics["before"] == 0.0
    assert parent.data.metrics["after"] == 1.0
    assert {run.data.tags["mlflow.parentRunId"] for run in children} == {parent.info.run_id}
    assert sorted(run.data.metrics["validation"] for run in children) == [0.0, 1.0]
    names = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert {"compiled.json", "config.yaml", "result.json", "roles"} <= names


def test_a_server_that_is_down_is_told_and_nothing_more(
    bootstrapped: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    done = bootstrapped.done
    trouble = track_compile(done.folder, done.result, done.board)
    assert trouble is not None


def test_a_missing_package_is_named(bootstrapped: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    done = bootstrapped.done
    trouble = track_compile(done.folder, done.result, done.board)
    assert trouble == "the package mlflow is missing: pip install 'stateauditor[experiments]'"
    assert logged.ARTIFACTS[0] == "config.yaml"
