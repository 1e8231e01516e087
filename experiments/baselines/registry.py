"""The baselines by the names of their arms, and one run of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.contract import BaselineResult, BaselineSettings
from stateauditor.experiments.baselines.cove import CoveBaseline
from stateauditor.experiments.baselines.cupmem_summary import CupmemSummaryBaseline
from stateauditor.experiments.baselines.persona_alignment import PersonaAlignmentBaseline
from stateauditor.experiments.baselines.rarr_store import RarrStoreBaseline
from stateauditor.experiments.baselines.self_critique import SelfCritiqueBaseline
from stateauditor.experiments.baselines.timeline_conditioned import TimelineConditionedBaseline
from stateauditor.program.backends.backend import Backend
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.program.roles.registry import stages
from stateauditor.program.safety.screening import neutralise, redact
from stateauditor.signatures.models import Readout
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import AUDIT

BASELINES: Final[Mapping[str, type[Baseline]]] = {
    "self_critique": SelfCritiqueBaseline,
    "cove": CoveBaseline,
    "rarr_store": RarrStoreBaseline,
    "cupmem_summary": CupmemSummaryBaseline,
    "timeline_conditioned": TimelineConditionedBaseline,
    "persona_alignment": PersonaAlignmentBaseline,
}


async def run_baseline(
    baseline: Baseline,
    backend: Backend,
    index: MemoryIndex,
    question: str,
    draft: str,
    settings: BaselineSettings,
) -> BaselineResult:
    """One reply; whatever breaks is on record, and the draft comes back byte for byte."""
    run = AuditRun(backend, None)
    readout, reply = Readout(), draft
    try:
        safe = neutralise(draft)
        readout = index.retrieve(question, redact=redact)
        case = Case(
            question=neutralise(question),
            draft=safe,
            readout=PromptReadout.of(readout),
            index=index,
            run=run,
            settings=settings,
        )
        written = await baseline.acall(case=case)
        reply = draft if written == safe else written
    except Exception as error:  # noqa: BLE001  # fail open, whatever breaks
        run.fail(AUDIT, error)
    return BaselineResult(
        response=reply,
        draft=draft,
        changed=reply != draft,
        readout=readout.entries,
        calls=run.calls,
        failed_open=run.failures,
    )


def every_stage() -> dict[str, int | None]:
    """The stage of each role by name, the steps of the baselines above included."""
    return stages()
