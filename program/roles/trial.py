"""Does a backend answer? One tiny typed call for each role."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import LMRole
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.roles.adapter import ReplyAdapter
from stateauditor.program.roles.audit_run import AuditRun, RoleName
from stateauditor.program.roles.generator import Generator
from stateauditor.program.roles.judge import DIMENSIONS, StaleJudge
from stateauditor.program.roles.premises import PremiseExtractor
from stateauditor.program.roles.proposer import TransitionProposer
from stateauditor.signatures.adapter import DirectiveInstruction
from stateauditor.signatures.models import DirectiveKind, Readout, RenderedEntry, Timestamp
from stateauditor.signatures.proposer import QuestionDraftPair
from stateauditor.signatures.readout import PromptReadout

OLD, NEW = "I live in Seattle.", "I have moved to Austin."
QUESTION, DRAFT = "Where should I go for a walk?", "Walk around Green Lake in Seattle."


@dataclass(frozen=True, slots=True)
class Trial:
    """How one role's call went; ``reason`` is None where it is fine."""

    role: LMRole
    model: str
    seconds: float
    input_tokens: int
    output_tokens: int
    mode: str
    tries: int
    reason: str | None

    @property
    def ok(self) -> bool:
        """Whether the role answered with typed output."""
        return self.reason is None


def try_backend(backend: Backend) -> list[Trial]:
    """One call for each role, in order; faults are findings, never raised.

    Lexical rules judge nothing by design, so an offline judge is left out.
    """
    roles = [role for role in LMRole if role is not LMRole.JUDGE or not backend.offline(role)]
    return [run_sync(_try, backend, role) for role in roles]


async def _try(backend: Backend, role: LMRole) -> Trial:
    name, ask = _CALLS[role]
    run = AuditRun(backend, None)
    await run.attempt(name, ask)
    lm = backend.lm(role)
    rules = backend.offline(role)
    calls = run.calls
    return Trial(
        role=role,
        model=lm.model,
        seconds=sum(call.seconds for call in calls),
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        mode="rules" if rules else lm.structured.candidates[0].value,
        tries=len(calls),
        reason=run.failures[0].reason if run.failures else None,
    )


def _readout() -> PromptReadout:
    lines = [("E01", "2024-01-05", OLD), ("E02", "2024-06-02", NEW)]
    entries = tuple(
        RenderedEntry(id=name, entry_id=name, timestamp=Timestamp.model_validate(date), text=text)
        for name, date, text in lines
    )
    return PromptReadout.of(Readout(entries=entries, pairs=(("E01", "E02"),), tokens=20))


def _directive() -> DirectiveInstruction:
    return DirectiveInstruction(
        kind=DirectiveKind.REPAIR,
        attribute="home city",
        old_value="Seattle",
        current_value="Austin",
        evidence=[f'2024-06-02: "{NEW}"'],
    )


_CALLS: dict[LMRole, tuple[RoleName, Callable[[], Awaitable[Any]]]] = {
    LMRole.GENERATOR: (
        RoleName.RESPONSE_GENERATION,
        lambda: Generator().acall(readout=_readout(), question=QUESTION),
    ),
    LMRole.AUDITOR: (
        RoleName.PREMISE_EXTRACTION,
        lambda: PremiseExtractor().acall(question=QUESTION, draft=DRAFT),
    ),
    LMRole.PROPOSER: (
        RoleName.TRANSITION_PROPOSAL,
        lambda: TransitionProposer().acall(
            readout=_readout(), pairs=[QuestionDraftPair(id="P1", question=QUESTION, draft=DRAFT)]
        ),
    ),
    LMRole.ADAPTER: (
        RoleName.RESPONSE_ADAPTATION,
        lambda: ReplyAdapter().acall(question=QUESTION, draft=DRAFT, directives=[_directive()]),
    ),
    LMRole.JUDGE: (
        RoleName.STALE_JUDGMENT,
        lambda: StaleJudge().acall(
            old_state=OLD,
            new_state=NEW,
            explanation="Who has moved no longer lives there.",
            questions=dict.fromkeys(DIMENSIONS, QUESTION),
            answers=dict.fromkeys(DIMENSIONS, DRAFT),
        ),
    ),
}
