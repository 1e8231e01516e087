"""What a baseline is given, and what it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from stateauditor.experiments.baselines.contract import BaselineSettings
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.roles.adapter import accepted_reply
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.program.roles.base import Role
from stateauditor.program.safety.screening import redact
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card


@dataclass(frozen=True)
class Case:
    """One draft to be revised; its texts are safe to stand in a prompt.

    ``readout`` is the compact one, the generator's; ``index`` serves methods that
    look things up themselves. ``run`` records calls and failures.
    """

    question: str
    draft: str
    readout: PromptReadout
    index: MemoryIndex
    run: AuditRun
    settings: BaselineSettings

    def look_up(self, query: str) -> PromptReadout:
        """What the memory store holds on a query, within the settings' budget."""
        found = self.index.retrieve(
            query, budget_tokens=self.settings.evidence_tokens, redact=redact
        )
        return PromptReadout.of(found)

    async def written(self, role: Card, ask: Callable[[], Awaitable[str]]) -> str:
        """A whole reply by one role; the draft where the role failed or wrote none."""

        async def accepted() -> str:
            return accepted_reply(await ask(), self.draft)

        reply = await self.run.attempt(role, accepted)
        return self.draft if reply is None else reply


class Baseline(Role):
    """A method in the auditor's place."""

    async def aforward(self, *, case: Case) -> str:
        """The reply; the draft wherever a step fails."""
        raise NotImplementedError
