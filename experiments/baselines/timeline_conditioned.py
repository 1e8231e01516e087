"""Regeneration conditioned on the timeline, with no verdicts and no directives (section 6.3).

The Temporal role's timeline is built as in the state-anchored pass, and the reply is
written anew with it; nothing tests the draft. Two calls.
"""

from __future__ import annotations

import dspy

from stateauditor.experiments.baselines import offline
from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.signatures.timeline_conditioned import (
    TIMELINE_REGENERATION,
    TimelineRegeneration,
)
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.timeline import (
    TIMELINE_CONSTRUCTION,
    TimelineConstruction,
    TimelineEntry,
)


class TimelineConditionedBaseline(Baseline):
    """Timeline, then a new reply."""

    def __init__(self) -> None:
        super().__init__()
        self.construct = dspy.Predict(TimelineConstruction)
        self.regenerate = dspy.Predict(TimelineRegeneration)

    async def aforward(self, *, case: Case) -> str:
        """The new reply, or the draft where a step fails."""

        async def constructed() -> list[TimelineEntry]:
            return list((await self.construct.acall(readout=case.readout)).timeline)

        async def regenerated() -> str:
            found = await self.regenerate.acall(
                readout=case.readout, timeline=timeline, question=case.question, draft=case.draft
            )
            return str(found.response)

        timeline = await case.run.attempt(TIMELINE_CONSTRUCTION, constructed)
        if timeline is None:
            return case.draft
        return await case.written(TIMELINE_REGENERATION, regenerated)


declare(TIMELINE_REGENERATION, rules={TimelineRegeneration: offline.regenerate_from_timeline})
