"""One audit, step by step: evidence, findings, checks, directives, reply (DESIGN.md section 3)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from stateauditor.program.arbiter import arbitrate, may_rewrite
from stateauditor.program.backends.backend import Backend
from stateauditor.program.channels import shared_evidence, shown_pairs
from stateauditor.program.config import AuditConfig
from stateauditor.program.readouts import relocated
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.roles.adapter import instructions, refuse_leaks
from stateauditor.program.roles.dependency import UnjudgedPremise
from stateauditor.program.roles.ensemble import Roles
from stateauditor.program.roles.skeptic import challengeable
from stateauditor.program.roles.temporal import changed
from stateauditor.program.run import AuditRun, RoleName
from stateauditor.program.safety import neutralise, redact
from stateauditor.program.validator import check_transitions
from stateauditor.signatures.adaptation import DirectiveInstruction
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
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.transition import QuestionDraftPair

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
            audit.run.fail(RoleName.AUDIT, error)


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

    def retrieve(self) -> bool:
        """Choose the evidence; False when that broke."""
        try:
            spoken = self.safe_draft if self.config.retrieval.draft_words else None
            self.readout = self.index.retrieve(self.question, draft=spoken, redact=redact)
        except Exception as error:  # noqa: BLE001  # fail open, whatever breaks
            self.run.fail(RoleName.RETRIEVAL, error)
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
        roles, run = self.roles, self.run
        extracted, presupposed = await asyncio.gather(
            run.attempt(
                RoleName.PREMISE_EXTRACTION,
                lambda: roles.premise_extractor.acall(
                    question=self.question, draft=self.safe_draft
                ),
            ),
            run.attempt(
                RoleName.PRESUPPOSITION_EXTRACTION,
                lambda: roles.presupposition_extractor.acall(question=self.question),
            ),
        )
        unjudged: tuple[UnjudgedPremise, ...] = (extracted or ()) + (presupposed or ())
        if not unjudged:
            return ()
        readout = PromptReadout.of(self.readout)
        judged = await run.attempt(
            RoleName.PREMISE_ADJUDICATION,
            lambda: roles.premise_adjudicator.acall(
                readout=readout, question=self.question, draft=self.safe_draft, premises=unjudged
            ),
        )
        return judged or ()

    async def _state_anchored(self) -> tuple[Premise, ...]:
        if not self.config.state_anchored:
            return ()
        roles, run = self.roles, self.run
        readout = PromptReadout.of(self.readout)
        timeline = await run.attempt(
            RoleName.TIMELINE_CONSTRUCTION,
            lambda: roles.timeline_builder.acall(readout=readout),
        )
        self.timeline = timeline or ()
        changes = changed(self.timeline)
        if not changes:
            return ()
        found = await run.attempt(
            RoleName.DRAFT_CONSISTENCY,
            lambda: roles.consistency_checker.acall(
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
            lambda: self.roles.transition_proposer.acall(readout=prompt, pairs=pairs),
        )
        return found or ()

    async def _review(self, readout: Readout) -> tuple[Premise, ...]:
        prompt = PromptReadout.of(readout)
        found = await self.run.attempt(
            RoleName.EVIDENCE_REVIEW,
            lambda: self.roles.reviewer.acall(
                readout=prompt, question=self.question, draft=self.safe_draft
            ),
        )
        return found or ()

    async def _examine_lean(self) -> None:
        pair = self.pair("P1")
        readout = PromptReadout.of(self.readout)
        found = await self.run.attempt(
            RoleName.LEAN_AUDIT,
            lambda: self.roles.lean_auditor.acall(readout=readout, pair=pair),
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
        roles, run = self.roles, self.run
        if self.config.skeptic and any(map(challengeable, self.premises)):
            readout = PromptReadout.of(self.readout)
            kept = await run.attempt(
                RoleName.SKEPTIC,
                lambda: roles.skeptic.acall(
                    readout=readout, question=self.question, premises=self.premises
                ),
            )
            self.premises = kept if kept is not None else self.premises
        if self.config.semantic_gate and any(
            check.status is CheckStatus.VERIFIED for check in self.checks
        ):
            gated = await run.attempt(
                RoleName.SEMANTIC_GATE,
                lambda: roles.gate.acall(question=self.question, checks=self.checks),
            )
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
        reply = await run.attempt(RoleName.RESPONSE_ADAPTATION, lambda: self._adapted(typed))
        if reply is not None:
            self.response = reply

    async def _adapted(self, typed: Sequence[DirectiveInstruction]) -> str:
        reply: str = await self.roles.reply_adapter.acall(
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
