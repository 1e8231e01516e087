"""What a grid is: a run's config, and cells that change some of its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from stateauditor.experiments.runs.audited import AUDIT, Arm, read_by_arm, under_audit
from stateauditor.experiments.runs.config_files import locate, merged, read_mapping
from stateauditor.experiments.runs.spec import (
    DraftSource,
    RunSpec,
    parse_spec,
)
from stateauditor.signatures.edge import Strict, validated
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Labels, Policy

REFERENCE: Final = "full"
"""The base as it is: what every cell is compared with."""
SHARED: Final = "shared"
"""The run whose drafts, and base audits, all others start from."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class Share(StrEnum):
    """What the runs of a grid have in common, made once."""

    BASE_AUDIT = "base_audit"
    """Drafts, and base audits wherever a cell changes nothing that they depend on."""
    DRAFTS = "drafts"


class GridSpec(Strict):
    """A grid of paired runs.

    ``base`` is a run's config without a name. Each cell names the settings in which it
    differs from the base; nested ones are merged. ``max_cost`` is in US dollars, for all
    runs together.
    """

    name: Name
    base: dict[str, Any]
    cells: dict[Name, dict[str, Any]] = Field(min_length=1)
    share: Share = Share.DRAFTS
    max_cost: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _in_one_place(self) -> Self:
        """The settings of the audit stand under ``audit:`` in the base and in every cell."""
        object.__setattr__(self, "base", under_audit(self.base)[0])
        cells = {name: under_audit(cell)[0] for name, cell in self.cells.items()}
        object.__setattr__(self, "cells", cells)
        return self


class Plan(BaseModel):
    """The runs of a grid, in their order; ``shared`` goes first and is never compared."""

    model_config = ConfigDict(frozen=True)

    name: str
    shared: RunSpec
    runs: dict[str, RunSpec]
    changed: dict[str, dict[str, Any]]
    max_cost: float | None


def load_grid(path: str | Path, overrides: Sequence[str] = ()) -> GridSpec:
    """Read a grid, a file or a shipped one by name; overrides are ``base.data.limit=5``.

    Raises :class:`ConfigError` that lists everything wrong.
    """
    found = locate(path, "ablations")
    return validated(GridSpec, read_mapping(found, overrides), source=str(found))


def plan(grid: GridSpec, out: Path, *, source: str = "grid") -> Plan:
    """The specs of all runs; every one is checked before anything runs."""
    if REFERENCE in grid.cells or SHARED in grid.cells:
        raise ConfigError(f"{source}: {REFERENCE!r} and {SHARED!r} are no names for a cell")
    base = {**grid.base, "name": REFERENCE}
    reference = parse_spec(base, source=f"{source}, base")
    shared = _shared(reference, grid.share)
    runs = {
        name: _paired(
            parse_spec(
                {**merged(_for_arm(base, cell), cell), "name": name},
                source=f"{source}, cells.{name}",
            ),
            reference,
            shared,
            out / SHARED,
        )
        for name, cell in {REFERENCE: {}, **grid.cells}.items()
    }
    for name, spec in runs.items():
        if spec.data != reference.data:
            raise ConfigError(f"{source}, cells.{name}: a cell on other data cannot be paired")
    return Plan(
        name=grid.name, shared=shared, runs=runs, changed=grid.cells, max_cost=grid.max_cost
    )


def _for_arm(base: Mapping[str, Any], cell: Mapping[str, Any]) -> dict[str, Any]:
    """The base without those settings of its audit that the cell's arm does not read."""
    arm = cell.get("arm")
    if arm is None or not isinstance(base.get(AUDIT), dict):
        return dict(base)
    return {**base, AUDIT: read_by_arm(base[AUDIT], str(arm))}


def _shared(reference: RunSpec, share: Share) -> RunSpec:
    """Drafts, and base audits where they are shared: nothing is rewritten and nothing judged."""
    arm = Arm.PREDECESSOR if share is Share.BASE_AUDIT else Arm.GENERATOR_ONLY
    audit: dict[str, Any] = {"retrieval": reference.audit.retrieval}
    if arm.variant is not None:
        audit |= {"policy": Policy.OBSERVE, "role_timeout": reference.audit.role_timeout}
    changes: dict[str, Any] = {
        "name": SHARED,
        "arm": arm,
        "audit": audit,
        "judges": (),
        "protocol": "strict",
        "compiled": reference.compiled if share is Share.BASE_AUDIT else None,
    }
    if changes["compiled"] is None:
        changes |= {"allow_train": False}
    return _changed(reference, changes)


def _paired(spec: RunSpec, reference: RunSpec, shared: RunSpec, folder: Path) -> RunSpec:
    """The spec on the shared drafts, and on the shared base audits where they are its own."""
    changes: dict[str, Any] = {}
    if spec.drafts_from == reference.drafts_from and spec.drafts is reference.drafts:
        changes = {"drafts_from": folder, "drafts": DraftSource.GENERATOR}
    if shared.arm is Arm.PREDECESSOR and _has_its_base(spec, reference):
        changes["base_audit_from"] = folder
    return _changed(spec, changes)


def _has_its_base(spec: RunSpec, reference: RunSpec) -> bool:
    """Whether the base audit of a cell would be that of the reference, call for call."""
    return (
        spec.arm in (Arm.PREDECESSOR, Arm.STRICT_VTA, Arm.JOINT_VTA, Arm.CONTROL)
        and spec.audit.labels is Labels.LIFECYCLE
        and spec.audit.retrieval == reference.audit.retrieval
        and all(
            getattr(spec, name) == getattr(reference, name)
            for name in ("backend", "memory", "compiled")
        )
    )


def _changed(spec: RunSpec, changes: Mapping[str, Any]) -> RunSpec:
    data = spec.model_dump(mode="python") | dict(changes)
    return validated(RunSpec, data, source=f"grid, {data['name']}")


def dump_grid(grid: GridSpec) -> str:
    """The grid as the YAML that reads back as it."""
    return yaml.safe_dump(grid.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
