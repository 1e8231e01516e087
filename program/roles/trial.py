"""Does a backend answer? One tiny typed call for each role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declarations
from stateauditor.signatures.step import Card, LMRole


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
    card, module, inputs = _call(role)
    run = AuditRun(backend, None)
    await run.attempt(card, lambda: module.acall(**inputs))
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


def _call(role: LMRole) -> tuple[Card, Role, dict[str, Any]]:
    """The first role that goes to this LM and has an example, ready to be asked."""
    return next(
        (declared.card, declared.made(), declared.example())
        for declared in declarations()
        if declared.card.lm_role is role and declared.example is not None
    )
