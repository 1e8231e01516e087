"""How an audit runs: one frozen value."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.signatures.edge import validated
from stateauditor.signatures.models import Channel, Labels, Policy, Rewrite, Variant


class AuditConfig(BaseModel):
    """Settings of the pipeline; defaults are the paper's, and repair-only for deployment.

    ``expand_evidence`` lets the proposer of the VTA variants read more of the
    sessions that retrieval selected, up to ``expansion_tokens`` in all (paper,
    section 4.1). ``role_timeout`` bounds one role, in seconds, retries included.

    The rest are ablations, off by default: ``labels`` (entailment labels in the base
    audit), ``rewrite`` (no typed directives), ``validation`` off (candidates act whatever
    their provenance and order), ``verified_only`` off (base verdicts fire beside verified
    transitions), and ``channels`` between the pairs of one call, which a proposer must not
    have under the strict protocol.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: Variant = Variant.STRICT_VTA
    policy: Policy = Policy.REPAIR_ONLY
    retrieval: RetrievalConfig = RetrievalConfig()
    expand_evidence: bool = True
    expansion_tokens: int = Field(default=9_000, ge=0)
    skeptic: bool = False
    semantic_gate: bool = False
    coverage_threshold: float = Field(default=0.8, gt=0, le=1)
    role_timeout: float | None = Field(default=180.0, gt=0)
    labels: Labels = Labels.LIFECYCLE
    rewrite: Rewrite = Rewrite.TYPED
    validation: bool = True
    verified_only: bool = True
    channels: frozenset[Channel] = frozenset()

    @model_validator(mode="after")
    def _channels_have_a_proposer(self) -> Self:
        if self.channels and self.variant is not Variant.STRICT_VTA:
            raise ValueError(
                "channels are what a strict_vta proposer sees of other probes; "
                f"{self.variant.value} has none"
            )
        if Channel.EVIDENCE in self.channels and not self.expand_evidence:
            raise ValueError("the channel 'evidence' shares expanded evidence: set expand_evidence")
        return self

    @property
    def draft_anchored(self) -> bool:
        """Whether premises of draft and question are extracted and judged."""
        return self.variant in _DRAFT_ANCHORED

    @property
    def state_anchored(self) -> bool:
        """Whether the timeline is built and the draft tested against it."""
        return self.variant in _STATE_ANCHORED

    @property
    def proposes(self) -> bool:
        """Whether a proposer looks for transitions in a call of its own."""
        return self.variant in _PROPOSING

    @property
    def reviews(self) -> bool:
        """Whether a review without transitions takes the proposer's place."""
        return self.variant is Variant.CONTROL


_PROPOSING = {Variant.STRICT_VTA, Variant.JOINT_VTA}
_BIDIRECTIONAL = {Variant.PREDECESSOR, Variant.CONTROL} | _PROPOSING
_DRAFT_ANCHORED = {Variant.DRAFT_ANCHORED} | _BIDIRECTIONAL
_STATE_ANCHORED = {Variant.STATE_ANCHORED} | _BIDIRECTIONAL


def audit_config(config: AuditConfig | None = None, **settings: Any) -> AuditConfig:
    """``config`` (default: all defaults) with some settings replaced.

    Raises :class:`ConfigError` that lists every wrong setting.
    """
    base = (config or AuditConfig()).model_dump()
    return validated(AuditConfig, base | settings, source="audit settings")


def policy_given(config: AuditConfig | None = None, **settings: Any) -> bool:
    """Whether somebody chose the policy, or only its default stands."""
    return "policy" in settings or (config is not None and "policy" in config.model_fields_set)
