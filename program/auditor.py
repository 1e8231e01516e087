"""StateAuditor: memory, question and draft in; audited reply out (DESIGN.md section 3).

The audit starts from the stored state. What it verifies about a transition is
provenance and chronology, never meaning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import dspy

from stateauditor.program.audit import Audit, Pair, failing_open
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.config import AuditConfig, audit_config, policy_given
from stateauditor.program.memory import Memory, read_memory
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.merging import union
from stateauditor.program.roles.compiled import load_compiled
from stateauditor.program.roles.ensemble import Roles
from stateauditor.program.safety.screening import redact
from stateauditor.program.settings import AuditSettings, MemoryInput
from stateauditor.signatures.errors import ConfigError, InputError
from stateauditor.signatures.models import AuditResult, BaseAudit, Labels, Policy, Rewrite, Variant
from stateauditor.signatures.surrogates import replace_surrogates


class StateAuditor(dspy.Module):
    """The audit pipeline as a DSPy program.

    ``backend`` is ``"offline"``, a backend file, a config or a :class:`dspy.LM`.
    ``config`` and keyword settings choose variant and policy. Where no policy is given,
    ``repair_only`` holds, but ``observe`` where lexical rules alone answer: they report
    unless they are asked to repair::

        auditor = StateAuditor("backends/openai.yaml", variant="lean", policy="full")
        result = auditor.audit(memory, question="...", draft="...")
        send(result.response)

    ``compiled`` is a folder that ``stateauditor compile`` wrote: its prompts are
    used in place of the built-in ones.

    One auditor may be shared by threads and tasks. Rewriting needs the whole
    draft, so a streamed reply has to be collected first.
    """

    def __init__(
        self,
        backend: str | Path | BackendConfig | Backend | dspy.LM = "offline",
        *,
        config: AuditConfig | None = None,
        compiled: str | Path | None = None,
        **settings: Unpack[AuditSettings],
    ) -> None:
        super().__init__()
        self.backend = Backend.load(backend)
        self.config = audit_config(config, **settings)
        if self.backend.rules_only and not policy_given(config, **settings):
            self.config = audit_config(self.config, policy=Policy.OBSERVE)
        self.roles = Roles(labels=self.config.labels, rewrite=self.config.rewrite)
        if compiled is not None:
            if (self.config.labels, self.config.rewrite) != (Labels.LIFECYCLE, Rewrite.TYPED):
                raise ConfigError(
                    "compiled prompts belong to the roles that labels: nli and rewrite: untyped "
                    "replace; leave out 'compiled', or these settings"
                )
            load_compiled(compiled, self.roles)

    # --- entry points ---------------------------------------------------------

    def index(self, memory: MemoryInput, *, allow_undated: bool = False) -> MemoryIndex:
        """Build the index of one user's memory, to be shared by many questions."""
        if isinstance(memory, MemoryIndex):
            return memory
        if not isinstance(memory, Memory):
            memory = read_memory(memory, allow_undated=allow_undated)
        return MemoryIndex.build(memory, self.config.retrieval)

    def audit(
        self, memory: MemoryInput, question: str, draft: str, *, allow_undated: bool = False
    ) -> AuditResult:
        """Audit one draft; works in scripts, threads and inside a running event loop.

        ``memory`` is anything that :func:`read_memory` reads, a :class:`Memory`,
        or the index of one. Raises :class:`InputError` for unusable input;
        after that, whatever breaks, the draft comes back.
        """
        return run_sync(self._called, memory, [(question, draft)], None, allow_undated)[0]

    async def aaudit(
        self, memory: MemoryInput, question: str, draft: str, *, allow_undated: bool = False
    ) -> AuditResult:
        """Asynchronous twin of :meth:`audit`."""
        results = await self._called(memory, [(question, draft)], None, allow_undated)
        return results[0]

    def audit_pairs(
        self, memory: MemoryInput, pairs: Sequence[Pair], *, allow_undated: bool = False
    ) -> list[AuditResult]:
        """Audit several question-draft pairs over one memory; see :meth:`aaudit_pairs`."""
        return run_sync(self._called, memory, pairs, None, allow_undated)

    async def aaudit_pairs(
        self,
        memory: MemoryInput,
        pairs: Sequence[Pair],
        *,
        bases: Sequence[BaseAudit | None] | None = None,
        allow_undated: bool = False,
    ) -> list[AuditResult]:
        """One result a pair, in order.

        Under ``joint_vta`` one proposal call reads all pairs (scenario-joint
        scope: a privileged upper bound); under every other variant the pairs
        know nothing of each other. ``bases`` gives base audits made earlier over
        the same memory and pairs, in place of making them.
        """
        return await self._called(memory, pairs, bases, allow_undated)

    async def _called(
        self,
        memory: MemoryInput,
        pairs: Sequence[Pair],
        bases: Sequence[BaseAudit | None] | None,
        allow_undated: bool,
    ) -> list[AuditResult]:
        """The audits as one call of this module, which is one trace tree and one usage.

        DSPy's own trace is for optimizers: in a service it would keep thousands of readouts.
        """
        with dspy.context(trace=None):
            called = await self.acall(memory, pairs=pairs, bases=bases, allow_undated=allow_undated)
        results: list[AuditResult] = called.results
        return results

    async def _audited(
        self,
        memory: MemoryInput,
        pairs: Sequence[Pair],
        bases: Sequence[BaseAudit | None] | None,
        allow_undated: bool,
    ) -> list[AuditResult]:
        clean = [(_text("question", q), _text("draft", d)) for q, d in pairs]
        index = self.index(memory, allow_undated=allow_undated)
        given = bases if bases is not None else [None] * len(clean)
        audits = [
            Audit(self.roles, self.backend, self.config, index, pair, base)
            for pair, base in zip(clean, given, strict=True)
        ]
        if len(index.sentences):
            running = [audit for audit in audits if audit.retrieve()]
            if self.config.variant is Variant.JOINT_VTA:
                await self._joint(index, running)
            else:
                for audit in running:
                    audit.siblings = tuple(other for other in running if other is not audit)
                await asyncio.gather(*(self._strict(audit) for audit in running))
        return [audit.result() for audit in audits]

    def forward(self, memory: MemoryInput, question: str, draft: str) -> dspy.Prediction:
        """The audit as DSPy's optimizers and ``Evaluate`` call it."""
        return run_sync(self.aforward, memory, question, draft)

    async def aforward(
        self,
        memory: MemoryInput,
        question: str = "",
        draft: str = "",
        *,
        pairs: Sequence[Pair] | None = None,
        bases: Sequence[BaseAudit | None] | None = None,
        allow_undated: bool = False,
    ) -> dspy.Prediction:
        """Asynchronous twin of :meth:`forward`; of several ``pairs`` only ``results``."""
        asked = [(question, draft)] if pairs is None else pairs
        results = await self._audited(memory, asked, bases, allow_undated)
        return _prediction(results[0]) if pairs is None else dspy.Prediction(results=results)

    # --- one pair ---------------------------------------------------------------

    async def _strict(self, audit: Audit) -> None:
        with failing_open([audit]):
            await audit.examine()
            await audit.settle()

    # --- all probes of a scenario -------------------------------------------------

    async def _joint(self, index: MemoryIndex, audits: Sequence[Audit]) -> None:
        with failing_open(audits):
            if audits:
                await self._examine_jointly(index, audits)

    async def _examine_jointly(self, index: MemoryIndex, audits: Sequence[Audit]) -> None:
        readout = index.expand(
            union([audit.readout for audit in audits]),
            [audit.question for audit in audits],
            budget_tokens=self.config.expansion_tokens,
            redact=redact,
        )
        named = [audit.pair(f"P{i}") for i, audit in enumerate(audits, start=1)]
        base = asyncio.gather(*(audit.examine_base() for audit in audits))
        # The proposal is paid for once, and recorded with the first pair.
        candidates, _ = await asyncio.gather(audits[0].propose(readout, named), base)
        for audit, pair in zip(audits, named, strict=True):
            audit.widen(readout)
            audit.validate(candidates, pair.id)
        await asyncio.gather(*(audit.settle() for audit in audits))


def audit(
    memory: MemoryInput,
    question: str,
    draft: str,
    *,
    backend: str | Path | BackendConfig | Backend | dspy.LM = "offline",
    allow_undated: bool = False,
    **settings: Unpack[AuditSettings],
) -> AuditResult:
    """Audit one draft; ``settings`` are those of :class:`AuditConfig` (variant, policy, ...)."""
    return StateAuditor(backend, **settings).audit(
        memory, question, draft, allow_undated=allow_undated
    )


def _text(name: str, value: object) -> str:
    """A question or a draft: text with something in it, fit for UTF-8."""
    if not isinstance(value, str):
        raise InputError(f"the {name} must be text, not {type(value).__name__}")
    if not value.strip():
        raise InputError(f"the {name} is blank")
    return replace_surrogates(value)


def _prediction(result: AuditResult) -> dspy.Prediction:
    """A result as DSPy metrics read it: every field, and the whole as ``result``."""
    fields: Mapping[str, Any] = {name: getattr(result, name) for name in AuditResult.model_fields}
    return dspy.Prediction(result=result, **fields)
