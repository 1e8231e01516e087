"""One audit in progress: its roles' calls, and what failed open."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from dspy.utils.exceptions import (
    LMConfigurationError,
    LMTransportError,
    LMUnsupportedFeatureError,
)

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import LMRole
from stateauditor.program.backends.recording import recording
from stateauditor.signatures.errors import StateAuditorError
from stateauditor.signatures.models import CallRecord, Failure

T = TypeVar("T")


class RoleName(StrEnum):
    """The steps that can fail open, in the order in which results list their calls."""

    RETRIEVAL = "retrieval"
    RESPONSE_GENERATION = "response_generation"
    PREMISE_EXTRACTION = "premise_extraction"
    PRESUPPOSITION_EXTRACTION = "presupposition_extraction"
    TIMELINE_CONSTRUCTION = "timeline_construction"
    TRANSITION_PROPOSAL = "transition_proposal"
    EVIDENCE_REVIEW = "evidence_review"
    LEAN_AUDIT = "lean_audit"
    PREMISE_ADJUDICATION = "premise_adjudication"
    DRAFT_CONSISTENCY = "draft_consistency"
    SKEPTIC = "skeptic"
    SEMANTIC_GATE = "semantic_gate"
    RESPONSE_ADAPTATION = "response_adaptation"
    STALE_JUDGMENT = "stale_judgment"
    # The steps of the baselines, each in its own order.
    SELF_CRITIQUE = "self_critique"
    CRITIQUE_REVISION = "critique_revision"
    VERIFICATION_PLANNING = "verification_planning"
    VERIFICATION_ANSWERING = "verification_answering"
    VERIFIED_REVISION = "verified_revision"
    QUERY_GENERATION = "query_generation"
    AGREEMENT_GATE = "agreement_gate"
    EVIDENCE_EDITING = "evidence_editing"
    STATE_SUMMARY = "state_summary"
    SUMMARY_GENERATION = "summary_generation"
    TIMELINE_REGENERATION = "timeline_regeneration"
    PERSONA_SELECTION = "persona_selection"
    PERSONA_ALIGNMENT = "persona_alignment"
    AUDIT = "audit"


LM_ROLES = {
    RoleName.RESPONSE_GENERATION: LMRole.GENERATOR,
    RoleName.EVIDENCE_REVIEW: LMRole.PROPOSER,
    RoleName.STALE_JUDGMENT: LMRole.JUDGE,
    RoleName.PREMISE_EXTRACTION: LMRole.AUDITOR,
    RoleName.PRESUPPOSITION_EXTRACTION: LMRole.AUDITOR,
    RoleName.TIMELINE_CONSTRUCTION: LMRole.AUDITOR,
    RoleName.TRANSITION_PROPOSAL: LMRole.PROPOSER,
    RoleName.LEAN_AUDIT: LMRole.AUDITOR,
    RoleName.PREMISE_ADJUDICATION: LMRole.AUDITOR,
    RoleName.DRAFT_CONSISTENCY: LMRole.AUDITOR,
    RoleName.SKEPTIC: LMRole.AUDITOR,
    RoleName.SEMANTIC_GATE: LMRole.PROPOSER,
    RoleName.RESPONSE_ADAPTATION: LMRole.ADAPTER,
    RoleName.SELF_CRITIQUE: LMRole.AUDITOR,
    RoleName.CRITIQUE_REVISION: LMRole.ADAPTER,
    RoleName.VERIFICATION_PLANNING: LMRole.AUDITOR,
    RoleName.VERIFICATION_ANSWERING: LMRole.AUDITOR,
    RoleName.VERIFIED_REVISION: LMRole.ADAPTER,
    RoleName.QUERY_GENERATION: LMRole.AUDITOR,
    RoleName.AGREEMENT_GATE: LMRole.AUDITOR,
    RoleName.EVIDENCE_EDITING: LMRole.ADAPTER,
    RoleName.STATE_SUMMARY: LMRole.AUDITOR,
    RoleName.SUMMARY_GENERATION: LMRole.GENERATOR,
    RoleName.TIMELINE_REGENERATION: LMRole.ADAPTER,
    RoleName.PERSONA_SELECTION: LMRole.AUDITOR,
    RoleName.PERSONA_ALIGNMENT: LMRole.ADAPTER,
}
_ORDER = {role: position for position, role in enumerate(RoleName)}


@dataclass(slots=True)
class AuditRun:
    """Runs roles so that whatever breaks in one leaves the others' findings in force."""

    backend: Backend
    timeout: float | None
    _calls: dict[RoleName, list[CallRecord]] = field(default_factory=dict)
    _failures: dict[RoleName, Failure] = field(default_factory=dict)

    async def attempt(self, role: RoleName, work: Callable[[], Awaitable[T]]) -> T | None:
        """The role's answer, or None when it failed; then the failure is on record."""
        return await self._one(role, work, self._calls.setdefault(role, []))

    async def attempts(
        self, role: RoleName, works: Sequence[Callable[[], Awaitable[T]]]
    ) -> list[T | None]:
        """Several independent answers of one role at once, each failing for itself.

        Their calls are on record in the order of ``works``, whichever ends first.
        """
        scopes: list[list[CallRecord]] = [[] for _ in works]
        try:
            return await asyncio.gather(
                *(self._one(role, work, scope) for work, scope in zip(works, scopes, strict=True))
            )
        finally:
            for scope in scopes:
                self._calls.setdefault(role, []).extend(scope)

    async def _one(
        self, role: RoleName, work: Callable[[], Awaitable[T]], calls: list[CallRecord]
    ) -> T | None:
        lm_role = LM_ROLES[role]
        with recording(role.value) as scope, self.backend.use(lm_role):
            try:
                answer = await asyncio.wait_for(work(), self.timeout)
                if self.backend.offline(lm_role):
                    model = self.backend.lm(lm_role).model
                    scope.calls.append(CallRecord(role=role.value, model=model, cost=0.0))
                return answer
            except Exception as error:  # noqa: BLE001  # fail open, whatever breaks
                self.fail(role, error)
                return None
            finally:
                calls.extend(scope.calls)

    def fail(self, role: RoleName, error: Exception) -> None:
        """Put a failure on record; the first one of a role counts."""
        self._failures.setdefault(role, Failure(role=role.value, reason=describe(error)))

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """All calls in the graph's order, which does not depend on timing."""
        return tuple(
            call
            for role in sorted(self._calls, key=_ORDER.__getitem__)
            for call in self._calls[role]
        )

    @property
    def failures(self) -> tuple[Failure, ...]:
        """All failures in the graph's order."""
        return tuple(self._failures[r] for r in sorted(self._failures, key=_ORDER.__getitem__))


def describe(error: Exception) -> str:
    """What went wrong, without memory text and without keys.

    Of foreign errors the kind and the HTTP status are kept. A message is kept
    only where no server had a part in it: servers quote what they were sent.
    """
    if isinstance(error, StateAuditorError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "timed out"
    kind = type(error).__name__
    status = getattr(error, "status", None)
    if status is not None:
        return f"{kind}: HTTP {status}"
    if isinstance(error, LMTransportError | LMConfigurationError | LMUnsupportedFeatureError):
        return _without_keys(f"{kind}: {' '.join(error.message.split())[:300]}")
    return kind


def _without_keys(text: str) -> str:
    """``text`` with the value of every environment variable that looks like a key blotted out."""
    for name, value in os.environ.items():
        if ("KEY" in name or "TOKEN" in name) and len(value) >= 8:
            text = text.replace(value, "***")
    return text
