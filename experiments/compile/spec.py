"""What a compile is: one frozen spec, read from YAML, every mistake reported at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from stateauditor.experiments.compile.optimizers import Optimizer
from stateauditor.experiments.runs.config_files import locate, read_mapping
from stateauditor.experiments.runs.spec import Arm
from stateauditor.metrics.compiling import Weights
from stateauditor.program.config import AuditConfig
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.roles.registry import asked_roles
from stateauditor.signatures.edge import Strict, validated
from stateauditor.signatures.models import Policy, Variant

PROGRAM = "program"


class CompileData(Strict):
    """Which scenarios: a set or a path, and within it only a frozen list.

    ``frozen`` is a committed list (or one that was drawn in the same way) of at most
    50 ids. ``ids`` restricts further, ``limit`` keeps the first ids of the list; what
    is left out can be evaluated on later. ``controls`` takes the conflicts' controls
    along, where the slice has them.
    """

    set: str | None = None
    path: Path | None = None
    frozen: str = Field(min_length=1)
    ids: tuple[str, ...] = ()
    limit: int | None = Field(default=None, ge=2)
    controls: bool = True

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.set is None) == (self.path is None):
            raise ValueError("give either 'set' (stale_mini, stale) or 'path', not both or neither")
        return self


class CompileSpec(Strict):
    """One compile: a role or the whole program, an optimizer, and the data to learn from.

    ``role`` is ``program`` or the name of one role; only that one then changes.
    ``backend`` answers; its file may name LMs for the roles ``teacher`` (makes
    demonstrations) and ``prompt`` (writes instructions). ``judge`` is a backend file
    whose ``judge`` role passes replies to conflicts. ``drafts_from`` is a run whose
    drafts are used where the slice ships none. ``train_share`` of the scenarios are
    learned from, the rest are chosen by. ``max_cost`` is in US dollars;
    ``max_errors`` audits may fail before the compile stops.
    """

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    data: CompileData
    arm: Arm = Arm.STRICT_VTA
    role: str = PROGRAM
    backend: str = "offline"
    judge: str | None = None
    drafts_from: Path | None = None
    policy: Policy = Policy.REPAIR_ONLY
    retrieval: RetrievalConfig = RetrievalConfig()
    expand_evidence: bool = True
    expansion_tokens: int = Field(default=9_000, ge=0)
    skeptic: bool = False
    semantic_gate: bool = False
    optimizer: Optimizer
    weights: Weights = Weights()
    train_share: float = Field(default=0.5, gt=0, lt=1)
    seed: int = 42
    draws: int = Field(default=10_000, ge=100)
    concurrency: int = Field(default=8, ge=1, le=64)
    max_cost: float | None = Field(default=None, gt=0)
    max_errors: int = Field(default=10, ge=1)
    tracking: bool = True
    out: Path | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.arm.variant is None or self.arm is Arm.JOINT_VTA:
            raise ValueError(
                f"arm {self.arm.value} cannot be compiled: give an arm that audits one question"
            )
        asked = asked_roles(self.audit_config())
        if self.role not in (PROGRAM, *asked):
            raise ValueError(
                f"role {self.role!r} is not asked under arm {self.arm.value} with policy "
                f"{self.policy.value}; there are {PROGRAM}, {', '.join(asked)}"
            )
        return self

    def audit_config(self) -> AuditConfig:
        """The audit's settings."""
        return AuditConfig(
            variant=Variant(self.arm.value),
            policy=self.policy,
            retrieval=self.retrieval,
            expand_evidence=self.expand_evidence,
            expansion_tokens=self.expansion_tokens,
            skeptic=self.skeptic,
            semantic_gate=self.semantic_gate,
            role_timeout=None,  # calls wait for their turn; each has its own timeout
        )

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles whose prompts may change."""
        return asked_roles(self.audit_config()) if self.role == PROGRAM else (self.role,)


def load_compile_spec(path: str | Path, overrides: Sequence[str] = ()) -> CompileSpec:
    """Read a compile config, or a shipped one by name, with ``key=value`` overrides.

    Raises :class:`ConfigError` that lists everything wrong.
    """
    found = locate(path, "compile")
    return parse_compile_spec(read_mapping(found, overrides), source=str(found))


def parse_compile_spec(data: dict[str, Any], *, source: str) -> CompileSpec:
    """Validate a parsed config; every problem comes with its path."""
    return validated(CompileSpec, data, source=source)
