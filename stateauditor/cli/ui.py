"""``stateauditor ui``: the tracked runs in MLflow's own pages, on this machine only."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import show, stderr
from stateauditor.signatures.errors import ConfigError, InputError

EXAMPLES = options.examples("stateauditor ui", "stateauditor ui --runs /data/runs --port 8080")
LOOPBACK = "127.0.0.1"


def ui(
    runs: Annotated[
        Path, typer.Option("--runs", metavar="DIR", help="The folder that holds the runs.")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=1, max=65535, help="The port to listen on.")
    ] = 5000,
) -> None:
    """Open the tracked runs in MLflow, reachable from this machine only.

    Shows the database beside the runs. Where MLFLOW_TRACKING_URI names a server, runs
    are tracked there: open that address instead. Ctrl-C ends it.
    """
    command = command_line(runs, port)
    from stateauditor.experiments.results.tracking import ENVIRONMENT

    show(stderr(), f"http://{LOOPBACK}:{port} (Ctrl-C ends it)")
    environment = {**os.environ, **ENVIRONMENT, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    if os.name == "posix":
        os.execve(command[0], command, environment)  # every signal then reaches the server itself
    raise typer.Exit(subprocess.run(command, env=environment, check=False).returncode)


def command_line(runs: Path, port: int) -> list[str]:
    """MLflow's own command for these runs; checks that there is something to show."""
    if find_spec("mlflow") is None:
        raise ConfigError("the package mlflow is missing: pip install 'stateauditor[experiments]'")
    from stateauditor.experiments.results.tracking import ARTIFACTS, DATABASE, tracking_uri

    store = tracking_uri(runs)
    if store.startswith(("http://", "https://")):
        raise ConfigError(f"runs are tracked at {store} (MLFLOW_TRACKING_URI): open that address")
    if "MLFLOW_TRACKING_URI" not in os.environ and not (runs / DATABASE).exists():
        raise InputError(
            f"{runs}: holds no {DATABASE}, so no run was tracked there; "
            "evaluate with tracking: true, or name another folder with --runs"
        )
    return [
        *(sys.executable, "-m", "mlflow", "ui"),
        *("--backend-store-uri", store),
        *("--default-artifact-root", (runs.resolve() / ARTIFACTS).as_uri()),
        *("--host", LOOPBACK, "--port", str(port), "--workers", "1"),
    ]
