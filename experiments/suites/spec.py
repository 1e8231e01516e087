"""What a run over a suite is: one frozen spec, written into its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Self

from pydantic import Field, model_validator

from stateauditor.experiments.runs.audited import Audited
from stateauditor.program.config import AuditConfig
from stateauditor.signatures.models import Policy, Variant

SCRIPTED: Final = "scripted:"
"""How the names of scripted LMs begin."""


class SuiteSpec(Audited):
    """One suite under one variant (``audit.variant``) and some policies.

    ``backend`` is a name or file as ``evaluate`` takes it, or ``scripted:NAME`` for an
    LM that is right or wrong in a known way. ``policies`` are kept in the order observe,
    repair_only, full, and stand in the place of ``audit.policy``. ``compiled`` is a folder
    of ``stateauditor compile`` whose prompts are used. ``limit`` takes so many items from
    the groups in turn; ``max_cost`` is in US dollars.
    """

    suite: str
    seed: int = 42
    backend: str = "offline"
    policies: tuple[Policy, ...] = tuple(Policy)
    compiled: Path | None = None
    limit: int | None = Field(default=None, ge=1)
    concurrency: int = Field(default=8, ge=1, le=256)
    max_cost: float | None = Field(default=None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _ordered(cls, data: Any) -> Any:
        """Two orders of the same policies are the same run."""
        if isinstance(data, dict) and isinstance(data.get("policies"), list | tuple):
            given = list(map(str, data["policies"]))
            known = [policy.value for policy in Policy if policy.value in given]
            unknown = [name for name in given if name not in known]
            return {**data, "policies": (*known, *unknown)}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.policies:
            raise ValueError(f"give at least one policy of {', '.join(Policy)}")
        if self.audit.policy is not AuditConfig().policy:
            raise ValueError("audit.policy is no setting of a suite: give policies")
        if self.backend.startswith(SCRIPTED) and self.audit.variant is Variant.STATE_ANCHORED:
            raise ValueError(
                "a scripted LM reads off the draft which probe it is asked about, and the roles "
                "of variant state_anchored see none first; choose another variant"
            )
        return self

    def under(self, policy: Policy) -> AuditConfig:
        """The audit's settings under one policy."""
        return self.audit.model_copy(update={"policy": policy})
