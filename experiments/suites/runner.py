"""Runs a suite through the auditor, into one folder: every item, probe and policy.

The policies of an item run one after the other over the run's recorded responses, so
that a later one asks only what its directives make different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anyio import CapacityLimiter

from stateauditor.data.suites.items import ChangeKey, Due, SuiteItem, SuiteProbe
from stateauditor.data.suites.registry import Suite, load_suite
from stateauditor.experiments.runs.folder import Manifest, new_manifest
from stateauditor.experiments.runs.loop import Progress, Watcher, work_through
from stateauditor.experiments.suites.records import (
    SuiteFolder,
    SuiteItemRecord,
    SuiteProbeRecord,
    replays_marked,
)
from stateauditor.experiments.suites.scripted import is_scripted, scripted_lm
from stateauditor.experiments.suites.spec import SuiteSpec
from stateauditor.metrics.key_judge import GoldKey
from stateauditor.metrics.suites import suite_outcome
from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.reasons import describe
from stateauditor.program.backends.store import CacheMode
from stateauditor.program.memory import read_memory
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.signatures.models import AuditResult, Policy


@dataclass(frozen=True, slots=True)
class FinishedSuite:
    """A suite run as far as it got."""

    folder: SuiteFolder
    manifest: Manifest
    progress: Progress

    @property
    def complete(self) -> bool:
        """Whether every item has a record."""
        return self.progress.done >= self.progress.total


def run_suite(
    spec: SuiteSpec,
    out: Path,
    *,
    resume: bool = False,
    backend: Backend | None = None,
    suite: Suite | None = None,
    watch: Watcher = lambda progress: None,
) -> FinishedSuite:
    """Run a spec into the folder ``out``; ``backend`` and ``suite`` stand in for the spec's.

    Raises :class:`ConfigError` and :class:`InputError` before any work is done.
    """
    suite = suite or load_suite(spec.suite, spec.seed)
    items = chosen(suite.items, spec.limit)
    backend = backend or open_backend(spec.backend, suite.items)
    folder = SuiteFolder(out)
    manifest = folder.begin(
        spec,
        new_manifest(
            data_name=suite.name,
            data_sha256=suite.sha256,
            frozen_sha256=suite.frozen_sha256,
            scenarios=len(items),
            backend=backend.label,
        ),
        resume=resume,
    )
    bound = backend.bound(
        folder.responses,
        CacheMode.READ_WRITE,
        manifest.run_id,
        CapacityLimiter(spec.concurrency),
    )
    runner = ItemRunner.of(spec, bound)
    progress = work_through(
        ((item.uid, item) for item in items),
        runner.run,
        folder,
        total=len(items),
        concurrency=spec.concurrency,
        max_cost=spec.max_cost,
        watch=watch,
    )
    return FinishedSuite(folder, manifest, progress)


def chosen(items: tuple[SuiteItem, ...], limit: int | None) -> tuple[SuiteItem, ...]:
    """The items, or ``limit`` of them taken from the groups in turn, in the items' order."""
    if limit is None:
        return items
    seen: Counter[str] = Counter()
    rank: dict[str, tuple[int, int]] = {}
    for place, item in enumerate(items):
        rank[item.uid] = (seen[item.group], place)
        seen[item.group] += 1
    kept = set(sorted(rank, key=rank.__getitem__)[:limit])
    return tuple(item for item in items if item.uid in kept)


def open_backend(name: str, items: tuple[SuiteItem, ...]) -> Backend:
    """A backend by name or file, or the scripted LM that knows the items' keys."""
    if is_scripted(name):
        return scripted_lm(name, items)
    return Backend.load(name)


@dataclass(frozen=True, slots=True)
class ItemRunner:
    """One auditor a policy; all else is shared."""

    auditors: Mapping[Policy, StateAuditor]

    @classmethod
    def of(cls, spec: SuiteSpec, backend: Backend) -> ItemRunner:
        """The auditors of a spec."""
        return cls(
            {
                policy: StateAuditor(backend, config=spec.under(policy), compiled=spec.compiled)
                for policy in spec.policies
            }
        )

    async def run(self, item: SuiteItem) -> SuiteItemRecord:
        """The item's record; whatever breaks is recorded, never raised."""
        record = SuiteItemRecord(uid=item.uid, group=item.group)
        try:
            index = next(iter(self.auditors.values())).index(read_memory(item.memory_items()))
        except Exception as error:  # noqa: BLE001  # an item that fails is a record of its own
            return record.model_copy(update={"error": describe(error)})
        probes = {probe.name: await self._probe(item, probe, index) for probe in item.probes}
        return record.model_copy(update={"probes": probes})

    async def _probe(
        self, item: SuiteItem, probe: SuiteProbe, index: MemoryIndex
    ) -> SuiteProbeRecord:
        record = SuiteProbeRecord(question=probe.question, draft=probe.draft)
        results: dict[Policy, AuditResult] = {}
        try:
            for policy, auditor in self.auditors.items():
                results[policy] = await auditor.aaudit(index, probe.question, probe.draft)
        except Exception as error:  # noqa: BLE001  # a probe that fails is a record of its own
            return record.model_copy(update={"error": describe(error)})
        broken = next((r for r in results.values() if _nobody_answered(r)), None)
        if broken is not None:
            reason = f"no role answered: {broken.failed_open[0].reason}"
            return record.model_copy(update={"error": reason})
        key = gold_key(item.uid, probe)
        marked = replays_marked(results)
        return record.model_copy(
            update={
                "readout": next(iter(marked.values())).readout,
                "results": {
                    policy: result.model_copy(update={"readout": ()})
                    for policy, result in marked.items()
                },
                "outcomes": {
                    policy: suite_outcome(
                        result,
                        key,
                        group=item.group,
                        explicitness=item.explicitness.value,
                        probe=probe.name,
                    )
                    for policy, result in marked.items()
                },
            }
        )


def _nobody_answered(result: AuditResult) -> bool:
    """Whether an audit failed open as a whole: that the draft came back then says nothing."""
    return bool(result.failed_open) and all(call.error is not None for call in result.calls)


def gold_key(uid: str, probe: SuiteProbe) -> GoldKey:
    """A probe's key as the key judge reads it: revealed here, for scoring only."""
    key: ChangeKey = probe.key
    return GoldKey(
        uid=uid,
        attribute=key.attribute.reveal(),
        old_value=key.old_value.reveal(),
        new_value=key.new_value.reveal(),
        causal_path=tuple(node.reveal() for node in key.causal_path),
        m_old=key.m_old.reveal(),
        m_new=key.m_new.reveal(),
        control=probe.due is Due.NOTHING,
    )
