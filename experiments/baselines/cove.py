"""Factored chain of verification (Dhuliawala et al. 2024, Findings of ACL).

Verification questions are planned from the draft, each is answered from the memory in
a call that sees neither the draft nor the other questions, and the draft is rewritten to
agree with the answers. The answers run at once; calls: two and one a question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import dspy

from stateauditor.experiments.baselines import offline
from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.signatures.cove import (
    VERIFICATION_ANSWERING,
    VERIFICATION_PLANNING,
    VERIFIED_REVISION,
    AnsweredQuestion,
    VerificationAnswering,
    VerificationPlanning,
    VerifiedRevision,
)
from stateauditor.program.roles.registry import declare


class CoveBaseline(Baseline):
    """Plan, answer independently, rewrite."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.Predict(VerificationPlanning)
        self.answer = dspy.Predict(VerificationAnswering)
        self.revise = dspy.Predict(VerifiedRevision)

    async def aforward(self, *, case: Case) -> str:
        """The rewritten draft, or the draft where there is nothing to ask or to go by."""

        async def planned() -> list[str]:
            found = await self.plan.acall(question=case.question, draft=case.draft)
            return [check.text for check in found.checks][: case.settings.questions]

        async def revised() -> str:
            found = await self.revise.acall(
                question=case.question, draft=case.draft, answers=answered
            )
            return str(found.response)

        checks = await case.run.attempt(VERIFICATION_PLANNING, planned) or []
        answers = await case.run.attempts(
            VERIFICATION_ANSWERING, [self._answered(case, check) for check in checks]
        )
        answered = [
            AnsweredQuestion(question=check, answer=answer)
            for check, answer in zip(checks, answers, strict=True)
            if answer
        ]
        if not answered:
            return case.draft
        return await case.written(VERIFIED_REVISION, revised)

    def _answered(self, case: Case, check: str) -> Callable[[], Awaitable[str]]:
        async def answered() -> str:
            return str((await self.answer.acall(readout=case.readout, check=check)).answer).strip()

        return answered


declare(VERIFICATION_PLANNING, rules={VerificationPlanning: offline.plan_verification})
declare(VERIFICATION_ANSWERING, rules={VerificationAnswering: offline.answer_verification})
declare(VERIFIED_REVISION, rules={VerifiedRevision: offline.revise_verified})
