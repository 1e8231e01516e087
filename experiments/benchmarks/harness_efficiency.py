"""How near the runner comes to the fastest that its calls allow.

    python -m stateauditor.experiments.benchmarks.harness_efficiency [--scenarios 100]

A server in a process of its own answers every call after 200 ms. The same scenarios
run through the runner and through ``dspy.Evaluate`` on the same program, both with 32
calls in flight at most. On a busy machine the ratio says little; the CPU time a call
takes says what the harness itself needs. The model has a hosted one's name; for a name
that is not in its price list DSPy searches all of that list at every call (``--model
served`` shows it). Ideal is the longer of two bounds: all calls at that
concurrency, and the critical path of one scenario. ``--profile`` says where the
runner's own time goes.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dspy
import yaml
from anyio import CapacityLimiter
from rich.console import Console
from rich.table import Table

from stateauditor.data.scenario import BenchmarkItem
from stateauditor.experiments.benchmarks.synthetic import answer, scenario
from stateauditor.experiments.runs.arms import ArmRunner
from stateauditor.experiments.runs.judges import load_judges
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.experiments.runs.runner import run
from stateauditor.experiments.runs.scenarios import open_source
from stateauditor.experiments.runs.spec import RunSpec, load_spec
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.backends.store import CacheMode

DELAY = 0.2
CONCURRENCY = 32
DEPTH = 5  # draft, premises, adjudication, adaptation, judge
GOAL = 1.3

# --- the server -------------------------------------------------------------------


async def _serve(delay: float) -> None:
    server = await asyncio.start_server(lambda r, w: _connection(r, w, delay), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float
) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode("latin-1").lower().split("\r\n")
            length = next(int(x.partition(":")[2]) for x in lines if x.startswith("content-length"))
            body = json.loads(await reader.readexactly(length))
            await asyncio.sleep(delay)
            content = json.dumps(_completion(body)).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                b"content-length: %d\r\n\r\n%b" % (len(content), content)
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    name = body["response_format"]["json_schema"]["name"]
    text = json.dumps(answer(name, body["messages"][-1]["content"]))
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


@contextmanager
def server(delay: float) -> Iterator[str]:
    """The server's address while the block runs."""
    command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--serve", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the server has no output")
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.terminate()


# --- what is measured ---------------------------------------------------------------


class WholeScenario(dspy.Module):  # dspy has no type information
    """Drafts, audits and judgment of one scenario, as ``dspy.Evaluate`` calls them."""

    def __init__(self, arm: ArmRunner) -> None:
        super().__init__()
        self.arm = arm

    def forward(self, item: BenchmarkItem) -> dspy.Prediction:
        """The scenario's record."""

        async def work() -> ItemRecord:
            return await self.arm.run(item, control=False)

        return dspy.Prediction(record=run_sync(work))


def by_evaluate(spec: RunSpec, folder: Path) -> tuple[float, int]:
    """Seconds and calls of ``dspy.Evaluate`` over the same scenarios."""
    source = open_source(spec.data)
    limiter = CapacityLimiter(spec.concurrency)
    backend = Backend.load(spec.backend).bound(folder, CacheMode.READ_WRITE, "evaluate", limiter)
    judges = [
        judge.bound(folder, CacheMode.READ_WRITE, "evaluate", limiter)
        for judge in load_judges(spec.judges)
    ]
    program = WholeScenario(ArmRunner(spec=spec, backend=backend, judges=judges))
    examples = [dspy.Example(item=item).with_inputs("item") for item in source]
    calls = 0

    def metric(example: Any, prediction: Any, trace: Any = None) -> float:
        nonlocal calls
        calls += sum(1 for _ in prediction.record.all_calls())
        return float(prediction.record.error is None)

    evaluate = dspy.Evaluate(
        devset=examples, num_threads=spec.concurrency, max_errors=1, display_progress=False
    )
    started = time.perf_counter()
    evaluate(program, metric=metric)
    return time.perf_counter() - started, calls


def by_runner(spec: RunSpec, folder: Path) -> tuple[float, int]:
    """Seconds and calls of the runner, from the spec to the last record."""
    started = time.perf_counter()
    finished = run(spec, folder)
    seconds = time.perf_counter() - started
    if finished.progress.failed or not finished.complete:
        raise RuntimeError(f"the run went wrong: {finished.progress}")
    return seconds, finished.progress.spent.calls


def ideal(calls: int, delay: float) -> float:
    """The fastest that the calls allow."""
    return max(calls * delay / CONCURRENCY, DEPTH * delay)


def prepare(folder: Path, address: str, scenarios: int, model: str) -> RunSpec:
    """A spec over fresh scenarios and the server at ``address``."""
    data, backend, config = (folder / n for n in ("data.json", "server.yaml", "config.yaml"))
    data.write_text(json.dumps([scenario(n) for n in range(1, scenarios + 1)]), "utf-8")
    lm = {"model": f"openai/{model}", "api_base": address, "temperature": 0, "retries": 0}
    backend.write_text(yaml.safe_dump({"name": "server", "lms": {"lm": lm}}), "utf-8")
    settings = {
        "name": "efficiency",
        "data": {"path": str(data)},
        "arm": "strict_vta",
        "backend": str(backend),
        "judges": [str(backend)],
        "concurrency": CONCURRENCY,
        "tracking": False,
    }
    config.write_text(yaml.safe_dump(settings), "utf-8")
    return load_spec(config)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--scenarios", type=int, default=100)
    parser.add_argument("--delay", type=float, default=DELAY, help="seconds a call takes")
    parser.add_argument("--model", default="gpt-4o-mini", help="the served model's name")
    parser.add_argument("--profile", action="store_true", help="profile the runner instead")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(_serve(options.serve))
        return
    with tempfile.TemporaryDirectory() as name, server(options.delay) as address:
        folder = Path(name)
        spec = prepare(folder, address, options.scenarios, options.model)
        by_runner(spec.model_copy(update={"data": spec.data.model_copy(update={"limit": 2})}),
                  folder / "warm-up")  # fmt: skip
        if options.profile:
            profiler = cProfile.Profile()
            profiler.runcall(by_runner, spec, folder / "profiled")
            pstats.Stats(profiler).sort_stats("tottime").print_stats(45)
            return
        measured = {}
        for what, work in (("runner", by_runner), ("dspy.Evaluate", by_evaluate)):
            busy = time.process_time()
            seconds, calls = work(spec, folder / what)
            measured[what] = (seconds, calls, time.process_time() - busy)
    table = Table(title=f"{options.scenarios} scenarios, {1e3 * options.delay:.0f} ms a call")
    for column in ("what", "calls", "seconds", "ideal", "ratio", "CPU ms a call"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, (seconds, calls, busy) in measured.items():
        best = ideal(calls, options.delay)
        figures = (f"{seconds:.2f}", f"{best:.2f}", f"{seconds / best:.2f}")
        table.add_row(what, str(calls), *figures, f"{1e3 * busy / calls:.2f}")
    console = Console()
    console.print(table)
    console.print(f"goal for the runner: at most {GOAL} times the ideal")


if __name__ == "__main__":
    main()
