"""One scenario under one arm: drafts, audits, judgments, in one record."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stateauditor.data.scenario import BenchmarkItem, ByDimension, Dimension, oracle_memory
from stateauditor.experiments.baselines.base import Baseline
from stateauditor.experiments.baselines.registry import BASELINES, run_baseline
from stateauditor.experiments.runs.judges import Judge
from stateauditor.experiments.runs.records import ItemRecord, Judgment, ProbeRecord, Result
from stateauditor.experiments.runs.spec import Arm, MemorySetting, RunSpec
from stateauditor.metrics import GoldKey, key_judge, pair_recall, reply_key
from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.memory import read_memory
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.tokens import count_tokens
from stateauditor.program.roles.audit_run import AuditRun, describe
from stateauditor.program.roles.generator import Generator
from stateauditor.program.safety.screening import neutralise, redact
from stateauditor.signatures.errors import ReplayMissError
from stateauditor.signatures.generator import RESPONSE_GENERATION
from stateauditor.signatures.models import AuditResult, BaseAudit, CallRecord
from stateauditor.signatures.readout import PromptReadout

MISS = "no recorded response"  # how a ReplayMissError reads once a role has failed open


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft with the calls that made it; ``why`` says why there is none."""

    text: str | None
    calls: tuple[CallRecord, ...] = ()
    why: str = "none was given"


@dataclass(frozen=True)
class ArmRunner:
    """What an arm needs, shared by all scenarios of a run.

    ``drafts`` and ``bases`` come from a file or an earlier run, by uid; where a
    scenario has no draft there, the probe fails with that as its error. In a
    ``replay`` a role that fails open is no finding but a response that is missing:
    the scenario then fails, and names the role.
    """

    spec: RunSpec
    backend: Backend
    judges: Sequence[Judge] = ()
    replay: bool = False
    gold: Mapping[str, GoldKey] = field(default_factory=dict)
    drafts: Mapping[str, ByDimension[str]] | None = None
    bases: Mapping[str, Mapping[str, BaseAudit]] | None = None
    auditor: StateAuditor = field(init=False)
    baseline: Baseline | None = field(init=False)
    generator: Generator = field(init=False)

    def __post_init__(self) -> None:
        settings = self.spec.settings()
        if self.spec.arm.variant is None:
            settings.pop("variant")
        auditor = StateAuditor(self.backend, compiled=self.spec.compiled, **settings)
        object.__setattr__(self, "auditor", auditor)
        made = BASELINES[self.spec.arm]() if self.spec.arm.is_baseline else None
        object.__setattr__(self, "baseline", made)
        object.__setattr__(self, "generator", Generator())

    async def run(self, item: BenchmarkItem, *, control: bool) -> ItemRecord:
        """The scenario's record; whatever breaks is recorded, never raised."""
        record = ItemRecord(uid=item.uid, type=item.type.value, control=control)
        try:
            return await self._run(item, record)
        except Exception as error:  # noqa: BLE001  # an item that fails is a record of its own
            return record.model_copy(update={"error": describe(error)})

    async def _run(self, item: BenchmarkItem, record: ItemRecord) -> ItemRecord:
        oracle = self.spec.memory is MemorySetting.ORACLE
        scenario = oracle_memory(item) if oracle else item.scenario
        index = self.auditor.index(read_memory(scenario.memory_items()))
        questions = {d.value: question for d, question in scenario.probes.items()}
        drafts = await self._drafts(item.uid, index, questions)
        probes = await self._audited(item, index, questions, drafts)
        calls = [call for draft in drafts.values() for call in draft.calls]
        judgments: dict[str, Judgment] = {}
        if not record.control:
            for judge in self.judges:
                judgments[judge.name], asked = await judge.score(item, probes)
                calls.extend(asked)
        if self.replay:
            _refuse_misses(item.uid, probes, judgments)
        return record.model_copy(
            update={"probes": probes, "judgments": judgments, "calls": tuple(calls)}
        )

    async def _drafts(
        self, uid: str, index: MemoryIndex, questions: Mapping[str, str]
    ) -> dict[str, Draft]:
        """Drafts by dimension: given ones, or the generator's."""
        if self.drafts is not None:
            given = self.drafts.get(uid)
            return {d.value: Draft(None if given is None else given[d]) for d in Dimension}
        made = await asyncio.gather(*(self._generated(index, q) for q in questions.values()))
        return dict(zip(questions, made, strict=True))

    async def _generated(self, index: MemoryIndex, question: str) -> Draft:
        readout = PromptReadout.of(index.retrieve(question, redact=redact))
        safe = neutralise(question)
        run = AuditRun(self.backend, None)
        text = await run.attempt(
            RESPONSE_GENERATION,
            lambda: self.generator.acall(readout=readout, question=safe),
        )
        return Draft(text, run.calls, run.failures[0].reason if run.failures else "")

    async def _audited(
        self,
        item: BenchmarkItem,
        index: MemoryIndex,
        questions: Mapping[str, str],
        drafts: Mapping[str, Draft],
    ) -> dict[str, ProbeRecord]:
        pairs = {
            d: (questions[d], draft.text) for d, draft in drafts.items() if draft.text is not None
        }
        results = await self._results(item.uid, index, pairs)
        found = dict(zip(pairs, results, strict=True))
        return {
            d: self._probe(item, question, drafts[d], found.get(d))
            for d, question in questions.items()
        }

    async def _results(
        self, uid: str, index: MemoryIndex, pairs: Mapping[str, tuple[str, str]]
    ) -> Sequence[Result | None]:
        """What the arm makes of each pair of question and draft, in their order."""
        if self.baseline is not None:
            return await asyncio.gather(
                *(
                    run_baseline(
                        self.baseline, self.backend, index, question, draft, self.spec.baseline
                    )
                    for question, draft in pairs.values()
                )
            )
        if self.spec.arm is Arm.GENERATOR_ONLY or not pairs:
            return [None] * len(pairs)
        given = None if self.bases is None else self.bases.get(uid, {})
        bases = None if given is None else [given.get(d) for d in pairs]
        return await self.auditor.aaudit_pairs(index, list(pairs.values()), bases=bases)

    def _probe(
        self, item: BenchmarkItem, question: str, draft: Draft, result: Result | None
    ) -> ProbeRecord:
        if draft.text is None:
            return ProbeRecord(question=question, error=f"no draft: {draft.why}")
        gold = self.gold.get(item.uid)
        lines = [] if result is None else [line.text for line in result.readout]
        response = draft.text if result is None else result.response
        key = key_judge(result, gold) if gold and isinstance(result, AuditResult) else None
        return ProbeRecord(
            question=question,
            draft=draft.text,
            result=result,
            response=response,
            key=key,
            reply_key=None if gold is None else reply_key(response, draft.text, gold),
            recall=(
                pair_recall(lines, item.judge.m_old.reveal(), item.judge.m_new.reveal())
                if result is not None
                else None
            ),
            tokens=sum(count_tokens(line) for line in lines),
        )


def _refuse_misses(
    uid: str, probes: Mapping[str, ProbeRecord], judgments: Mapping[str, Judgment]
) -> None:
    """Raise :class:`ReplayMissError` where a recorded response was asked for and is not there."""
    reasons = [f"{d}: {probe.error}" for d, probe in probes.items() if probe.error is not None]
    reasons += [
        f"{d}: {failure.reason}"
        for d, probe in probes.items()
        if probe.result is not None
        for failure in probe.result.failed_open
    ]
    reasons += [f"judge {name}: {j.error}" for name, j in judgments.items() if j.error is not None]
    missing = [reason for reason in reasons if MISS in reason]
    if missing:
        raise ReplayMissError(f"{uid}, {missing[0]}")
