"""One audit, step by step: evidence, findings, checks, directives, reply (DESIGN.md section 3)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from stateauditor.program.arbiter import arbitrate, may_rewrite
from stateauditor.program.backends.backend import Backend
from stateauditor.program.channels import shared_evidence, shown_pairs
from stateauditor.program.config import AuditConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.merging import relocated
from stateauditor.program.roles.adapter import instructions, refuse_leaks
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.program.roles.ensemble import Roles
from stateauditor.program.roles.premises import UnjudgedPremise
from stateauditor.program.roles.skeptic import challengeable
from stateauditor.program.roles.timeline import changed
from stateauditor.program.safety.screening import neutralise, redact
from stateauditor.program.standing import without_closed_values
from stateauditor.program.validator import check_transitions
from stateauditor.signatures.adapter import RESPONSE_ADAPTATION, DirectiveInstruction
from stateauditor.signatures.gate import SEMANTIC_GATE
from stateauditor.signatures.lean import LEAN_AUDIT
from stateauditor.signatures.models import (
    AuditResult,
    BaseAudit,
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
from stateauditor.signatures.premises import (
    PREMISE_ADJUDICATION,
    PREMISE_EXTRACTION,
    PRESUPPOSITION_EXTRACTION,
)
from stateauditor.signatures.proposer import TRANSITION_PROPOSAL, QuestionDraftPair
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.reviewer import EVIDENCE_REVIEW
from stateauditor.signatures.skeptic import SKEPTIC
from stateauditor.signatures.step import AUDIT, RETRIEVAL, Card
from stateauditor.signatures.timeline import DRAFT_CONSISTENCY, TIMELINE_CONSTRUCTION

Pair = tuple[str, str]  # question, draft


@contextmanager
def failing_open(audits: Sequence[Audit]) -> Iterator[None]:
    """Whatever breaks in the block, outside any role, is put on record with every audit.

    What an audit has found until then stays, and its reply is the draft.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001  # fail open, whatever breaks
        for audit in audits:
            audit.run.fail(AUDIT, error)


class Audit:
    """The state of one audit, filled step by step."""

    def __init__(
        self,
        roles: Roles,
        backend: Backend,
        config: AuditConfig,
        index: MemoryIndex,
        pair: Pair,
        base: BaseAudit | None,
    ) -> None:
        question, draft = pair
        self.base = base
        self.siblings: tuple[Audit, ...] = ()  # the other probes, for channels between them
        self.roles = roles
        self.backend = backend
        self.config = config
        self.index = index
        self.draft = draft
        # What LMs read: field markers broken, so that neither can imitate the format.
        self.question = neutralise(question)
        self.safe_draft = neutralise(draft)
        self.run = AuditRun(backend, config.role_timeout)
        self.readout = Readout()
        self.premises: tuple[Premise, ...] = ()
        self.timeline: tuple[TimelineItem, ...] = ()
        self.checks: tuple[TransitionCheck, ...] = ()
        self.directives: tuple[Directive, ...] = ()
        self.response = draft

    def pair(self, name: str) -> QuestionDraftPair:
        """The pair as the proposer reads it, under a name that transitions can refer to."""
        return QuestionDraftPair(id=name, question=self.question, draft=self.safe_draft)

    async def ask(self, card: Card, **inputs: Any) -> Any | None:
        """A role's answer, or None when it failed."""
        return await self.run.attempt(card, lambda: self.roles.of(card).acall(**inputs))

    def retrieve(self) -> bool:
        """Choose the evidence; False when that broke."""
        try:
            self.readout = self.index.retrieve(self.question, redact=redact)
        except Exception as error:  # noqa: BLE001  # fail open, whatever breaks
            self.run.fail(RETRIEVAL, error)
            return False
        return True

    async def examine(self) -> None:
        """All findings on this pair alone."""
        if self.config.variant is Variant.LEAN:
            await self._examine_lean()
        elif self.config.proposes:
            pair = self.pair("P1")
            others = [s.pair(f"P{n}") for n, s in enumerate(self.siblings, start=2)]
            pairs = shown_pairs(pair, others, self.config.channels)
            expanded = self._expanded()
            _, candidates = await asyncio.gather(self.examine_base(), self.propose(expanded, pairs))
            self.widen(expanded)
            self.validate(candidates, pair.id)
        elif self.config.reviews:
            expanded = self._expanded()
            _, reviewed = await asyncio.gather(self.examine_base(), self._review(expanded))
            self.widen(expanded)
            self.premises += reviewed
        else:
            await self.examine_base()

    def _expanded(self) -> Readout:
        if not self.config.expand_evidence:
            return self.readout
        readout, questions = shared_evidence(
            (self.readout, self.question),
            [(audit.readout, audit.question) for audit in self.siblings],
            self.config.channels,
        )
        return self.index.expand(
            readout,
            questions,
            budget_tokens=self.config.expansion_tokens,
            redact=redact,
        )

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
        """The base audit: both anchored passes, as far as the variant has them, or a given one."""
        if self.base is not None:
            self.premises, self.timeline = self.base.premises, self.base.timeline
            return
        drafted, stated = await asyncio.gather(self._draft_anchored(), self._state_anchored())
        self.premises = drafted + stated

    async def _draft_anchored(self) -> tuple[Premise, ...]:
        if not self.config.draft_anchored:
            return ()
        extracted, presupposed = await asyncio.gather(
            self.ask(PREMISE_EXTRACTION, question=self.question, draft=self.safe_draft),
            self.ask(PRESUPPOSITION_EXTRACTION, question=self.question),
        )
        unjudged: tuple[UnjudgedPremise, ...] = (extracted or ()) + (presupposed or ())
        if not unjudged:
            return ()
        readout = PromptReadout.of(self.readout)
        judged: tuple[Premise, ...] | None = await self.ask(
            PREMISE_ADJUDICATION,
            readout=readout,
            question=self.question,
            draft=self.safe_draft,
            premises=unjudged,
        )
        return judged or ()

    async def _state_anchored(self) -> tuple[Premise, ...]:
        if not self.config.state_anchored:
            return ()
        readout = PromptReadout.of(self.readout)
        self.timeline = await self.ask(TIMELINE_CONSTRUCTION, readout=readout) or ()
        changes = changed(self.timeline)
        if not changes:
            return ()
        found: tuple[Premise, ...] | None = await self.ask(
            DRAFT_CONSISTENCY, question=self.question, draft=self.safe_draft, changes=changes
        )
        return found or ()

    async def propose(
        self, readout: Readout, pairs: Sequence[QuestionDraftPair]
    ) -> tuple[TransitionCandidate, ...]:
        """Candidates from the proposer; none when it failed."""
        prompt = PromptReadout.of(readout)
        found: tuple[TransitionCandidate, ...] | None = await self.ask(
            TRANSITION_PROPOSAL, readout=prompt, pairs=pairs
        )
        return found or ()

    async def _review(self, readout: Readout) -> tuple[Premise, ...]:
        prompt = PromptReadout.of(readout)
        found: tuple[Premise, ...] | None = await self.ask(
            EVIDENCE_REVIEW, readout=prompt, question=self.question, draft=self.safe_draft
        )
        return found or ()

    async def _examine_lean(self) -> None:
        pair = self.pair("P1")
        readout = PromptReadout.of(self.readout)
        found = await self.ask(LEAN_AUDIT, readout=readout, pair=pair)
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
        self.premises = without_closed_values(self.premises, self.readout.entries)
        if self.config.skeptic and any(map(challengeable, self.premises)):
            readout = PromptReadout.of(self.readout)
            kept = await self.ask(
                SKEPTIC, readout=readout, question=self.question, premises=self.premises
            )
            self.premises = kept if kept is not None else self.premises
        if self.config.semantic_gate and any(
            check.status is CheckStatus.VERIFIED for check in self.checks
        ):
            gated = await self.ask(SEMANTIC_GATE, question=self.question, checks=self.checks)
            self.checks = gated if gated is not None else self.checks
        self.directives = arbitrate(
            self.premises,
            self.checks,
            self.config.policy,
            labels=self.config.labels,
            validation=self.config.validation,
            verified_only=self.config.verified_only,
        )
        if not may_rewrite(self.directives, self.config.policy):
            return
        typed = instructions(self.directives, self.premises, self.checks, self.readout.entries)
        reply = await self.run.attempt(RESPONSE_ADAPTATION, lambda: self._adapted(typed))
        if reply is not None:
            self.response = reply

    async def _adapted(self, typed: Sequence[DirectiveInstruction]) -> str:
        reply: str = await self.roles.of(RESPONSE_ADAPTATION).acall(
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
            backend=self.backend.label,
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
