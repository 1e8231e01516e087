"""The combined audit call of the ``lean`` variant."""

from __future__ import annotations

from dataclasses import dataclass

import dspy

from stateauditor.program.offline import answers
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.premises import UnjudgedPremise, judged_premise
from stateauditor.program.roles.proposer import candidate
from stateauditor.program.roles.registry import declare
from stateauditor.program.roles.timeline import timeline_item
from stateauditor.signatures.lean import LEAN_AUDIT, LeanAudit, LeanPremise
from stateauditor.signatures.models import Premise, TimelineItem, TransitionCandidate
from stateauditor.signatures.proposer import QuestionDraftPair
from stateauditor.signatures.readout import PromptReadout


@dataclass(frozen=True, slots=True)
class LeanFindings:
    """What one lean call found."""

    premises: tuple[Premise, ...]
    timeline: tuple[TimelineItem, ...]
    candidates: tuple[TransitionCandidate, ...]


class LeanAuditor(Role):
    """Asks for premises, timeline and transitions at once."""

    def __init__(self) -> None:
        super().__init__()
        self.audit = dspy.Predict(LeanAudit)

    async def aforward(self, *, readout: PromptReadout, pair: QuestionDraftPair) -> LeanFindings:
        """The three findings for one question-draft pair."""
        answer = await self.audit.acall(readout=readout, pairs=[pair])
        ids = frozenset(entry.id for entry in readout.entries)
        return LeanFindings(
            premises=tuple(lean_premise(item, ids) for item in answer.premises),
            timeline=tuple(timeline_item(item, ids) for item in answer.timeline),
            candidates=tuple(candidate(item, frozenset({pair.id})) for item in answer.transitions),
        )


def lean_premise(item: LeanPremise, readout_ids: frozenset[str]) -> Premise:
    """A wire premise as a contract: found and judged in the same call."""
    return judged_premise(UnjudgedPremise(item.text, item.origin), item, readout_ids)


declare(LEAN_AUDIT, LeanAuditor, rules={LeanAudit: answers.audit_lean})
