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
from stateauditor.experiments.runs.config_files import read_config
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.signatures.edge import Strict, validated
from stateauditor.signatures.models import Channel, Labels, Policy, Rewrite, Variant


class Arm(StrEnum):
    """One system in an experiment (paper, sections 5 and 6.1)."""

    GENERATOR_ONLY = "generator_only"
    DRAFT_ANCHORED = "draft_anchored"
    STATE_ANCHORED = "state_anchored"
    PREDECESSOR = "predecessor"
    STRICT_VTA = "strict_vta"
    JOINT_VTA = "joint_vta"
    CONTROL = "control"
    LEAN = "lean"
    SELF_CRITIQUE = "self_critique"
    COVE = "cove"
    RARR_STORE = "rarr_store"
    CUPMEM_SUMMARY = "cupmem_summary"
    TIMELINE_CONDITIONED = "timeline_conditioned"
    PERSONA_ALIGNMENT = "persona_alignment"

    @property
    def variant(self) -> Variant | None:
        """The audit's variant; None where nothing is audited."""
        return Variant(self.value) if self.value in set(Variant) else None

    @property
    def is_baseline(self) -> bool:
        """Whether another method stands in the auditor's place."""
        return self.variant is None and self is not Arm.GENERATOR_ONLY

    @property
    def label(self) -> str:
        """The name that tables print; a privileged arm says so everywhere."""
        return f"{self.value} (privileged upper bound)" if self is Arm.JOINT_VTA else self.value


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


class RunSpec(Strict):
    """One arm on one set of scenarios.

    ``judges`` are backend files (their ``judge`` role scores), or ``key`` for the
    deterministic key judge of slices that ship keys. ``drafts_from`` and
    ``base_audit_from`` are folders of earlier runs whose drafts and base audits
    are used, so that arms are compared on the same ones. ``compiled`` is a folder of
    ``stateauditor compile`` whose prompts are used; it is not evaluated on the ids
    that it was compiled on unless ``allow_train`` says so, and then every table says
    it too. ``max_cost`` is in US dollars. ``concurrency`` bounds both scenarios and LM
    calls in flight.
    """

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    data: DataSpec
    arm: Arm
    memory: MemorySetting = MemorySetting.FULL
    protocol: Protocol = Protocol.STRICT
    backend: str = "offline"
    policy: Policy = Policy.REPAIR_ONLY
    drafts: DraftSource = DraftSource.GENERATOR
    drafts_from: Path | None = None
    base_audit_from: Path | None = None
    judges: tuple[str, ...] = ()
    compiled: Path | None = None
    allow_train: bool = False
    retrieval: RetrievalConfig = RetrievalConfig()
    expand_evidence: bool = True
    expansion_tokens: int = Field(default=9_000, ge=0)
    skeptic: bool = False
    semantic_gate: bool = False
    labels: Labels = Labels.LIFECYCLE
    rewrite: Rewrite = Rewrite.TYPED
    validation: bool = True
    verified_only: bool = True
    channels: tuple[Channel, ...] = ()
    baseline: BaselineSettings = BaselineSettings()
    seed: int = 42
    draws: int = Field(default=10_000, ge=100)
    concurrency: int = Field(default=8, ge=1, le=256)
    max_cost: float | None = Field(default=None, gt=0)
    tracking: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        joint = self.arm is Arm.JOINT_VTA or bool(self.channels)
        if joint != (self.protocol is Protocol.SCENARIO_JOINT):
            raise ValueError(
                "arm joint_vta, or strict_vta with channels, and protocol scenario_joint go "
                "together: they read more than one probe, and every other arm runs under "
                "protocol strict"
            )
        if self.base_audit_from is not None and self.arm not in _SHARE_BASE:
            raise ValueError(
                f"base_audit_from serves the arms {', '.join(sorted(_SHARE_BASE))}, "
                f"which start from the bidirectional base audit; not {self.arm.value}"
            )
        if self.base_audit_from is not None and self.labels is not Labels.LIFECYCLE:
            raise ValueError("labels: nli makes another base audit: leave out base_audit_from")
        if self.compiled is None and (self.data.held_back or self.allow_train):
            raise ValueError("data.held_back and allow_train are about a 'compiled' program")
        if self.compiled is not None and self.arm.variant is None:
            raise ValueError(f"arm {self.arm.value} audits nothing: 'compiled' changes nothing")
        return self

    def settings(self) -> dict[str, Any]:
        """The audit's settings as :class:`AuditConfig` takes them."""
        return {
            "variant": self.arm.variant,
            "policy": self.policy,
            "retrieval": self.retrieval,
            "expand_evidence": self.expand_evidence,
            "expansion_tokens": self.expansion_tokens,
            "skeptic": self.skeptic,
            "semantic_gate": self.semantic_gate,
            "labels": self.labels,
            "rewrite": self.rewrite,
            "validation": self.validation,
            "verified_only": self.verified_only,
            "channels": frozenset(self.channels),
            # Calls wait for their turn under the run's bound; each has its own timeout.
            "role_timeout": None,
        }


_SHARE_BASE = frozenset({Arm.PREDECESSOR, Arm.STRICT_VTA, Arm.JOINT_VTA, Arm.CONTROL})


def load_spec(path: str | Path, overrides: tuple[str, ...] = ()) -> RunSpec:
    """Read a run's config with overrides; :class:`ConfigError` lists everything wrong."""
    data, source = read_config(path, overrides)
    return parse_spec(data, source=source)


def parse_spec(data: dict[str, Any], *, source: str) -> RunSpec:
    """Validate a parsed config; every problem comes with its path."""
    return validated(RunSpec, data, source=source)
