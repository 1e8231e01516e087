"""The audit as an optimizer sees it: a DSPy module over the probes of a compile.

Only the chosen roles can change; the others are frozen. Memories stay on the
:class:`Bench`, out of every example. Optimizers ask for variety by setting an LM with
a rollout and a temperature; here that means the same backend under that rollout, so
that each role keeps its own LM.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import dspy
from pydantic import BaseModel

from stateauditor.data.scenario import Dimension
from stateauditor.experiments.compile.board import Board, States
from stateauditor.experiments.compile.meter import Meter
from stateauditor.experiments.compile.parts import Case, Parts
from stateauditor.experiments.runs.judges import Judge
from stateauditor.experiments.runs.records import DIMENSIONS, ProbeRecord
from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.memory import read_memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.compiled import role_state
from stateauditor.signatures.models import AuditResult, CallRecord, Failure
from stateauditor.signatures.step import LMRole

Rollout = tuple[int, float]  # rollout id, temperature


class Bench:
    """What all copies of a student share: memories, backends, the judge and the meter."""

    def __init__(
        self,
        parts: Parts,
        retrieval: RetrievalConfig,
        meter: Meter,
        judge: Judge | None = None,
    ) -> None:
        self.parts = parts
        self.meter = meter
        self.judge = judge
        self.board: Board | None = None
        self._memories: dict[str, MemoryIndex] = {
            uid: MemoryIndex.build(read_memory(case.item.scenario.memory_items()), retrieval)
            for uid, case in parts.cases.items()
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> Bench:
        # Optimizers copy whole programs by the dozen.
        return self

    def memory(self, uid: str) -> MemoryIndex:
        """The index of one scenario's history, built once."""
        return self._memories[uid]

    async def passed(
        self, case: Case, dimension: str, question: str, result: AuditResult
    ) -> tuple[bool | None, tuple[CallRecord, ...]]:
        """The judge's word on one reply to a conflict; the other two answers are the drafts.

        The judge scores three answers at once; only the one under audit is read.
        """
        if self.judge is None or case.gold.control:
            return None, ()
        probes: dict[str, ProbeRecord] = {
            d: ProbeRecord(
                question=question if d == dimension else case.item.scenario.probes[Dimension(d)],
                response=result.response if d == dimension else case.drafts[Dimension(d)],
            )
            for d in DIMENSIONS
        }
        judgment, calls = await self.judge.score(case.item, probes)
        verdict = judgment.probes.get(dimension)
        return None if verdict is None else verdict.passed, calls


class Student(dspy.Module):
    """``student(scenario=..., dimension=..., question=..., draft=...)`` audits one probe."""

    def __init__(
        self, auditor: StateAuditor, bench: Bench, roles: Sequence[str], *, teaches: bool = False
    ) -> None:
        super().__init__()
        self.teaches = teaches  # then it is no candidate
        self.auditor = auditor
        self.bench = bench
        self.trained = tuple(roles)
        self.rollout: Rollout | None = None
        for name, role in vars(auditor.roles).items():
            if isinstance(role, Role):
                role._compiled = name not in self.trained  # DSPy leaves a compiled module alone

    def set_lm(self, lm: Any) -> None:
        """Take over an LM's rollout; its predictors never hold an LM of their own."""
        self.rollout = _rollout(lm)

    def get_lm(self) -> Any:
        """No LM of its own: DSPy then takes the one in force."""
        return None

    def states(self) -> States:
        """The state of each role that may change."""
        return {role: role_state(self.auditor.roles, role) for role in self.trained}

    def forward(self, scenario: str, dimension: str, question: str, draft: str) -> dspy.Prediction:
        """Audit one probe, in any thread; raises :class:`CompileStopped` where the meter says so.

        The meter is asked here and not inside the loop that all audits share: what ends
        a compile would end that loop too.
        """
        trace: list[Any] | None = dspy.settings.trace
        begun = 0 if trace is None else len(trace)
        meter = self.bench.meter
        meter.begin()
        calls: list[CallRecord] = []
        failures: Sequence[Failure] = ()
        try:
            rollout = self.rollout or _rollout(dspy.settings.lm)
            result, passed, calls = run_sync(
                self._audited, sampled(self.auditor, rollout), scenario, dimension, question, draft
            )
            failures = result.failed_open
        finally:
            meter.end(calls, failures)
        if trace is not None:
            trace[begun:] = [plain_step(step) for step in trace[begun:]]
        return dspy.Prediction(
            response=result.response,
            directives=[directive.model_dump(mode="json") for directive in result.directives],
            result=result,
            passed=passed,
            candidate=None if self.teaches or rollout is not None else self._candidate(),
        )

    async def _audited(
        self, auditor: StateAuditor, scenario: str, dimension: str, question: str, draft: str
    ) -> tuple[AuditResult, bool | None, list[CallRecord]]:
        case = self.bench.parts.cases[scenario]
        # The module's own entry point: the others leave no trace for optimizers.
        prediction = await auditor.aforward(self.bench.memory(scenario), question, draft)
        result: AuditResult = prediction.result
        passed, judged = await self.bench.passed(case, dimension, question, result)
        return result, passed, [*result.calls, *judged]

    def _candidate(self) -> str | None:
        board = self.bench.board
        return None if board is None else board.candidate(self.states()).key


def sampled(auditor: StateAuditor, rollout: Rollout | None) -> StateAuditor:
    """The same auditor, with the same roles, asking its LMs under a rollout."""
    if rollout is None:
        return auditor
    number, temperature = rollout
    backend = auditor.backend
    lms: dict[str, Any] = {}
    for role in LMRole:
        name = backend.config.lm_for(role)
        lm = backend.lm(role)
        offline = backend.offline(role)
        lms[name] = lm if offline else lm.copy(rollout_id=number, temperature=temperature)
    other = copy.copy(auditor)
    other.backend = Backend(backend.config, lms)
    return other


def plain_step(step: tuple[Any, dict[str, Any], Any]) -> tuple[Any, dict[str, Any], Any]:
    """One step of a trace with JSON values for typed ones.

    Demonstrations are made of steps: in this form they say the same before they are
    saved and after they are loaded.
    """
    predictor, inputs, outputs = step
    kept = {name: plain(value) for name, value in dict(outputs).items()}
    return (
        predictor,
        {name: plain(value) for name, value in inputs.items()},
        dspy.Prediction(**kept),
    )


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _rollout(lm: Any) -> Rollout | None:
    settings: dict[str, Any] = getattr(lm, "kwargs", None) or {}
    number = settings.get("rollout_id")
    if number is None:
        return None
    temperature = settings.get("temperature")
    return int(number), 1.0 if temperature is None else float(temperature)
