"""Semantic gate: an optional second look at verified transitions."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from stateauditor.program.offline import answers
from stateauditor.program.roles.base import Role, by_number
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.gate import SEMANTIC_GATE, GatedTransition, SemanticGate
from stateauditor.signatures.models import CheckStatus, Reason, TransitionCheck


class Gate(Role):
    """Asks of each verified transition whether the newer statement ends the older."""

    def __init__(self) -> None:
        super().__init__()
        self.rule = dspy.Predict(SemanticGate)

    async def aforward(
        self, *, question: str, checks: Sequence[TransitionCheck]
    ) -> tuple[TransitionCheck, ...]:
        """The checks in their order; a verified one that the gate denies is rejected."""
        positions = [i for i, c in enumerate(checks) if c.status is CheckStatus.VERIFIED]
        gated = [
            GatedTransition(
                number=number,
                attribute=checks[position].attribute,
                old_value=checks[position].old_value,
                old_statement=f"{checks[position].old.timestamp}: {checks[position].old.quote}",
                new_value=checks[position].new_value,
                new_statement=f"{checks[position].new.timestamp}: {checks[position].new.quote}",
            )
            for number, position in enumerate(positions, start=1)
        ]
        answer = await self.rule.acall(question=question, transitions=gated)
        rulings = by_number(answer.rulings, len(positions))
        denied = {positions[n - 1] for n, ruling in rulings.items() if not ruling.supersedes}
        return tuple(
            check.model_copy(
                update={
                    "status": CheckStatus.REJECTED,
                    "reasons": (*check.reasons, Reason.SEMANTIC_GATE),
                }
            )
            if i in denied
            else check
            for i, check in enumerate(checks)
        )


declare(SEMANTIC_GATE, Gate, rules={SemanticGate: answers.gate_transitions})
