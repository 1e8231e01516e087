"""What a suite run writes for each item: one JSON line with its probes and policies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic import Field

from stateauditor.experiments.runs.folder import Folder
from stateauditor.experiments.suites.spec import SuiteSpec
from stateauditor.metrics.suites import SuiteOutcome
from stateauditor.signatures.models import (
    AuditResult,
    CallRecord,
    Frozen,
    Policy,
    RenderedEntry,
    Usage,
)


class SuiteProbeRecord(Frozen):
    """One probe under every policy.

    ``results`` and ``outcomes`` are keyed by policy. The evidence is the same under
    each and stands in ``readout``; the results' own readouts are empty. ``error`` says
    why there is no result: the probe then counts apart, neither right nor wrong.
    """

    question: str
    draft: str
    readout: tuple[RenderedEntry, ...] = ()
    results: dict[Policy, AuditResult] = Field(default_factory=dict)
    outcomes: dict[Policy, SuiteOutcome] = Field(default_factory=dict)
    error: str | None = None


class SuiteItemRecord(Frozen):
    """One item of a suite run; ``probes`` are keyed by their names."""

    uid: str
    group: str
    probes: dict[str, SuiteProbeRecord] = Field(default_factory=dict)
    error: str | None = None

    @property
    def failure(self) -> str | None:
        """Why the item, or the first of its probes that did, went wrong."""
        if self.error is not None:
            return self.error
        failed = ((name, p.error) for name, p in self.probes.items() if p.error is not None)
        return next((f"{name}: {error}" for name, error in failed), None)

    def all_calls(self) -> Iterator[CallRecord]:
        """Every LM call of every probe under every policy."""
        for probe in self.probes.values():
            for result in probe.results.values():
                yield from result.calls


class SuiteFolder(Folder[SuiteSpec, SuiteItemRecord]):
    """The folder of one run over a suite."""

    spec_type = SuiteSpec
    record_type = SuiteItemRecord


def replays_marked(results: Mapping[Policy, AuditResult]) -> dict[Policy, AuditResult]:
    """The results with calls that an earlier policy already has marked as cached.

    Policies share their findings, so most calls of a later one are answered from the
    record of an earlier one; a replayed call is the recorded one to the microsecond.
    """
    known: Counter[CallRecord] = Counter()
    marked: dict[Policy, AuditResult] = {}
    for policy, result in results.items():
        left = Counter(known)
        calls = []
        for call in result.calls:
            repeated = left[call] > 0
            left[call] -= repeated
            calls.append(call.model_copy(update={"cached": True}) if repeated else call)
        known |= Counter(result.calls)
        marked[policy] = result.model_copy(update={"calls": tuple(calls), "usage": Usage.of(calls)})
    return marked
