"""The baselines by arm, and one run of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stateauditor.experiments.baselines.base import Baseline, Case
from stateauditor.experiments.baselines.cove import CoveBaseline
from stateauditor.experiments.baselines.cupmem_summary import CupmemSummaryBaseline
from stateauditor.experiments.baselines.persona_alignment import PersonaAlignmentBaseline
from stateauditor.experiments.baselines.rarr_store import RarrStoreBaseline
from stateauditor.experiments.baselines.self_critique import SelfCritiqueBaseline
from stateauditor.experiments.baselines.settings import BaselineSettings
from stateauditor.experiments.baselines.timeline_conditioned import TimelineConditionedBaseline
from stateauditor.experiments.records import BaselineResult
from stateauditor.experiments.spec import Arm
from stateauditor.program.backends.backend import Backend
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.roles.audit_run import AuditRun, RoleName
from stateauditor.program.safety.screening import neutralise, redact
from stateauditor.signatures.models import Readout
from stateauditor.signatures.readout import PromptReadout

BASELINES: Final[Mapping[Arm, type[Baseline]]] = {
    Arm.SELF_CRITIQUE: SelfCritiqueBaseline,
    Arm.COVE: CoveBaseline,
    Arm.RARR_STORE: RarrStoreBaseline,
    Arm.CUPMEM_SUMMARY: CupmemSummaryBaseline,
    Arm.TIMELINE_CONDITIONED: TimelineConditionedBaseline,
    Arm.PERSONA_ALIGNMENT: PersonaAlignmentBaseline,
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
        run.fail(RoleName.AUDIT, error)
    return BaselineResult(
        response=reply,
        draft=draft,
        changed=reply != draft,
        readout=readout.entries,
        calls=run.calls,
        failed_open=run.failures,
    )
