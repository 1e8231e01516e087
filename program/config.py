"""How an audit runs: one frozen value."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final, Self

from pydantic import Field, field_serializer, model_validator

from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.signatures.edge import Strict, validated
from stateauditor.signatures.models import Channel, Labels, Policy, Rewrite, Variant

_EXPANSION: Final = 9_000


class AuditConfig(Strict):
    """Settings of the pipeline; defaults are the paper's, and repair-only for deployment.

    ``expand_evidence`` lets the proposer of the VTA variants read more of the
    sessions that retrieval selected, up to ``expansion_tokens`` in all (paper,
    section 4.1). ``role_timeout`` bounds one role, in seconds, retries included.

    The rest are ablations, off by default: ``labels`` (entailment labels in the base
    audit), ``rewrite`` (no typed directives), ``validation`` off (candidates act whatever
    their provenance and order), ``verified_only`` off (base verdicts fire beside verified
    transitions), and ``channels`` between the pairs of one call, which a proposer must not
    have under the strict protocol.

    A setting that no step of the variant reads is refused, rather than ignored.
    """

    variant: Variant = Variant.STRICT_VTA
    policy: Policy = Policy.REPAIR_ONLY
    retrieval: RetrievalConfig = RetrievalConfig()
    expand_evidence: bool = True
    expansion_tokens: int = Field(default=_EXPANSION, ge=0)
    skeptic: bool = False
    semantic_gate: bool = False
    coverage_threshold: float = Field(default=0.8, gt=0, le=1)
    role_timeout: float | None = Field(default=180.0, gt=0)
    labels: Labels = Labels.LIFECYCLE
    rewrite: Rewrite = Rewrite.TYPED
    validation: bool = True
    verified_only: bool = True
    channels: frozenset[Channel] = frozenset()

    @field_serializer("channels")
    def _in_order(self, channels: frozenset[Channel]) -> list[Channel]:
        """The channels in the order of their declaration: the same bytes for the same settings."""
        return [channel for channel in Channel if channel in channels]

    @model_validator(mode="after")
    def _every_setting_acts(self) -> Self:
        read = settings_read(self.variant)
        for name, field in type(self).model_fields.items():
            if name not in read and getattr(self, name) != field.default:
                raise ValueError(
                    f"{name} changes nothing under variant {self.variant.value}: "
                    "no step of it reads this; leave it out"
                )
        if not self.expand_evidence and self.variant is Variant.JOINT_VTA:
            raise ValueError(
                "joint_vta always reads the expanded union of its probes' evidence: "
                "expand_evidence cannot be off"
            )
        if not self.expand_evidence and self.expansion_tokens != _EXPANSION:
            raise ValueError("expansion_tokens changes nothing where expand_evidence is off")
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
_EXPANDING = {Variant.CONTROL} | _PROPOSING
_VALIDATING = {Variant.LEAN} | _PROPOSING
_LABELLING = _DRAFT_ANCHORED | _STATE_ANCHORED

# Which variants read a setting; one that is not named here is read by all.
_READERS: Final[dict[str, set[Variant]]] = {
    "expand_evidence": _EXPANDING,
    "expansion_tokens": _EXPANDING,
    "semantic_gate": _VALIDATING,
    "coverage_threshold": _VALIDATING,
    "validation": _VALIDATING,
    "verified_only": _VALIDATING,
    "labels": _LABELLING,
    "channels": {Variant.STRICT_VTA},
}


def settings_read(variant: Variant | None) -> Set[str]:
    """The settings that a step of the variant reads; without an audit only retrieval is left."""
    if variant is None:
        return {"retrieval"}
    return {
        name for name in AuditConfig.model_fields if variant in _READERS.get(name, set(Variant))
    }


def audit_config(config: AuditConfig | None = None, **settings: Any) -> AuditConfig:
    """``config`` (default: all defaults) with some settings replaced.

    Raises :class:`ConfigError` that lists every wrong setting.
    """
    base = (config or AuditConfig()).model_dump()
    return validated(AuditConfig, base | settings, source="audit settings")


def policy_given(config: AuditConfig | None = None, **settings: Any) -> bool:
    """Whether somebody chose the policy, or only its default stands."""
    return "policy" in settings or (config is not None and "policy" in config.model_fields_set)
