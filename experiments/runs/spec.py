"""What a run is: one frozen spec, read from YAML, with single settings overridden.

Unknown keys are errors, all errors are reported at once with their paths, and the
resolved spec is written into the run's folder, so that a run can be repeated from
its folder alone.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from stateauditor.experiments.baselines.contract import BaselineSettings
from stateauditor.experiments.runs.audited import Arm, ArmAudited
from stateauditor.experiments.runs.config_files import read_config
from stateauditor.signatures.edge import Strict, validated
from stateauditor.signatures.models import Labels


class MemorySetting(StrEnum):
    """Which sessions the system gets; ``oracle`` is for development and labelled so."""

    FULL = "full"
    ORACLE = "oracle"


class Protocol(StrEnum):
    """Whether probes are independent, or one call may read all three of a scenario."""

    STRICT = "strict"
    SCENARIO_JOINT = "scenario_joint"


class Part(StrEnum):
    """Which scenarios of a slice run."""

    CONFLICTS = "conflicts"
    CONTROLS = "controls"
    BOTH = "both"


class DraftSource(StrEnum):
    """Where drafts come from when no earlier run gives them."""

    GENERATOR = "generator"
    STALE_DRAFTS = "stale_drafts"


class DataSpec(Strict):
    """Which scenarios: a bundled slice, a data set, a file or a slice folder.

    ``set`` is ``stale_mini`` (bundled) or ``stale`` (fetched beforehand); ``path``
    is any file in Stale's layout, or a folder with ``conflicts.json``. ``frozen``
    restricts to a committed list of ids. ``held_back`` leaves out the ids that the
    run's ``compiled`` program was compiled on. ``limit`` keeps the first scenarios.
    """

    set: str | None = None
    path: Path | None = None
    part: Part = Part.CONFLICTS
    frozen: str | None = None
    held_back: bool = False
    limit: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.set is None) == (self.path is None):
            raise ValueError("give either 'set' (stale_mini, stale) or 'path', not both or neither")
        return self


class RunSpec(ArmAudited):
    """One arm on one set of scenarios.

    ``judges`` are backend files (their ``judge`` role scores), or ``key`` for the
    deterministic key judge of slices that ship keys. ``drafts_from`` and
    ``base_audit_from`` are folders of earlier runs whose drafts and base audits
    are used, so that arms are compared on the same ones; a base that was made otherwise is
    refused, and one that lacks scenarios unless ``allow_missing`` is set. ``compiled`` is a
    folder of ``stateauditor compile`` whose prompts are used; it is not evaluated on the ids
    that it was compiled on unless ``allow_train`` says so, and then every table says
    it too. ``audit`` holds the settings of the audit; of an arm that audits nothing only
    ``audit.retrieval`` counts, which finds what the generator reads. ``max_cost`` is in US
    dollars. ``concurrency`` bounds both scenarios and LM calls in flight.
    """

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    data: DataSpec
    memory: MemorySetting = MemorySetting.FULL
    protocol: Protocol = Protocol.STRICT
    backend: str = "offline"
    drafts: DraftSource = DraftSource.GENERATOR
    drafts_from: Path | None = None
    base_audit_from: Path | None = None
    allow_missing: bool = False
    judges: tuple[str, ...] = ()
    compiled: Path | None = None
    allow_train: bool = False
    baseline: BaselineSettings = BaselineSettings()
    seed: int = 42
    draws: int = Field(default=10_000, ge=100)
    concurrency: int = Field(default=8, ge=1, le=256)
    max_cost: float | None = Field(default=None, gt=0)
    tracking: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        joint = self.arm is Arm.JOINT_VTA or bool(self.audit.channels)
        if joint != (self.protocol is Protocol.SCENARIO_JOINT):
            raise ValueError(
                "arm joint_vta, or strict_vta with channels, and protocol scenario_joint go "
                "together: they read more than one probe, and every other arm runs under "
                "protocol strict"
            )
        if self.base_audit_from is not None and self.arm not in SHARE_BASE:
            raise ValueError(
                f"base_audit_from serves the arms {', '.join(sorted(SHARE_BASE))}, "
                f"which start from the bidirectional base audit; not {self.arm.value}"
            )
        if self.base_audit_from is not None and self.audit.labels is not Labels.LIFECYCLE:
            raise ValueError("labels: nli makes another base audit: leave out base_audit_from")
        if self.allow_missing and self.base_audit_from is None:
            raise ValueError("allow_missing is about the scenarios that base_audit_from lacks")
        if self.compiled is None and (self.data.held_back or self.allow_train):
            raise ValueError("data.held_back and allow_train are about a 'compiled' program")
        if self.compiled is not None and self.arm.variant is None:
            raise ValueError(f"arm {self.arm.value} audits nothing: 'compiled' changes nothing")
        return self


SHARE_BASE = frozenset({Arm.PREDECESSOR, Arm.STRICT_VTA, Arm.JOINT_VTA, Arm.CONTROL})
"""The arms that start from the bidirectional base audit."""


def load_spec(path: str | Path, overrides: tuple[str, ...] = ()) -> RunSpec:
    """Read a run's config with overrides; :class:`ConfigError` lists everything wrong."""
    data, source = read_config(path, overrides)
    return parse_spec(data, source=source)


def parse_spec(data: dict[str, Any], *, source: str) -> RunSpec:
    """Validate a parsed config; every problem comes with its path."""
    return validated(RunSpec, data, source=source)
