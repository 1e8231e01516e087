"""StateAuditor: memory, question and draft in; audited reply out (DESIGN.md section 3).

The audit starts from the stored state. What it verifies about a transition is
provenance and chronology, never meaning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy

from stateauditor.program.arbiter import arbitrate, may_rewrite
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.config import AuditConfig, audit_config
from stateauditor.program.memory import Memory, read_memory
from stateauditor.program.readouts import relocated, union
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.roles.adapter import ReplyAdapter, instructions, refuse_leaks
from stateauditor.program.roles.dependency import (
    PremiseAdjudicator,
    PremiseExtractor,
    PresuppositionExtractor,
    UnjudgedPremise,
)
from stateauditor.program.roles.lean import LeanAuditor
from stateauditor.program.roles.proposer import TransitionProposer
from stateauditor.program.roles.skeptic import Gate, Skeptic, challengeable
from stateauditor.program.roles.temporal import ConsistencyChecker, TimelineBuilder, changed
from stateauditor.program.run import AuditRun, RoleName
from stateauditor.program.safety import neutralise, redact
from stateauditor.program.validator import check_transitions
from stateauditor.signatures.adaptation import DirectiveInstruction
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import (
    AuditResult,
    CheckStatus,
    Directive,
    Premise,
    Readout,
    TimelineItem,
    TransitionCandidate,
    TransitionCheck,
    Usage,
    Variant,
)
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.transition import QuestionDraftPair
from stateauditor.signatures.wire import replace_surrogates

Pair = tuple[str, str]  # question, draft


class StateAuditor(dspy.Module):  # type: ignore[misc]  # dspy has no type information
    """The audit pipeline as a DSPy program.

    ``backend`` is ``"offline"``, a backend file, a config or a :class:`dspy.LM`.
    ``config`` and keyword settings choose variant and policy::

        auditor = StateAuditor("backends/openai.yaml", variant="lean", policy="full")
        result = auditor.audit(memory, question="...", draft="...")
        send(result.response)

    One auditor may be shared by threads and tasks. Rewriting needs the whole
    draft, so a streamed reply has to be collected first.
    """

    def __init__(
        self,
        backend: str | Path | BackendConfig | Backend | dspy.LM = "offline",
        *,
        config: AuditConfig | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.config = audit_config(config, **settings)
        self.backend = Backend.load(backend)
        self.premise_extractor = PremiseExtractor()
        self.presupposition_extractor = PresuppositionExtractor()
        self.premise_adjudicator = PremiseAdjudicator()
        self.timeline_builder = TimelineBuilder()
        self.consistency_checker = ConsistencyChecker()
        self.transition_proposer = TransitionProposer()
        self.lean_auditor = LeanAuditor()
        self.skeptic = Skeptic()
        self.gate = Gate()
        self.reply_adapter = ReplyAdapter()

    # --- entry points ---------------------------------------------------------

    def index(self, memory: Any, *, allow_undated: bool = False) -> MemoryIndex:
        """Build the index of one user's memory, to be shared by many questions."""
        if isinstance(memory, MemoryIndex):
            return memory
        if not isinstance(memory, Memory):
            memory = read_memory(memory, allow_undated=allow_undated)
        return MemoryIndex.build(memory, self.config.retrieval)

    def audit(
        self, memory: Any, question: str, draft: str, *, allow_undated: bool = False
    ) -> AuditResult:
        """Audit one draft; works in scripts, threads and inside a running event loop.

        ``memory`` is anything that :func:`read_memory` reads, a :class:`Memory`,
        or the index of one. Raises :class:`InputError` for unusable input;
        after that, whatever breaks, the draft comes back.
        """
        return run_sync(self._audit_one, memory, question, draft, allow_undated)

    async def aaudit(
        self, memory: Any, question: str, draft: str, *, allow_undated: bool = False
    ) -> AuditResult:
        """Asynchronous twin of :meth:`audit`."""
        return await self._audit_one(memory, question, draft, allow_undated)

    async def _audit_one(
        self, memory: Any, question: str, draft: str, allow_undated: bool
    ) -> AuditResult:
        results = await self.aaudit_pairs(memory, [(question, draft)], allow_undated=allow_undated)
        return results[0]

    def audit_pairs(
        self, memory: Any, pairs: Sequence[Pair], *, allow_undated: bool = False
    ) -> list[AuditResult]:
        """Audit several question-draft pairs over one memory; see :meth:`aaudit_pairs`."""

        async def work() -> list[AuditResult]:
            return await self.aaudit_pairs(memory, pairs, allow_undated=allow_undated)

        return run_sync(work)

    async def aaudit_pairs(
        self, memory: Any, pairs: Sequence[Pair], *, allow_undated: bool = False
    ) -> list[AuditResult]:
        """One result a pair, in order.

        Under ``joint_vta`` one proposal call reads all pairs (scenario-joint
        scope: a privileged upper bound); under every other variant the pairs
        know nothing of each other.
        """
        clean = [(_text("question", q), _text("draft", d)) for q, d in pairs]
        index = self.index(memory, allow_undated=allow_undated)
        if self.config.variant is Variant.JOINT_VTA:
            return await self._joint(index, clean)
        audits = (self._strict(index, question, draft) for question, draft in clean)
        return list(await asyncio.gather(*audits))

    def forward(self, memory: Any, question: str, draft: str) -> dspy.Prediction:
        """The audit as DSPy's optimizers and ``Evaluate`` call it."""
        return _prediction(self.audit(memory, question, draft))

    async def aforward(self, memory: Any, question: str, draft: str) -> dspy.Prediction:
        """Asynchronous twin of :meth:`forward`."""
        return _prediction(await self.aaudit(memory, question, draft))

    # --- one pair ---------------------------------------------------------------

    async def _strict(self, index: MemoryIndex, question: str, draft: str) -> AuditResult:
        audit = _Audit(self, index, question, draft)
        if not len(index.sentences):
            return audit.result()
        if audit.retrieve():
            await audit.examine()
            await audit.settle()
        return audit.result()

    # --- all probes of a scenario -------------------------------------------------

    async def _joint(self, index: MemoryIndex, pairs: Sequence[Pair]) -> list[AuditResult]:
        audits = [_Audit(self, index, question, draft) for question, draft in pairs]
        if not len(index.sentences):
            return [audit.result() for audit in audits]
        running = [audit for audit in audits if audit.retrieve()]
        if not running:
            return [audit.result() for audit in audits]
        readout = index.expand(
            union([audit.readout for audit in running]),
            [audit.question for audit in running],
            budget_tokens=self.config.expansion_tokens,
            redact=redact,
        )
        named = [audit.pair(f"P{i}") for i, audit in enumerate(running, start=1)]
        examined = [audit.examine_base() for audit in running]
        proposal = running[0].propose(readout, named)  # paid once, recorded with the first pair
        *_, candidates = await asyncio.gather(*examined, proposal)
        for audit, pair in zip(running, named, strict=True):
            audit.widen(readout)
            audit.validate(candidates, pair.id)
        await asyncio.gather(*(audit.settle() for audit in running))
        return [audit.result() for audit in audits]


class _Audit:
    """The state of one audit, filled step by step."""

    def __init__(self, auditor: StateAuditor, index: MemoryIndex, question: str, draft: str):
        self.auditor = auditor
        self.config: AuditConfig = auditor.config
        self.index = index
        self.draft = draft
        # What LMs read: field markers broken, so that neither can imitate the format.
        self.question = neutralise(question)
        self.safe_draft = neutralise(draft)
        self.run = AuditRun(auditor.backend, self.config.role_timeout)
        self.readout = Readout()
        self.premises: tuple[Premise, ...] = ()
        self.timeline: tuple[TimelineItem, ...] = ()
        self.checks: tuple[TransitionCheck, ...] = ()
        self.directives: tuple[Directive, ...] = ()
        self.response = draft

    def pair(self, name: str) -> QuestionDraftPair:
        return QuestionDraftPair(id=name, question=self.question, draft=self.safe_draft)

    def retrieve(self) -> bool:
        """Choose the evidence; False when that broke."""
        try:
            self.readout = self.index.retrieve(self.question, redact=redact)
        except Exception as error:  # noqa: BLE001  # fail open, whatever breaks
            self.run.fail(RoleName.RETRIEVAL, error)
            return False
        return True

    async def examine(self) -> None:
        """All findings on this pair alone."""
        if self.config.variant is Variant.LEAN:
            await self._examine_lean()
            return
        if not self.config.proposes:
            await self.examine_base()
            return
        expanded = self.readout
        if self.config.expand_evidence:
            expanded = self.index.expand(
                self.readout,
                [self.question],
                budget_tokens=self.config.expansion_tokens,
                redact=redact,
            )
        pair = self.pair("P1")
        _, candidates = await asyncio.gather(self.examine_base(), self.propose(expanded, [pair]))
        self.widen(expanded)
        self.validate(candidates, pair.id)

    def widen(self, readout: Readout) -> None:
        """Take the expanded evidence for the audit's readout; findings keep their lines."""
        places = relocated(self.readout, readout)
        self.premises = tuple(
            p.model_copy(update={"evidence": tuple(places[e] for e in p.evidence)})
            for p in self.premises
        )
        self.timeline = tuple(
            t.model_copy(update={"evidence": tuple(places[e] for e in t.evidence)})
            for t in self.timeline
        )
        self.readout = readout

    async def examine_base(self) -> None:
        """The base audit: both anchored passes, as far as the variant has them."""
        drafted, stated = await asyncio.gather(self._draft_anchored(), self._state_anchored())
        self.premises = drafted + stated

    async def _draft_anchored(self) -> tuple[Premise, ...]:
        if not self.config.draft_anchored:
            return ()
        auditor, run = self.auditor, self.run
        extracted, presupposed = await asyncio.gather(
            run.attempt(
                RoleName.PREMISE_EXTRACTION,
                lambda: auditor.premise_extractor.acall(
                    question=self.question, draft=self.safe_draft
                ),
            ),
            run.attempt(
                RoleName.PRESUPPOSITION_EXTRACTION,
                lambda: auditor.presupposition_extractor.acall(question=self.question),
            ),
        )
        unjudged: tuple[UnjudgedPremise, ...] = (extracted or ()) + (presupposed or ())
        if not unjudged:
            return ()
        readout = PromptReadout.of(self.readout)
        judged = await run.attempt(
            RoleName.PREMISE_ADJUDICATION,
            lambda: auditor.premise_adjudicator.acall(
                readout=readout, question=self.question, draft=self.safe_draft, premises=unjudged
            ),
        )
        return judged or ()

    async def _state_anchored(self) -> tuple[Premise, ...]:
        if not self.config.state_anchored:
            return ()
        auditor, run = self.auditor, self.run
        readout = PromptReadout.of(self.readout)
        timeline = await run.attempt(
            RoleName.TIMELINE_CONSTRUCTION,
            lambda: auditor.timeline_builder.acall(readout=readout),
        )
        self.timeline = timeline or ()
        changes = changed(self.timeline)
        if not changes:
            return ()
        found = await run.attempt(
            RoleName.DRAFT_CONSISTENCY,
            lambda: auditor.consistency_checker.acall(
                question=self.question, draft=self.safe_draft, changes=changes
            ),
        )
        return found or ()

    async def propose(
        self, readout: Readout, pairs: Sequence[QuestionDraftPair]
    ) -> tuple[TransitionCandidate, ...]:
        """Candidates from the proposer; none when it failed."""
        prompt = PromptReadout.of(readout)
        found = await self.run.attempt(
            RoleName.TRANSITION_PROPOSAL,
            lambda: self.auditor.transition_proposer.acall(readout=prompt, pairs=pairs),
        )
        return found or ()

    async def _examine_lean(self) -> None:
        pair = self.pair("P1")
        readout = PromptReadout.of(self.readout)
        found = await self.run.attempt(
            RoleName.LEAN_AUDIT,
            lambda: self.auditor.lean_auditor.acall(readout=readout, pair=pair),
        )
        if found is not None:
            self.premises, self.timeline = found.premises, found.timeline
            self.validate(found.candidates, pair.id)

    def validate(self, candidates: Sequence[TransitionCandidate], pair: str) -> None:
        """Check provenance and chronology of the candidates for this pair."""
        self.checks = check_transitions(
            candidates,
            self.readout.entries,
            pair=pair,
            threshold=self.config.coverage_threshold,
        )

    async def settle(self) -> None:
        """Second looks where asked for, directives, and the reply."""
        auditor, run = self.auditor, self.run
        if self.config.skeptic and any(map(challengeable, self.premises)):
            readout = PromptReadout.of(self.readout)
            kept = await run.attempt(
                RoleName.SKEPTIC,
                lambda: auditor.skeptic.acall(
                    readout=readout, question=self.question, premises=self.premises
                ),
            )
            self.premises = kept if kept is not None else self.premises
        if self.config.semantic_gate and any(
            check.status is CheckStatus.VERIFIED for check in self.checks
        ):
            gated = await run.attempt(
                RoleName.SEMANTIC_GATE,
                lambda: auditor.gate.acall(question=self.question, checks=self.checks),
            )
            self.checks = gated if gated is not None else self.checks
        self.directives = arbitrate(self.premises, self.checks, self.config.policy)
        if not may_rewrite(self.directives, self.config.policy):
            return
        typed = instructions(self.directives, self.premises, self.checks, self.readout.entries)
        reply = await run.attempt(RoleName.RESPONSE_ADAPTATION, lambda: self._adapted(typed))
        if reply is not None:
            self.response = reply

    async def _adapted(self, typed: Sequence[DirectiveInstruction]) -> str:
        reply: str = await self.auditor.reply_adapter.acall(
            question=self.question, draft=self.safe_draft, directives=typed
        )
        shown = {line.entry_id for line in self.readout.entries}
        texts = [entry.text for entry in self.index.sentences.entries if entry.id in shown]
        allowed = [self.question, self.draft, *(text for d in typed for text in d.evidence)]
        refuse_leaks(reply, texts=texts, allowed=allowed)
        return reply

    def result(self) -> AuditResult:
        """What there is so far, as the caller gets it."""
        calls = self.run.calls
        return AuditResult(
            response=self.response,
            draft=self.draft,
            changed=self.response != self.draft,
            backend=self.auditor.backend.label,
            policy=self.config.policy,
            variant=self.config.variant,
            directives=self.directives,
            premises=self.premises,
            timeline=self.timeline,
            transitions=self.checks,
            readout=self.readout.entries,
            calls=calls,
            usage=Usage.of(calls),
            failed_open=self.run.failures,
        )


def audit(
    memory: Any,
    question: str,
    draft: str,
    *,
    backend: str | Path | BackendConfig | Backend | dspy.LM = "offline",
    allow_undated: bool = False,
    **settings: Any,
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
