"""Reviewer of the matched control: same evidence and budget, no transitions (section 6.1)."""

from __future__ import annotations

import dspy

from stateauditor.program.offline import answers
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.lean import lean_premise
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.models import Premise
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.reviewer import EVIDENCE_REVIEW, EvidenceReview


class Reviewer(Role):
    """Judges premises over the expanded evidence in one call."""

    def __init__(self) -> None:
        super().__init__()
        self.review = dspy.Predict(EvidenceReview)

    async def aforward(
        self, *, readout: PromptReadout, question: str, draft: str
    ) -> tuple[Premise, ...]:
        """The premises in the LM's order."""
        answer = await self.review.acall(readout=readout, question=question, draft=draft)
        ids = frozenset(entry.id for entry in readout.entries)
        return tuple(lean_premise(item, ids) for item in answer.premises)


declare(EVIDENCE_REVIEW, Reviewer, rules={EvidenceReview: answers.review_evidence})
