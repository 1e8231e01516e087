"""What a run writes for each scenario: one JSON line, the only source of every table.

Judge-only text never stands in a record: judges' reasons are the judges' own words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from stateauditor.experiments.baselines.contract import BaselineResult
from stateauditor.metrics import KeyFindings, PairRecall, ReplyFindings
from stateauditor.signatures.models import (
    AuditResult,
    CallRecord,
    Frozen,
)

DIMENSIONS: tuple[Literal["SR", "PR", "IPA"], ...] = ("SR", "PR", "IPA")


Result = AuditResult | BaselineResult


class ProbeRecord(Frozen):
    """One probe: the draft, the audit or baseline where there was one, and the reply.

    ``error`` says why there is no reply; then the probe counts apart, neither right
    nor wrong. Where the slice ships keys, ``key`` are the key judge's findings on an
    audit, and ``reply_key`` is what the reply's words say. ``recall`` says whether the
    evidence held the annotated pair, and ``tokens`` what the evidence cost (offline
    analysis only; the program never sees either).
    """

    question: str
    draft: str | None = None
    result: Result | None = None
    response: str | None = None
    key: KeyFindings | None = None
    reply_key: ReplyFindings | None = None
    recall: PairRecall | None = None
    tokens: int = 0
    error: str | None = None


class JudgedProbe(Frozen):
    """A judge's word on one reply under both rubrics; ``grounded`` is None where it knows one."""

    passed: bool
    grounded: bool | None = None
    reason: str = ""


class Judgment(Frozen):
    """One judge's word on one scenario; ``error`` says why there is none."""

    probes: dict[str, JudgedProbe] = Field(default_factory=dict)
    error: str | None = None


class ItemRecord(Frozen):
    """One scenario of a run.

    ``probes`` and each judgment are keyed SR, PR, IPA. ``calls`` are those outside
    the audits: generator and judges. ``failed_open`` roles are in the results.
    """

    uid: str
    type: Literal["T1", "T2"]
    control: bool = False
    probes: dict[str, ProbeRecord] = Field(default_factory=dict)
    judgments: dict[str, Judgment] = Field(default_factory=dict)
    calls: tuple[CallRecord, ...] = ()
    error: str | None = None

    @property
    def failure(self) -> str | None:
        """Why the scenario, or the first of its probes that did, went wrong."""
        if self.error is not None:
            return self.error
        failed = ((d, p.error) for d, p in self.probes.items() if p.error is not None)
        return next((f"{dimension}: {error}" for dimension, error in failed), None)

    def all_calls(self) -> Iterator[CallRecord]:
        """Generator and judge calls, then each probe's audit calls."""
        yield from self.calls
        for probe in self.probes.values():
            if probe.result is not None:
                yield from probe.result.calls
