"""Skeptic: an optional second look at the base audit's findings."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from stateauditor.program.offline import answers
from stateauditor.program.roles.base import Role, by_number
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.models import (
    Premise,
    Verdict,
)
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.skeptic import (
    SKEPTIC,
    ChallengedPremise,
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


declare(SKEPTIC, Skeptic, rules={SkepticChallenge: answers.challenge_findings})
