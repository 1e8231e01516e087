"""Run folders with records made by hand, for what only reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from stateauditor.experiments.runs.folder import RunFolder, new_manifest
from stateauditor.experiments.runs.records import (
    DIMENSIONS,
    ItemRecord,
    JudgedProbe,
    Judgment,
    ProbeRecord,
)
from stateauditor.experiments.runs.spec import parse_spec
from stateauditor.signatures.models import AuditResult, CallRecord, Policy, Variant

CALL = CallRecord(
    role="transition_proposal",
    model="openai/loop",
    input_tokens=100,
    output_tokens=10,
    cost=0.25,
    seconds=1.5,
)


def item(uid: str, *, judges: Mapping[str, bool] | None = None, **fields: Any) -> ItemRecord:
    """A scenario whose replies each judge passes or fails throughout."""
    kind: Literal["T1", "T2"] = "T1" if uid[-1] in "13579" else "T2"
    judgments = {
        name: Judgment(probes={d: JudgedProbe(passed=word, grounded=word) for d in DIMENSIONS})
        for name, word in (judges or {}).items()
    }
    defaults: dict[str, Any] = {
        "probes": {d: probe(uid, d) for d in DIMENSIONS},
        "judgments": judgments,
    }
    return ItemRecord(uid=uid, type=kind, **(defaults | fields))


def probe(uid: str, dimension: str) -> ProbeRecord:
    """A probe whose audit took one call and changed the reply."""
    reply = f"reply to {uid} {dimension}"
    result = AuditResult(
        response=reply,
        draft="draft",
        changed=True,
        backend="loop",
        policy=Policy.REPAIR_ONLY,
        variant=Variant.STRICT_VTA,
        calls=(CALL,),
    )
    return ProbeRecord(
        question=f"{dimension} of {uid}?", draft="draft", result=result, response=reply
    )


def run_folder(
    path: Path,
    count: int,
    *,
    judges: Mapping[str, bool] | None = None,
    controls: int = 0,
    failed: int = 0,
    **settings: Any,
) -> RunFolder:
    """A complete run: ``count`` conflicts, some controls, some that failed."""
    spec = parse_spec(
        {
            "name": path.name,
            "data": {"path": "data.json"},
            "arm": "strict_vta",
            "draws": 200,
            **settings,
        },
        source="test",
    )
    folder = RunFolder(path)
    folder.begin(
        spec,
        new_manifest(
            data_name="data.json",
            data_sha256="0" * 64,
            frozen_sha256=None,
            scenarios=count,
            backend="loop",
        ),
        resume=False,
    )
    for number in range(1, count + 1):
        folder.append(item(f"u{number:03d}", judges=judges))
    for number in range(1, controls + 1):
        folder.append(item(f"c{number:03d}", control=True))
    for number in range(1, failed + 1):
        folder.append(item(f"f{number:03d}", probes={}, error="HTTP 500"))
    return folder
