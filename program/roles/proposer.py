"""Proposer: candidate transitions for one pair, or for all probes of a scenario (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from stateauditor.program.offline import answers
from stateauditor.program.roles import example
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.models import TransitionCandidate
from stateauditor.signatures.proposer import (
    TRANSITION_PROPOSAL,
    ProposedTransition,
    QuestionDraftPair,
    TransitionProposal,
)
from stateauditor.signatures.readout import PromptReadout


class TransitionProposer(Role):
    """Proposes; the validator decides."""

    def __init__(self) -> None:
        super().__init__()
        self.propose = dspy.Predict(TransitionProposal)

    async def aforward(
        self, *, readout: PromptReadout, pairs: Sequence[QuestionDraftPair]
    ) -> tuple[TransitionCandidate, ...]:
        """Candidates in the LM's order."""
        answer = await self.propose.acall(readout=readout, pairs=list(pairs))
        ids = frozenset(pair.id for pair in pairs)
        return tuple(candidate(item, ids) for item in answer.transitions)


def candidate(item: ProposedTransition, pair_ids: frozenset[str]) -> TransitionCandidate:
    """A wire item as a contract; pair ids that do not exist are left out.

    Under a single pair every application is to that pair, whatever the LM called it.
    """
    applies = tuple(dict.fromkeys(name.strip().upper() for name in item.applies_to))
    known = tuple(name for name in applies if name in pair_ids)
    return TransitionCandidate(
        attribute=item.attribute,
        old_value=item.old_value,
        new_value=item.new_value,
        old_quote=item.old_quote,
        new_quote=item.new_quote,
        causal_path=tuple(item.causal_path),
        applies_to=() if len(pair_ids) == 1 else known,
        # Named pairs that all turn out not to exist are no application at all.
        material=item.material and (len(pair_ids) == 1 or bool(known)),
    )


declare(
    TRANSITION_PROPOSAL,
    TransitionProposer,
    rules={TransitionProposal: answers.propose_transitions},
    example=example.proposal,
)
