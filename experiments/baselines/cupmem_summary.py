"""An adjudicated summary in the generator's context, after CUPMem (Chao et al. 2026, Stale).

The user's current state is adjudicated from the readout, and the question answered anew
with it; the draft is not looked at and nothing is audited. It asks whether showing the
generator a resolved state is enough. CUPMem itself adjudicates when memories are written;
this analogue does so when they are read. Two calls.
"""

from __future__ import annotations

import dspy

from stateauditor.experiments.baselines import offline
from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.signatures.cupmem_summary import (
    STATE_SUMMARY,
    SUMMARY_GENERATION,
    StateRecord,
    StateSummary,
    SummaryGeneration,
)
from stateauditor.program.roles.registry import declare


class CupmemSummaryBaseline(Baseline):
    """Summary, then a new answer."""

    def __init__(self) -> None:
        super().__init__()
        self.summarise = dspy.Predict(StateSummary)
        self.generate = dspy.Predict(SummaryGeneration)

    async def aforward(self, *, case: Case) -> str:
        """The new answer, or the draft where a step fails."""

        async def summarised() -> list[StateRecord]:
            return list((await self.summarise.acall(readout=case.readout)).states)

        async def generated() -> str:
            found = await self.generate.acall(
                readout=case.readout, states=states, question=case.question
            )
            return str(found.response)

        states = await case.run.attempt(STATE_SUMMARY, summarised)
        if states is None:
            return case.draft
        return await case.written(SUMMARY_GENERATION, generated)


declare(STATE_SUMMARY, rules={StateSummary: offline.summarise_state})
declare(SUMMARY_GENERATION, rules={SummaryGeneration: offline.generate_from_summary})
