"""Prompt-based self-critique (Zhao et al. 2025, "Do LLMs Recognize Your Preferences?", ICLR).

The generator criticises its own draft against what the user has said, then revises it.
One call, two where there is a fault.
"""

from __future__ import annotations

import dspy

from stateauditor.experiments.baselines import offline
from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.signatures.self_critique import (
    CRITIQUE_REVISION,
    SELF_CRITIQUE,
    CritiqueRevision,
    Fault,
    SelfCritique,
)
from stateauditor.program.roles.registry import declare


class SelfCritiqueBaseline(Baseline):
    """Critique, then revision."""

    def __init__(self) -> None:
        super().__init__()
        self.criticise = dspy.Predict(SelfCritique)
        self.revise = dspy.Predict(CritiqueRevision)

    async def aforward(self, *, case: Case) -> str:
        """The revised draft, or the draft where the critique finds no fault."""
        shared = {"readout": case.readout, "question": case.question, "draft": case.draft}

        async def criticised() -> list[Fault]:
            return list((await self.criticise.acall(**shared)).faults)

        async def revised() -> str:
            return str((await self.revise.acall(**shared, faults=faults)).response)

        faults = await case.run.attempt(SELF_CRITIQUE, criticised)
        if not faults:
            return case.draft
        return await case.written(CRITIQUE_REVISION, revised)


declare(SELF_CRITIQUE, rules={SelfCritique: offline.criticise})
declare(CRITIQUE_REVISION, rules={CritiqueRevision: offline.revise})
