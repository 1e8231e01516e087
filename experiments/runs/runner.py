"""Runs one arm over its scenarios, into one folder.

Scenarios run concurrently (see ``work``); a record is written as each ends. Whatever
ends a run, its folder can be continued, and pays for no recorded call twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anyio import CapacityLimiter

from stateauditor.data.scenario import BenchmarkItem, ByDimension
from stateauditor.experiments.runs.arms import ArmRunner
from stateauditor.experiments.runs.folder import Manifest, RunFolder, new_manifest
from stateauditor.experiments.runs.frozen_bases import given_bases, inherited
from stateauditor.experiments.runs.held_out import open_held_out
from stateauditor.experiments.runs.judges import load_judges
from stateauditor.experiments.runs.loop import Progress, Watcher, work_through
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord
from stateauditor.experiments.runs.scenarios import Source
from stateauditor.experiments.runs.spec import DraftSource, RunSpec
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.store import CacheMode
from stateauditor.signatures.errors import ConfigError


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
    spec, source = open_held_out(spec)
    live = replay is None
    backend = Backend.load(spec.backend, need_keys=live)
    judges = load_judges(spec.judges, need_keys=live)
    drafts = given_drafts(spec, source)
    bases = given_bases(spec, source, drafts)
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
            inherited=inherited(spec, source),
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
        drafts=drafts,
        bases=bases,
        replay=replay is not None,
    )

    async def one(item: BenchmarkItem) -> ItemRecord:
        return await arm.run(item, control=item.uid in source.controls)

    progress = work_through(
        ((item.uid, item) for item in source),
        one,
        folder,
        total=len(source.uids),
        concurrency=spec.concurrency,
        max_cost=spec.max_cost,
        watch=watch,
    )
    return Finished(folder, manifest, progress)


def given_drafts(spec: RunSpec, source: Source) -> Mapping[str, ByDimension[str]] | None:
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
