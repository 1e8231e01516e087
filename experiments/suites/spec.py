"""What a run over a suite is: one frozen spec, written into its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Self

from pydantic import Field, model_validator

from stateauditor.program.config import AuditConfig, audit_config
from stateauditor.signatures.edge import Strict
from stateauditor.signatures.models import Policy, Variant

SCRIPTED: Final = "scripted:"
"""How the names of scripted LMs begin."""


class SuiteSpec(Strict):
    """One suite under one variant and some policies.

    ``backend`` is a name or file as ``evaluate`` takes it, or ``scripted:NAME`` for an
    LM that is right or wrong in a known way. ``policies`` are kept in the order observe,
    repair_only, full. ``audit`` are further settings of the audit, such as
    ``semantic_gate``; ``compiled`` is a folder of ``stateauditor compile`` whose prompts are
    used. ``limit`` takes so many items from the groups in turn; ``max_cost`` is in US
    dollars.
    """

    suite: str
    seed: int = 42
    backend: str = "offline"
    variant: Variant = Variant.STRICT_VTA
    policies: tuple[Policy, ...] = tuple(Policy)
    audit: dict[str, Any] = Field(default_factory=dict)
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
        for name in ("variant", "policy", "role_timeout"):
            if name in self.audit:
                raise ValueError(f"audit.{name} is no further setting of a suite's audits")
        self.settings(self.policies[0])
        if self.backend.startswith(SCRIPTED) and self.variant is Variant.STATE_ANCHORED:
            raise ValueError(
                "a scripted LM reads off the draft which probe it is asked about, and the roles "
                "of variant state_anchored see none first; choose another variant"
            )
        return self

    def settings(self, policy: Policy) -> AuditConfig:
        """The audit's settings under one policy; raises :class:`ConfigError` for wrong ones.

        Calls wait for their turn, so that roles have no timeout.
        """
        return audit_config(
            None, **self.audit, variant=self.variant, policy=policy, role_timeout=None
        )
