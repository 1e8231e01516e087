"""A compile in MLflow: one parent run with the optimizer's settings, a child a candidate.

DSPy's own autologging leaves the settings of optimizers out. As for evaluations,
nothing here may fail a compile, and no trace is sent: :func:`track_compile` returns
what went wrong as text.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, Final

from stateauditor.experiments.compile.board import Board, Candidate
from stateauditor.experiments.compile.folder import CompileFolder, CompileResult, Measured, scrubbed
from stateauditor.experiments.results import tracking
from stateauditor.program.roles.compiled import INDEX

ARTIFACTS: Final = ("config.yaml", "data.json", "result.json", "candidates.json", INDEX, "roles")
_LONGEST: Final = 500


def track_compile(folder: CompileFolder, result: CompileResult, board: Board) -> str | None:
    """Log a compile; None, or why that was not possible."""
    try:
        with tracking.quiet():
            _track(folder, result, board)
    except ImportError:
        return "the package mlflow is missing: pip install 'stateauditor[experiments]'"
    except Exception as error:  # noqa: BLE001  # whatever breaks here, the compile stands
        first_line = (str(error).splitlines() or [""])[0][:300]
        return scrubbed(f"{type(error).__name__}: {first_line}")
    return None


def _track(folder: CompileFolder, result: CompileResult, board: Board) -> None:
    for name, value in tracking.ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    runs = folder.path.resolve().parent
    client = MlflowClient(tracking_uri=tracking.tracking_uri(runs))
    experiment = tracking.experiment_of(client, f"compile {result.name}", runs)
    now = int(time.time() * 1000)

    def run(name: str, tags: Mapping[str, str], values: Mapping[str, float | None]) -> str:
        made = client.create_run(experiment, run_name=name, tags=dict(tags))
        found = [Metric(key, value, now, 0) for key, value in values.items() if value is not None]
        client.log_batch(made.info.run_id, metrics=found)
        return str(made.info.run_id)

    parent = run(result.name, _tags(result), metrics_of(result))
    params = [Param(name, value) for name, value in params_of(folder).items()]
    client.log_batch(parent, params=params[:100])
    for name in ARTIFACTS:
        path = folder.path / name
        if path.is_dir():
            client.log_artifacts(parent, str(path), artifact_path=name)
        elif path.exists():
            client.log_artifact(parent, str(path))
    for candidate in board.candidates:
        tags = {"mlflow.parentRunId": parent, "baseline": str(candidate is board.baseline)}
        child = run(f"candidate {candidate.number}", tags, _scores(candidate))
        client.set_terminated(child)
    client.set_terminated(parent, "FINISHED" if result.stopped is None else "KILLED")


def params_of(folder: CompileFolder) -> dict[str, str]:
    """The resolved config, flattened: the optimizer's settings above all."""
    flat = dict(tracking.flattened(folder.spec().model_dump(mode="json"), ""))
    return {name: scrubbed(value)[:_LONGEST] for name, value in flat.items()}


def metrics_of(result: CompileResult) -> dict[str, float | None]:
    """Scores with their intervals, counts and cost; what does not exist is left out."""
    found: dict[str, float | None] = {
        "candidates": result.candidates,
        "audits": result.audits,
        "failed_audits": result.failed_audits,
        "cost/dollars_paid": result.paid_cost,
        "cost/calls": result.total.calls,
    }
    measured: tuple[tuple[str, Measured | None], ...] = (
        ("before", result.before),
        ("after", result.after),
    )
    for name, value in measured:
        if value is not None:
            score = value.score
            found |= {name: score.estimate, f"{name}/low": score.low, f"{name}/high": score.high}
    return found


def _scores(candidate: Candidate) -> dict[str, float | None]:
    return {"train": candidate.mean("train"), "validation": candidate.mean("validation")}


def _tags(result: CompileResult) -> dict[str, Any]:
    return {
        "optimizer": result.optimizer,
        "backend": result.backend,
        "roles": ", ".join(result.roles),
        "label": result.label,
        "stopped": result.stopped or "no",
    }
