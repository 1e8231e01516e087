"""StaleJudge: one call scores the three answers of a scenario."""

from __future__ import annotations

from collections.abc import Mapping

import dspy

from stateauditor.program.roles import example
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declare
from stateauditor.program.safety.screening import neutralise
from stateauditor.signatures.judge import STALE_JUDGMENT, JudgedAnswer, StaleJudgment

DIMENSIONS = ("SR", "PR", "IPA")


class StaleJudge(Role):
    """Judges SR, PR and IPA together, once all three answers exist."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict(StaleJudgment)

    async def aforward(
        self,
        *,
        old_state: str,
        new_state: str,
        explanation: str,
        questions: Mapping[str, str],
        answers: Mapping[str, str],
    ) -> dict[str, JudgedAnswer]:
        """The scores by dimension; ``questions`` and ``answers`` are keyed SR, PR, IPA."""
        inputs = {}
        for dimension in DIMENSIONS:
            inputs[f"{dimension.lower()}_question"] = neutralise(questions[dimension])
            inputs[f"{dimension.lower()}_answer"] = neutralise(answers[dimension])
        answer = await self.judge.acall(
            old_state=old_state, new_state=new_state, explanation=explanation, **inputs
        )
        return {dimension: getattr(answer, dimension.lower()) for dimension in DIMENSIONS}


declare(STALE_JUDGMENT, StaleJudge, example=lambda: example.judgment(DIMENSIONS))
