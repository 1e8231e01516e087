"""RARR with the memory as its store (Gao et al. 2023, ACL): research, then revise.

Queries are written for what the draft says; for each, evidence is looked up in the
memory, a gate compares it with the reply as it stands, and only a disagreement is
edited. As in RARR the queries follow each other, each seeing the edits before it.
Calls: one, one a query, and one an edit.
"""

from __future__ import annotations

from dataclasses import replace

import dspy

from stateauditor.experiments.baselines import offline
from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.signatures.rarr_store import (
    AGREEMENT_GATE,
    EVIDENCE_EDITING,
    QUERY_GENERATION,
    Agreement,
    AgreementGate,
    EvidenceEditing,
    QueryGeneration,
)
from stateauditor.program.roles.registry import declare
from stateauditor.program.safety.screening import neutralise


class RarrStoreBaseline(Baseline):
    """Queries, agreement gate, edits."""

    def __init__(self) -> None:
        super().__init__()
        self.ask = dspy.Predict(QueryGeneration)
        self.gate = dspy.Predict(AgreementGate)
        self.edit = dspy.Predict(EvidenceEditing)

    async def aforward(self, *, case: Case) -> str:
        """The draft with each disagreement edited out."""

        async def asked() -> list[str]:
            found = await self.ask.acall(question=case.question, draft=case.draft)
            return [query.text for query in found.queries][: case.settings.questions]

        reply = case.draft
        for query in await case.run.attempt(QUERY_GENERATION, asked) or []:
            reply = await self._checked(replace(case, draft=neutralise(reply)), query, reply)
        return reply

    async def _checked(self, case: Case, query: str, reply: str) -> str:
        """The reply after one query: edited where the evidence disagrees with it."""
        shared = {
            "readout": case.look_up(query),
            "query": query,
            "question": case.question,
            "draft": case.draft,
        }

        async def gated() -> Agreement:
            ruling: Agreement = (await self.gate.acall(**shared)).ruling.agreement
            return ruling

        async def edited() -> str:
            return str((await self.edit.acall(**shared)).response)

        if await case.run.attempt(AGREEMENT_GATE, gated) is not Agreement.DISAGREES:
            return reply
        written = await case.written(EVIDENCE_EDITING, edited)
        return reply if written == case.draft else written


declare(QUERY_GENERATION, rules={QueryGeneration: offline.generate_queries})
declare(AGREEMENT_GATE, rules={AgreementGate: offline.gate_agreement})
declare(EVIDENCE_EDITING, rules={EvidenceEditing: offline.edit_by_evidence})
