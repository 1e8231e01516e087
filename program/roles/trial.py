"""Does a backend answer? One tiny typed call for each role, and one long prompt for each LM.

The long one is as long as a readout: a server that cuts prompts, or refuses them, shows here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.retrieval.tokens import count_tokens
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declarations
from stateauditor.signatures.step import Card, LMRole

LONG_PROMPT = 6_000  # tokens: a readout of the usual budget, and some more


@dataclass(frozen=True, slots=True)
class Trial:
    """How one role's call went; ``reason`` is None where it is fine.

    ``estimated`` says that the server told no usage, so that a cut prompt would not show.
    """

    role: LMRole
    model: str
    seconds: float
    input_tokens: int
    output_tokens: int
    mode: str
    tries: int
    reason: str | None
    estimated: bool = False

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


def try_long_prompts(backend: Backend) -> list[Trial]:
    """One long prompt for each LM, asked as the first role that it answers."""
    first: dict[str, LMRole] = {}
    for role in LMRole:
        if not backend.offline(role):
            first.setdefault(backend.config.lm_for(role), role)
    return [run_sync(_try, backend, role, _long_call()) for role in first.values()]


_Call = tuple[Card, Role, dict[str, Any]]


async def _try(backend: Backend, role: LMRole, call: _Call | None = None) -> Trial:
    card, module, inputs = call or _call(role)
    # Whatever role the call is of, the LM under trial answers it.
    card = replace(card, lm_role=role)
    run = AuditRun(backend, None)
    await run.attempt(card, lambda: module.acall(**inputs))
    lm = backend.lm(role)
    rules = backend.offline(role)
    made = run.calls
    return Trial(
        role=role,
        model=lm.model,
        seconds=sum(call.seconds for call in made),
        input_tokens=sum(call.input_tokens for call in made),
        output_tokens=sum(call.output_tokens for call in made),
        mode="rules" if rules else lm.structured.candidates[0].value,
        tries=len(made),
        reason=run.failures[0].reason if run.failures else None,
        estimated=any(call.estimated for call in made),
    )


def _long_call() -> _Call:
    """The auditor's example with a draft of the length of a readout.

    Its sentences differ, so that no cache helps.
    """
    card, module, inputs = _call(LMRole.AUDITOR)
    lines: list[str] = []
    size = 0
    while size < LONG_PROMPT:
        lines.append(f"On walk {len(lines) + 1} you could turn left at the old mill and rest.")
        size += count_tokens(lines[-1])
    return card, module, {**inputs, "draft": "\n".join([*lines, inputs["draft"]])}


def _call(role: LMRole) -> _Call:
    """The first role that goes to this LM and has an example, ready to be asked."""
    return next(
        (declared.card, declared.made(), declared.example())
        for declared in declarations()
        if declared.card.lm_role is role and declared.example is not None
    )
