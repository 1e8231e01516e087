"""The floor: what the offline lexical rules repair on a slice in the Stale layout.

Every scenario's stale drafts are audited over its full history, once for the
conflict (a repair is right) and once for its control, where the old state still
holds (a repair is wrong). Prints true-change recall by probe and type, the share
of those repairs that rest on the annotated new statement, and the repair rate on
controls::

    python -m stateauditor.experiments.benchmarks.offline_floor SLICE_FOLDER

The folder holds conflicts.json, controls.json and keys.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.offline.label import LABEL
from stateauditor.program.offline.words import content_words
from stateauditor.signatures.models import AuditResult, CheckStatus, DirectiveKind, Policy

PROBES = ("dim1", "dim2", "dim3")


@dataclass(frozen=True)
class Outcome:
    """One audited draft."""

    control: bool
    kind: str
    probe: str
    repaired: bool
    on_evidence: bool
    seconds: float
    failed: int


def repaired(result: AuditResult) -> bool:
    """Whether any directive repairs."""
    return any(d.kind is DirectiveKind.REPAIR for d in result.directives)


def on_evidence(result: AuditResult, statement: str) -> bool:
    """Whether a verified transition quotes the annotated new statement."""
    gold = content_words(statement)
    return any(
        check.status is CheckStatus.VERIFIED
        and len(content_words(check.new.quote) & gold) * 2 > len(content_words(check.new.quote))
        for check in result.transitions
    )


def outcomes(folder: Path, auditor: StateAuditor) -> Iterator[Outcome]:
    """Audit every stale draft of a slice, over conflict and control."""
    keys: dict[str, Any] = _load(folder / "keys.json")
    conflicts: list[dict[str, Any]] = _load(folder / "conflicts.json")
    controls = {record["uid"]: record for record in _load(folder / "controls.json")}
    for conflict in conflicts:
        key = keys[conflict["uid"]]
        control = controls[key["control_uid"]]
        for record, kind in ((conflict, conflict["type"]), (control, key["control_kind"])):
            index = auditor.index(_memory(record))
            for probe in PROBES:
                question = record["probing_queries"][f"{probe}_query"]
                start = time.perf_counter()
                result = auditor.audit(index, question, key["stale_drafts"][probe])
                yield Outcome(
                    control=record is control,
                    kind=kind,
                    probe=probe,
                    repaired=repaired(result),
                    on_evidence=on_evidence(result, record["M_new"]),
                    seconds=time.perf_counter() - start,
                    failed=len(result.failed_open),
                )


def _memory(record: dict[str, Any]) -> list[dict[str, Any]]:
    sessions = zip(record["timestamps"], record["haystack_session"], strict=True)
    return [{"timestamp": time_, "turns": turns} for time_, turns in sessions]


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def report(found: list[Outcome]) -> str:
    """The figures as text."""
    conflicts = [o for o in found if not o.control]
    controls = [o for o in found if o.control]
    lines = [f"{LABEL}: {len(conflicts)} conflict drafts, {len(controls)} control drafts"]
    lines.append("true-change recall (repaired / drafts; in brackets: on the annotated statement)")
    for probe in PROBES:
        cells = [
            f"{kind} {_share([o for o in conflicts if (o.probe, o.kind) == (probe, kind)])}"
            for kind in sorted({o.kind for o in conflicts})
        ]
        lines.append(f"  {probe}  " + "   ".join(cells))
    lines.append(f"  all   {_share(conflicts)}")
    wrong = sum(o.repaired for o in controls)
    lines.append(
        f"controls repaired: {wrong}/{len(controls)} ({wrong / max(1, len(controls)):.1%})"
    )
    kinds = Counter(o.kind for o in controls if o.repaired)
    if kinds:
        lines.append("  by kind: " + ", ".join(f"{k} {n}" for k, n in sorted(kinds.items())))
    lines.append(f"roles failed open: {sum(o.failed for o in found)}")
    lines.append(f"median seconds an audit: {statistics.median(o.seconds for o in found):.3f}")
    return "\n".join(lines)


def _share(some: list[Outcome]) -> str:
    hits, exact = sum(o.repaired for o in some), sum(o.on_evidence for o in some)
    return f"{hits}/{len(some)} [{exact}]"


def main() -> None:
    """Read the folder from the command line and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "folder", type=Path, help="a slice: conflicts.json, controls.json, keys.json"
    )
    parser.add_argument("--variant", default="strict_vta", help="which passes run")
    args = parser.parse_args()
    auditor = StateAuditor("offline", variant=args.variant, policy=Policy.REPAIR_ONLY)
    print(report(list(outcomes(args.folder, auditor))))


if __name__ == "__main__":
    main()
