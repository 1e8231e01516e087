"""Alignment after generation, after Post Persona Alignment (Chen et al. 2025, Findings of EMNLP).

The draft is written without regard to the persona; the facts that matter for it are then
selected from the user's profile as of now, and the draft is aligned with them. No verdict
tells a fact that has ended from one that holds. One call, two where there are facts.
"""

from __future__ import annotations

import dspy

from stateauditor.experiments.baselines import offline
from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.signatures.persona_alignment import (
    PERSONA_ALIGNMENT,
    PERSONA_SELECTION,
    PersonaAlignment,
    PersonaFact,
    PersonaSelection,
)
from stateauditor.program.roles.registry import declare


class PersonaAlignmentBaseline(Baseline):
    """Selection of facts, then alignment."""

    def __init__(self) -> None:
        super().__init__()
        self.select = dspy.Predict(PersonaSelection)
        self.align = dspy.Predict(PersonaAlignment)

    async def aforward(self, *, case: Case) -> str:
        """The aligned draft, or the draft where no fact matters or a step fails."""

        async def selected() -> list[PersonaFact]:
            found = await self.select.acall(
                readout=case.readout, question=case.question, draft=case.draft
            )
            return list(found.persona)

        async def aligned() -> str:
            found = await self.align.acall(
                question=case.question, draft=case.draft, persona=persona
            )
            return str(found.response)

        persona = await case.run.attempt(PERSONA_SELECTION, selected)
        if not persona:
            return case.draft
        return await case.written(PERSONA_ALIGNMENT, aligned)


declare(PERSONA_SELECTION, rules={PersonaSelection: offline.select_persona})
declare(PERSONA_ALIGNMENT, rules={PersonaAlignment: offline.align_with_persona})
