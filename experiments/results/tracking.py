"""A run in MLflow: an experiment a data set, a run an arm.

Nothing here may fail an evaluation: :func:`track` returns what went wrong as text.
Every call goes through a client that is bound to one address, so no process-wide
setting of MLflow is touched. Traces are not sent: they would hold prompts, and with
them memory text. The records that go along as an artifact stay on this machine unless
``MLFLOW_TRACKING_URI`` names a server.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from stateauditor.experiments.results.summary import Summary
from stateauditor.experiments.runs.folder import Manifest, RunFolder
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.metrics import CELLS, Interval, Rate

DATABASE: Final = "mlflow.db"
ARTIFACTS: Final = "mlflow-artifacts"
ARTIFACT_NAMES: Final = ("items.jsonl", "table.md", "summary.json", "report.html", "plots")
RUN_TAG: Final = "stateauditor.run_id"

# A server that is down must cost seconds, not MLflow's minutes of retries; and nobody
# asked for its usage statistics or for the price list that it would fetch.
ENVIRONMENT: Final = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
_NOISY: Final = ("alembic", "mlflow")
_LONGEST_VALUE: Final = 500
_PARAMS_AT_ONCE: Final = 100


def tracking_uri(runs: Path) -> str:
    """``MLFLOW_TRACKING_URI``, else the database beside the runs in ``runs``."""
    named = os.environ.get("MLFLOW_TRACKING_URI", "").strip()
    return named or f"sqlite:///{runs.resolve() / DATABASE}"


def track(folder: RunFolder, summary: Summary) -> str | None:
    """Put a run into MLflow, or its entry up to date; None, or why that was not possible."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import mlflow  # noqa: F401  # sets up its logging, which is silenced next

        with quiet():
            _track(folder, summary)
    except ImportError:
        return "the package mlflow is missing: pip install 'stateauditor[experiments]'"
    except Exception as error:  # noqa: BLE001  # whatever breaks here, the evaluation stands
        first_line = (str(error).splitlines() or [""])[0][:300]
        return f"{type(error).__name__}: {first_line}"
    return None


def _track(folder: RunFolder, summary: Summary) -> None:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag

    spec, manifest, runs = folder.spec(), folder.manifest(), folder.path.resolve().parent
    client = MlflowClient(tracking_uri=tracking_uri(runs))
    experiment = experiment_of(client, summary.data, runs)
    run, fresh = _run(client, experiment, spec, manifest)
    now = int(time.time() * 1000)
    client.log_batch(
        run,
        metrics=[Metric(name, value, now, 0) for name, value in metrics_of(summary).items()],
        tags=[RunTag(name, value) for name, value in tags_of(spec, manifest, summary).items()],
    )
    if fresh:
        params = [Param(name, value) for name, value in params_of(spec, manifest).items()]
        for start in range(0, len(params), _PARAMS_AT_ONCE):
            client.log_batch(run, params=params[start : start + _PARAMS_AT_ONCE])
    for name in ARTIFACT_NAMES:
        path = folder.path / name
        if path.is_dir():
            client.log_artifacts(run, str(path), artifact_path=name)
        elif path.exists():
            client.log_artifact(run, str(path))
    client.set_terminated(run)


def experiment_of(client: Any, name: str, runs: Path) -> str:
    """The id of the experiment ``name``, made where it is not there yet."""
    found = client.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    remote = bool(os.environ.get("MLFLOW_TRACKING_URI", "").strip())
    # Without a place of their own artifacts of a database go to the working directory.
    place = None if remote else (runs / ARTIFACTS).as_uri()
    return str(client.create_experiment(name, artifact_location=place))


def _run(client: Any, experiment: str, spec: RunSpec, manifest: Manifest) -> tuple[str, bool]:
    """The run's id there, and whether it is new; a continued run keeps its entry."""
    found = client.search_runs([experiment], f"tags.`{RUN_TAG}` = '{manifest.run_id}'")
    if found:
        return str(found[0].info.run_id), not found[0].data.params
    made = client.create_run(experiment, run_name=spec.name, tags={RUN_TAG: manifest.run_id})
    return str(made.info.run_id), True


# --- what is logged -------------------------------------------------------------------


def params_of(spec: RunSpec, manifest: Manifest) -> dict[str, str]:
    """The resolved config, flattened, and where the numbers come from."""
    flat = dict(flattened(spec.model_dump(mode="json"), ""))
    origin = {
        "git": manifest.git,
        "data.sha256": manifest.data_sha256,
        "data.frozen_sha256": manifest.frozen_sha256,
        "data.scenarios": manifest.scenarios,
        **{f"version.{name}": version for name, version in manifest.versions.items()},
    }
    everything = flat | {name: str(value) for name, value in origin.items()}
    return {name: value[:_LONGEST_VALUE] for name, value in everything.items()}


def flattened(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """A nested config as dotted keys with their values as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flattened(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def tags_of(spec: RunSpec, manifest: Manifest, summary: Summary) -> dict[str, str]:
    """What a run is found by; the caveats are ``label.1``, ``label.2``, ..."""
    labels = {f"label.{n}": label for n, label in enumerate(summary.labels, start=1)}
    return {
        "arm": spec.arm.label,
        "backend": manifest.backend,
        "data": manifest.data_name,
        "judges": ", ".join(dict.fromkeys(scores.judge for scores in summary.scores)) or "none",
        **labels,
    }


def metrics_of(summary: Summary) -> dict[str, float]:
    """Every figure that exists, none as zero; intervals stand in summary.json."""
    found: dict[str, float | None] = {
        "scenarios": summary.scenarios,
        "controls": summary.controls,
        "errors": summary.errors,
        **_rate("failed_open", summary.failed_open),
    }
    for scores in summary.scores:
        place = f"{scores.judge}/{scores.rubric.value}"
        found |= _interval(f"{place}/macro", scores.intervals.macro)
        for (kind, dimension), interval in zip(CELLS, scores.intervals.cells, strict=True):
            found |= _interval(f"{place}/{kind}_{dimension}", interval)
    for group, rates in (
        ("directives", summary.directives),
        ("directives_on_controls", summary.directives_on_controls),
        ("key_judge", summary.key),
        ("replies", summary.replies),
    ):
        if rates is not None:
            for name in type(rates).model_fields:
                value = getattr(rates, name)
                if isinstance(value, Rate):
                    found |= _rate(f"{group}/{name}", value)
    total, latency = summary.cost.total, summary.cost.latency
    found |= {
        "cost/calls": total.calls,
        "cost/input_tokens": total.input_tokens,
        "cost/output_tokens": total.output_tokens,
        "cost/dollars": total.cost,
        "cost/dollars_paid": summary.cost.usage.paid.cost,
        "cost/failed_calls": summary.cost.failed_calls,
        "cost/mean_calls": summary.cost.mean_calls,
        "cost/mean_tokens": summary.cost.mean_tokens,
        "latency/mean": latency.mean,
        "latency/p50": latency.p50,
        "latency/p95": latency.p95,
    }
    return {name: float(value) for name, value in found.items() if value is not None}


def _interval(name: str, interval: Interval) -> Mapping[str, float | None]:
    return {name: interval.estimate}


def _rate(name: str, rate: Rate) -> Mapping[str, float | None]:
    return {name: rate.value}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep database migrations and hints off the terminal."""
    loggers = [logging.getLogger(name) for name in _NOISY]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
