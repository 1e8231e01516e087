"""Runs one arm over its scenarios: bounded, resumable, capped, interruptible.

Scenarios run concurrently; a record is written as each ends. Ctrl-C lets what is in
flight finish; a cost cap stops before it is passed. Whatever ends a run, its folder
can be continued, and pays for no recorded call twice.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dspy
from anyio import CapacityLimiter

from stateauditor.data.scenario import BenchmarkItem, ByDimension
from stateauditor.experiments.arms import ArmRunner
from stateauditor.experiments.compile.guards import open_guarded
from stateauditor.experiments.folder import Manifest, RunFolder, new_manifest
from stateauditor.experiments.judges import load_judges
from stateauditor.experiments.records import DIMENSIONS, ItemRecord
from stateauditor.experiments.shipped import resolve_backend
from stateauditor.experiments.sources import Source
from stateauditor.experiments.spec import Arm, DraftSource, RunSpec
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.store import CacheMode
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import BaseAudit, Totals, Usage

FAILURES_SHOWN = 3


@dataclass(slots=True)
class Progress:
    """How far a run is; ``stopped`` says why it ended early.

    ``spent`` sums all calls, ``paid`` those that were not replayed from another run;
    ``dearest`` is what the dearest scenario was paid. ``failures`` keeps the first few
    reasons, each with its scenario's uid.
    """

    total: int
    done: int = 0
    failed: int = 0
    in_flight: int = 0
    spent: Totals = field(default_factory=Totals)
    paid: Totals = field(default_factory=Totals)
    dearest: float = 0.0
    stopped: str | None = None
    failures: list[str] = field(default_factory=list)

    def add(self, item: ItemRecord) -> None:
        """Count one finished scenario."""
        usage = Usage.of(item.all_calls())
        self.done += 1
        failure = item.failure
        if failure is not None:
            self.failed += 1
            named = failure if failure.startswith(item.uid) else f"{item.uid}: {failure}"
            self.failures = [*self.failures, named][:FAILURES_SHOWN]
        self.paid = _sum(self.paid, usage.paid)
        self.spent = _sum(self.spent, _sum(usage.paid, usage.cached))
        self.dearest = max(self.dearest, usage.paid.cost or 0.0)


Watcher = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Finished:
    """A run as far as it got."""

    folder: RunFolder
    manifest: Manifest
    progress: Progress

    @property
    def complete(self) -> bool:
        """Whether every scenario has a record."""
        return self.progress.done >= self.progress.total


def run(
    spec: RunSpec,
    out: Path,
    *,
    resume: bool = False,
    retry_failed: bool = False,
    replay: Path | None = None,
    watch: Watcher = lambda progress: None,
) -> Finished:
    """Run a spec into the folder ``out``.

    ``replay`` is the folder of an earlier run whose recorded responses answer every
    call, with no network; a missing one fails that item and names the role.
    ``retry_failed`` drops the records of failed scenarios first. Raises
    :class:`ConfigError` and :class:`InputError` before any work is done.
    """
    if replay is not None:
        RunFolder(replay).manifest()
    spec, source = open_guarded(spec)
    live = replay is None
    backend = Backend.load(resolve_backend(spec.backend), need_keys=live)
    judges = load_judges(spec.judges, need_keys=live)
    folder = RunFolder(out)
    frozen = source.frozen
    manifest = folder.begin(
        spec,
        new_manifest(
            data_name=source.name,
            data_sha256=source.sha256,
            frozen_sha256=None if frozen is None else frozen.sha256,
            scenarios=len(source.uids),
            backend=backend.label,
        ),
        resume=resume,
    )
    if retry_failed and folder.items_path.exists():
        folder.replace_items(item for item in folder.items() if item.failure is None)
    responses = RunFolder(replay).responses if replay is not None else folder.responses
    mode = CacheMode.READ_ONLY if replay is not None else CacheMode.READ_WRITE
    limiter = CapacityLimiter(spec.concurrency)
    owner = manifest.run_id
    arm = ArmRunner(
        spec=spec,
        backend=backend.bound(responses, mode, owner, limiter),
        judges=[judge.bound(responses, mode, owner, limiter) for judge in judges],
        gold=source.gold,
        drafts=_drafts(spec, source),
        bases=None if spec.base_audit_from is None else bases_of(RunFolder(spec.base_audit_from)),
        replay=replay is not None,
    )
    progress = Progress(total=len(source.uids))
    done = set()
    for item in folder.items():
        progress.add(item)
        done.add(item.uid)
    waiting = (item for item in source if item.uid not in done)
    work = _Work(spec, folder, arm, source.controls, waiting, progress, watch)
    try:
        # DSPy would keep the inputs of the last 10,000 calls, and with them whole readouts.
        with dspy.context(trace=None):
            asyncio.run(work.run())
    finally:
        folder.write_json("status.json", _status(progress))
    return Finished(folder, manifest, progress)


class _Work:
    """The workers of one run and what they share."""

    def __init__(
        self,
        spec: RunSpec,
        folder: RunFolder,
        arm: ArmRunner,
        controls: frozenset[str],
        waiting: Iterator[BenchmarkItem],
        progress: Progress,
        watch: Watcher,
    ) -> None:
        self.spec = spec
        self.folder = folder
        self.arm = arm
        self.controls = controls
        self.waiting = waiting
        self.progress = progress
        self.watch = watch

    async def run(self) -> None:
        """Keep as many scenarios in flight as allowed until none is left or a stop."""
        self.watch(self.progress)
        with _on_interrupt(self._stop):
            flight: set[asyncio.Task[None]] = set()
            while True:
                while len(flight) < self.spec.concurrency and self._may_start():
                    item = next(self.waiting, None)
                    if item is None:
                        break
                    self.progress.in_flight += 1
                    flight.add(asyncio.create_task(self._one(item)))
                if not flight:
                    return
                ended, flight = await asyncio.wait(flight, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()

    async def _one(self, item: BenchmarkItem) -> None:
        record = await self.arm.run(item, control=item.uid in self.controls)
        self.progress.in_flight -= 1
        self.folder.append(record)
        self.progress.add(record)
        self.watch(self.progress)

    def _may_start(self) -> bool:
        """Whether another scenario fits under the cap, should it be the dearest so far."""
        progress, cap = self.progress, self.spec.max_cost
        if progress.stopped is not None:
            return False
        if cap is None:
            return True
        if progress.paid.cost is None:
            self._stop("max_cost needs the cost of every call: give the LM a price in its file")
            return False
        if progress.done == 0:
            return progress.in_flight == 0  # the first one shows what a scenario costs
        if progress.paid.cost + (progress.in_flight + 1) * progress.dearest > cap:
            if progress.in_flight == 0:
                self._stop(f"the next scenario could pass max_cost = {cap}")
            return False
        return True

    def _stop(self, why: str) -> None:
        if self.progress.stopped is None:
            self.progress.stopped = why
            self.watch(self.progress)


@contextmanager
def _on_interrupt(stop: Callable[[str], None]) -> Iterator[None]:
    """First Ctrl-C: finish what is in flight. A second one interrupts at once."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, _interrupted, loop, stop)
    except (NotImplementedError, RuntimeError, ValueError):
        yield  # not the main thread, or a platform without signal handlers
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _interrupted(loop: asyncio.AbstractEventLoop, stop: Callable[[str], None]) -> None:
    loop.remove_signal_handler(signal.SIGINT)
    stop("interrupted")


def _status(progress: Progress) -> dict[str, int | str | None]:
    """How far the run got, and why it ended there; None where it is complete."""
    stopped = None
    if progress.done < progress.total:
        stopped = progress.stopped or "broken off"
    return {"done": progress.done, "total": progress.total, "stopped": stopped}


def _drafts(spec: RunSpec, source: Source) -> Mapping[str, ByDimension[str]] | None:
    """Drafts by uid, or None where the generator writes them."""
    if spec.drafts_from is not None:
        return drafts_of(RunFolder(spec.drafts_from))
    if spec.drafts is DraftSource.STALE_DRAFTS:
        if not source.drafts:
            raise ConfigError(f"drafts: {source.name} ships no stale_drafts; use generator")
        return source.drafts
    return None


def drafts_of(folder: RunFolder) -> dict[str, ByDimension[str]]:
    """The drafts of an earlier run; scenarios without all three are left out."""
    folder.manifest()
    found = {}
    for item in folder.items():
        drafts = [item.probes[d].draft for d in DIMENSIONS if d in item.probes]
        if len(drafts) == len(DIMENSIONS) and None not in drafts:
            found[item.uid] = ByDimension(*(str(draft) for draft in drafts))
    return found


def bases_of(folder: RunFolder) -> dict[str, dict[str, BaseAudit]]:
    """The base audits of an earlier ``predecessor`` run, by uid and dimension."""
    if folder.spec().arm is not Arm.PREDECESSOR:
        raise ConfigError(f"base_audit_from: {folder.path} is no run of the arm predecessor")
    return {
        item.uid: {
            dimension: BaseAudit(premises=probe.result.premises, timeline=probe.result.timeline)
            for dimension, probe in item.probes.items()
            if probe.result is not None
        }
        for item in folder.items()
    }


def _sum(one: Totals, other: Totals) -> Totals:
    costs = (one.cost, other.cost)
    return Totals(
        calls=one.calls + other.calls,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
        seconds=one.seconds + other.seconds,
    )
