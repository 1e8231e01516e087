"""Base audits that an earlier run made, for arms that share them (paper, section 6.1).

Frozen means frozen: a base that was made of other data, evidence or drafts is another
base, and everything in which it differs is named at once. What it cost is carried along,
so that an arm that inherits its base audits does not look cheaper than it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stateauditor.data.scenario import ByDimension
from stateauditor.experiments.runs.audited import Arm
from stateauditor.experiments.runs.folder import Inherited, Manifest, RunFolder
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord
from stateauditor.experiments.runs.scenarios import Source
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import BaseAudit, Totals

Bases = Mapping[str, Mapping[str, BaseAudit]]
Drafts = Mapping[str, ByDimension[str]]

_OFF_THE_AUDIT = ("response_generation", "stale_judgment", "response_adaptation")
"""Roles whose calls are no part of a base audit."""

_SHOWN = 5


def given_bases(spec: RunSpec, source: Source, drafts: Drafts | None) -> Bases | None:
    """Base audits by uid and dimension, or None where the auditor makes them.

    Raises :class:`ConfigError` that names every difference between the two runs, and
    the scenarios that the base lacks unless ``allow_missing`` is set.
    """
    if spec.base_audit_from is None:
        return None
    folder = RunFolder(spec.base_audit_from)
    base, manifest = folder.spec(), folder.manifest()
    wrong = list(_differences(spec, source, base, manifest))
    if drafts is None:
        wrong.append(f"drafts: new ones would be written here; set drafts_from: {folder.path}")
    found: dict[str, dict[str, BaseAudit]] = {}
    other: list[str] = []
    for item in folder.items():
        audits = _audits(item)
        if len(audits) == len(DIMENSIONS):
            found[item.uid] = audits
            if drafts is not None and item.uid in drafts and _drafts(item) != drafts[item.uid]:
                other.append(item.uid)
    if other:
        wrong.append(f"other drafts for {_listed(other)}; give both runs the same drafts_from")
    missing = [uid for uid in source.uids if uid not in found]
    if missing and not spec.allow_missing:
        wrong.append(
            f"no base audit of {_listed(missing)}; finish that run, or set allow_missing: true "
            "to audit these afresh"
        )
    if wrong:
        lines = "\n".join(f"  {line}" for line in wrong)
        raise ConfigError(f"base_audit_from: {folder.path} does not fit this run\n{lines}")
    return found


def inherited(spec: RunSpec, source: Source) -> Inherited | None:
    """What the base audits of a run's scenarios cost, and what failed in them."""
    if spec.base_audit_from is None:
        return None
    wanted = set(source.uids)
    results = [
        probe.result
        for item in RunFolder(spec.base_audit_from).items()
        if item.uid in wanted
        for probe in item.probes.values()
        if probe.result is not None
    ]
    calls = [c for r in results for c in r.calls if c.role not in _OFF_THE_AUDIT]
    failed = [f for r in results for f in r.failed_open if f.role not in _OFF_THE_AUDIT]
    return Inherited(total=Totals.of(calls), failed_roles=len(failed))


def _differences(spec: RunSpec, source: Source, base: RunSpec, manifest: Manifest) -> Iterator[str]:
    """In words, what would make the base's findings be about something else."""
    if base.arm is not Arm.PREDECESSOR:
        yield f"it is no run of the arm predecessor but of {base.arm.value}"
    places: tuple[tuple[str, Any, Any], ...] = (
        ("data", manifest.data_sha256, source.sha256),
        ("memory", base.memory.value, spec.memory.value),
        ("audit.labels", base.audit.labels.value, spec.audit.labels.value),
        ("compiled", base.compiled, spec.compiled),
        *_retrieval(spec, base),
    )
    for name, theirs, ours in places:
        if theirs != ours:
            yield f"{name}: {theirs} there, {ours} here"


def _retrieval(spec: RunSpec, base: RunSpec) -> Iterator[tuple[str, Any, Any]]:
    theirs, ours = (s.audit.retrieval.model_dump(mode="json") for s in (base, spec))
    for name, value in ours.items():
        yield f"audit.retrieval.{name}", theirs[name], value


def _audits(item: ItemRecord) -> dict[str, BaseAudit]:
    return {
        dimension: BaseAudit(premises=probe.result.premises, timeline=probe.result.timeline)
        for dimension, probe in item.probes.items()
        if probe.result is not None
    }


def _drafts(item: ItemRecord) -> ByDimension[str]:
    return ByDimension(*(str(item.probes[dimension].draft) for dimension in DIMENSIONS))


def _listed(uids: list[str]) -> str:
    rest = len(uids) - _SHOWN
    shown = ", ".join(uids[:_SHOWN])
    return f"{len(uids)} scenario(s): {shown}{f' and {rest} more' if rest > 0 else ''}"
