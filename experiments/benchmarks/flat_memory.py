"""Whether a long run's memory stays flat.

    python -m stateauditor.experiments.benchmarks.flat_memory [--scenarios 400]

Synthetic scenarios run with a model that answers at once, in this process. Prints the
resident memory at an eighth, a quarter, half and the whole of them, and again after the
summary. ``--sessions`` makes each history longer.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from stateauditor.experiments.benchmarks.synthetic import answer, scenario
from stateauditor.experiments.results.summary import summary_of
from stateauditor.experiments.runs.loop import Progress
from stateauditor.experiments.runs.runner import run
from stateauditor.experiments.runs.spec import load_spec
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.scripted import ScriptedRequest, scripted_backend

_SIGNATURES = {
    "response_generation": "ResponseGeneration",
    "premise_extraction": "PremiseExtraction",
    "presupposition_extraction": "PresuppositionExtraction",
    "premise_adjudication": "PremiseAdjudication",
    "timeline_construction": "TimelineConstruction",
    "draft_consistency": "DraftConsistency",
    "transition_proposal": "TransitionProposal",
    "response_adaptation": "ResponseAdaptation",
}


def resident() -> float:
    """This process's resident memory now, in MiB (Linux)."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmRSS")


def record(number: int, sessions: int) -> dict[str, Any]:
    """A scenario with some days of small talk between its first two sessions."""
    made = scenario(number)
    talk = [
        [{"role": "user", "content": f"Day {day}: the bus was late, lunch was soup number {day}."}]
        for day in range(max(0, sessions - 3))
    ]
    history, times = made["haystack_session"], made["timestamps"]
    stamps = [f"2025-01-{2 + day // 24:02d} {day % 24:02d}:00" for day in range(len(talk))]
    return {
        **made,
        "haystack_session": [history[0], *talk, *history[1:]],
        "timestamps": [times[0], *stamps, *times[1:]],
        "relevant_session_index": [0, len(talk) + 2],
    }


def _reply(asked: ScriptedRequest) -> dict[str, Any]:
    return answer(_SIGNATURES[asked.role], asked.prompt)


def _forgetful() -> Backend:
    """A scripted backend that keeps no list of what it was asked."""
    backend = scripted_backend(lambda asked: _reply(asked))
    engine = next(iter(backend._lms.values())).engine
    engine.requests = _Nothing()
    return backend


class _Nothing(list[Any]):
    """A list that stays empty."""

    def append(self, value: Any) -> None:
        """Forget it."""


def measure(scenarios: int, sessions: int, concurrency: int) -> list[tuple[str, float]]:
    """Resident memory over one run."""
    marks = [scenarios // 8, scenarios // 4, scenarios // 2, scenarios]
    found: list[tuple[str, float]] = []

    def watch(progress: Progress) -> None:
        if progress.done in marks and len(found) < len(marks):
            found.append((f"{progress.done} scenarios", resident()))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "data.json").open("w", encoding="utf-8") as file:
            for number in range(1, scenarios + 1):
                file.write("[" if number == 1 else ",")
                json.dump(record(number, sessions), file)
            file.write("]")
        settings = f"name: flat\ndata:\n  path: {folder / 'data.json'}\narm: strict_vta\n"
        (folder / "c.yaml").write_text(f"{settings}concurrency: {concurrency}\n", "utf-8")
        with mock.patch.object(Backend, "load", return_value=_forgetful()):
            finished = run(load_spec(folder / "c.yaml"), folder / "run", watch=watch)
        if finished.progress.failed or not finished.complete:
            raise RuntimeError(f"the run went wrong: {finished.progress}")
        summary_of(finished.folder)
        found.append(("after the summary", resident()))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--scenarios", type=int, default=400)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--concurrency", type=int, default=8)
    options = parser.parse_args()
    table = Table(title=f"{options.scenarios} scenarios of {options.sessions} sessions")
    table.add_column("when")
    table.add_column("resident MiB", justify="right")
    for when, size in measure(options.scenarios, options.sessions, options.concurrency):
        table.add_row(when, f"{size:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
