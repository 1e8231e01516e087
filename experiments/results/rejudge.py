"""Stored replies, judged again: nothing is generated, other judgments stay as they are.

The judge's responses are recorded in the run's folder as they come, so that a
rejudging that is broken off goes on where it was and pays for nothing twice; the
records are written anew at the end, all or nothing.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dspy
from anyio import CapacityLimiter

from stateauditor.data.scenario import BenchmarkItem
from stateauditor.experiments.results.comparability import refuse_changed_data
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.judges import Judge, load_judges
from stateauditor.experiments.runs.records import ItemRecord, Judgment
from stateauditor.experiments.runs.scenarios import Source, open_source
from stateauditor.program.backends.store import CacheMode
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import CallRecord

_CARRIED = ("items.jsonl", "config.yaml", "manifest.json")  # with a manifest it is a run
Verdict = tuple[Judgment, tuple[CallRecord, ...]]


@dataclass(slots=True)
class Rejudged:
    """How far a rejudging is: of ``total`` scenarios ``done`` have a word of each judge."""

    total: int
    done: int = 0
    failed: int = 0
    judges: tuple[str, ...] = ()
    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict, repr=False)


def rejudge(
    folder: RunFolder,
    judge_files: Iterable[str],
    *,
    out: Path | None = None,
    concurrency: int | None = None,
    watch: Callable[[Rejudged], None] = lambda progress: None,
) -> tuple[RunFolder, Rejudged]:
    """Let more judges score a run's stored replies.

    A scenario that a judge of this name has scored already is left alone; one where
    it failed is asked about again. ``out`` leaves the run as it is and puts records
    with the new judgments there. Raises :class:`InputError` where the data are not
    those of the run, and :class:`ConfigError` for a judge that cannot be used.
    """
    spec, manifest = folder.spec(), folder.manifest()
    judges = load_judges(tuple(judge_files))
    if not judges:
        raise ConfigError("the key judge scored with the run; name a backend file with a model")
    source = open_source(spec.data)
    refuse_changed_data(source, folder, "a judge")
    target = folder if out is None else copied(folder, out)
    limiter = CapacityLimiter(concurrency or spec.concurrency)
    bound = [
        judge.bound(
            target.responses,
            CacheMode.READ_WRITE,
            f"{manifest.run_id}:rejudged by {judge.name}",
            limiter,
        )
        for judge in judges
    ]
    records = {item.uid: _replies(item) for item in target.items() if _wants(item, bound)}
    progress = Rejudged(total=len(records), judges=tuple(judge.name for judge in bound))
    watch(progress)
    with dspy.context(trace=None):  # it would keep the inputs of all calls
        asyncio.run(_score(source, records, bound, progress, watch, limiter.total_tokens))
    target.replace_items(_merged(target, progress.verdicts))
    return target, progress


def copied(folder: RunFolder, out: Path) -> RunFolder:
    """A run's config, manifest, records and responses under ``out``."""
    target = RunFolder(out)
    if target.exists():
        if target.manifest() == folder.manifest():
            return target  # a rejudging into this folder goes on
        raise ConfigError(f"{out} holds another run; choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    if folder.responses.is_dir():
        shutil.copytree(folder.responses, target.responses, dirs_exist_ok=True)
    for name in _CARRIED:
        if (folder.path / name).exists():
            shutil.copy2(folder.path / name, out / name)
    return target


def _wants(item: ItemRecord, judges: Iterable[Judge]) -> bool:
    """Whether a judge has still to speak; controls and failed scenarios are not judged."""
    if item.control or item.error is not None:
        return False
    return any(_open(item, judge.name) for judge in judges)


def _open(item: ItemRecord, judge: str) -> bool:
    earlier = item.judgments.get(judge)
    return earlier is None or earlier.error is not None


def _replies(item: ItemRecord) -> ItemRecord:
    """The record without its audits, which are most of its size; a judge reads replies."""
    probes = {d: p.model_copy(update={"result": None}) for d, p in item.probes.items()}
    return item.model_copy(update={"probes": probes})


async def _score(
    source: Source,
    records: dict[str, ItemRecord],
    judges: list[Judge],
    progress: Rejudged,
    watch: Callable[[Rejudged], None],
    concurrency: float,
) -> None:
    async def one(item: BenchmarkItem) -> None:
        record = records.pop(item.uid)
        for judge in judges:
            if _open(record, judge.name):
                verdict = await judge.score(item, record.probes)
                progress.verdicts[item.uid, judge.name] = verdict
                progress.failed += verdict[0].error is not None
        progress.done += 1
        watch(progress)

    flight: set[asyncio.Task[None]] = set()
    for item in source:
        if item.uid not in records:
            continue
        flight.add(asyncio.create_task(one(item)))
        if len(flight) >= concurrency:
            flight = await _some(flight)
    while flight:
        flight = await _some(flight)


async def _some(flight: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    ended, waiting = await asyncio.wait(flight, return_when=asyncio.FIRST_COMPLETED)
    for task in ended:
        task.result()
    return waiting


def _merged(folder: RunFolder, verdicts: dict[tuple[str, str], Verdict]) -> Iterator[ItemRecord]:
    by_uid: dict[str, dict[str, Verdict]] = {}
    for (uid, judge), verdict in verdicts.items():
        by_uid.setdefault(uid, {})[judge] = verdict
    for item in folder.items():
        added = by_uid.get(item.uid, {})
        calls = tuple(call for _, asked in added.values() for call in asked)
        judgments = {name: judgment for name, (judgment, _) in added.items()}
        yield item.model_copy(
            update={"judgments": {**item.judgments, **judgments}, "calls": item.calls + calls}
        )
