"""What a grid is: a run's config, and cells that change some of its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field

from stateauditor.experiments.runs.config_files import locate, override_setting, read_mapping
from stateauditor.experiments.runs.spec import (
    Arm,
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
    data = read_mapping(found)
    for override in overrides:
        override_setting(data, override)
    return validated(GridSpec, data, source=str(found))


def plan(grid: GridSpec, out: Path, *, source: str = "grid") -> Plan:
    """The specs of all runs; every one is checked before anything runs."""
    if REFERENCE in grid.cells or SHARED in grid.cells:
        raise ConfigError(f"{source}: {REFERENCE!r} and {SHARED!r} are no names for a cell")
    base = {**grid.base, "name": REFERENCE}
    reference = parse_spec(base, source=f"{source}, base")
    shared = _shared(reference, grid.share)
    runs = {
        name: _paired(
            parse_spec({**merged(base, cell), "name": name}, source=f"{source}, cells.{name}"),
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


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``changes`` put over it, mapping by mapping."""
    result = dict(base)
    for key, value in changes.items():
        below = result.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            result[key] = merged(below, value)
        else:
            result[key] = value
    return result


def _shared(reference: RunSpec, share: Share) -> RunSpec:
    """Drafts, and base audits where they are shared: nothing is rewritten and nothing judged."""
    changes: dict[str, Any] = {
        "name": SHARED,
        "arm": Arm.PREDECESSOR if share is Share.BASE_AUDIT else Arm.GENERATOR_ONLY,
        "policy": Policy.OBSERVE,
        "judges": (),
        "protocol": "strict",
        "channels": (),
        "skeptic": False,
        "compiled": reference.compiled if share is Share.BASE_AUDIT else None,
        "labels": Labels.LIFECYCLE,
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
        and spec.labels is Labels.LIFECYCLE
        and all(
            getattr(spec, name) == getattr(reference, name)
            for name in ("backend", "memory", "retrieval", "compiled")
        )
    )


def _changed(spec: RunSpec, changes: Mapping[str, Any]) -> RunSpec:
    data = spec.model_dump(mode="python") | dict(changes)
    return validated(RunSpec, data, source=f"grid, {data['name']}")


def dump_grid(grid: GridSpec) -> str:
    """The grid as the YAML that reads back as it."""
    return yaml.safe_dump(grid.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
