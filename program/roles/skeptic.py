"""Optional second looks: the Skeptic on the base audit, the semantic gate on transitions."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from stateauditor.program.roles.base import Role, by_number
from stateauditor.signatures.models import (
    CheckStatus,
    Premise,
    Reason,
    TransitionCheck,
    Verdict,
)
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.skeptic import (
    ChallengedPremise,
    GatedTransition,
    SemanticGate,
    SkepticChallenge,
)


def challengeable(premise: Premise) -> bool:
    """Only findings that would fire a directive are worth a challenge."""
    return premise.material and premise.verdict is not Verdict.VALID


class Skeptic(Role):
    """Challenges material STALE and UNKNOWN premises; one that falls becomes immaterial."""

    def __init__(self) -> None:
        super().__init__()
        self.challenge = dspy.Predict(SkepticChallenge)

    async def aforward(
        self, *, readout: PromptReadout, question: str, premises: Sequence[Premise]
    ) -> tuple[Premise, ...]:
        """The premises in their order; a finding without a ruling stands."""
        positions = [i for i, premise in enumerate(premises) if challengeable(premise)]
        findings = [
            ChallengedPremise(
                number=number,
                text=premises[position].text,
                verdict=premises[position].verdict,
                current_value=premises[position].current_value,
            )
            for number, position in enumerate(positions, start=1)
        ]
        answer = await self.challenge.acall(readout=readout, question=question, findings=findings)
        rulings = by_number(answer.challenges, len(positions))
        fallen = {positions[n - 1] for n, ruling in rulings.items() if not ruling.upheld}
        return tuple(
            premise.model_copy(update={"material": False}) if i in fallen else premise
            for i, premise in enumerate(premises)
        )


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
