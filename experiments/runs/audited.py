"""The audit's settings in a config: one :class:`AuditConfig` under ``audit:``, for every kind.

Configs used to name some of them at the top level. Those places are still read, and
:func:`under_audit` says which keys have moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Final, Self

from pydantic import SerializerFunctionWrapHandler, field_serializer, model_validator

from stateauditor.program.config import AuditConfig, settings_read
from stateauditor.signatures.edge import Strict
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Variant

AUDIT: Final = "audit"
MOVED: Final = (
    "variant",
    "policy",
    "retrieval",
    "expand_evidence",
    "expansion_tokens",
    "skeptic",
    "semantic_gate",
    "labels",
    "rewrite",
    "validation",
    "verified_only",
    "channels",
)
"""The settings of the audit that once stood beside ``audit:``."""


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


class Audited(Strict):
    """A spec with the settings of its audits.

    Calls wait for their turn under the run's bound, and each has its own timeout;
    hence a role has none unless ``audit.role_timeout`` gives one.
    """

    audit: AuditConfig = AuditConfig(role_timeout=None)

    @model_validator(mode="before")
    @classmethod
    def _in_one_place(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        placed, _ = under_audit(data)
        audit = placed.get(AUDIT, {})
        return {**placed, AUDIT: {"role_timeout": None, **audit}} if _plain(audit) else placed


class ArmAudited(Audited):
    """A spec whose ``arm`` says which variant of the audit runs, or that none does."""

    arm: Arm

    _UNREAD: ClassVar[str] = "arm {arm} audits nothing: audit.{name} changes nothing; leave it out"

    @model_validator(mode="before")
    @classmethod
    def _variant_of_arm(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not _plain(data.get(AUDIT, {})):
            return data
        audit = data.get(AUDIT, {})
        arm = str(data.get("arm", cls.model_fields["arm"].default))
        if audit.get("variant", arm) != arm:
            raise ValueError(f"audit.variant is the arm's: leave it out, and give arm: {arm}")
        if arm not in set(Variant):
            return {**data, AUDIT: {k: v for k, v in audit.items() if k != "variant"}}
        return {**data, AUDIT: {**audit, "variant": arm}}

    @model_validator(mode="after")
    def _only_what_the_arm_reads(self) -> Self:
        if self.arm.variant is None:
            default, read = AuditConfig(role_timeout=None), settings_read(None)
            for name in AuditConfig.model_fields:
                if name not in read and getattr(self.audit, name) != getattr(default, name):
                    raise ValueError(self._UNREAD.format(arm=self.arm.value, name=name))
        return self

    @field_serializer(AUDIT, mode="wrap")
    def _without_variant(
        self, audit: AuditConfig, write: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        """The settings as they are written: the arm is the one place that names the variant."""
        return {name: value for name, value in write(audit).items() if name != "variant"}


def under_audit(data: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A config with all settings of the audit under ``audit:``, and the keys that moved.

    Raises :class:`ConfigError` where a setting stands in both places.
    """
    # Where there is an arm, that is what names the variant, and never a key of its own.
    moved = {k: data[k] for k in MOVED if k in data and (k != "variant" or "arm" not in data)}
    if not moved:
        return dict(data), ()
    audit = data.get(AUDIT, {})
    if not _plain(audit):
        return dict(data), ()
    twice = [key for key in moved if key in audit]
    if twice:
        raise ConfigError(f"{twice[0]} and audit.{twice[0]} are one setting: give audit.{twice[0]}")
    rest = {key: value for key, value in data.items() if key not in moved}
    return {**rest, AUDIT: {**audit, **moved}}, tuple(moved)


def read_by_arm(audit: Mapping[str, Any], arm: str) -> dict[str, Any]:
    """Those of some settings that an arm reads."""
    read = settings_read(Variant(arm) if arm in set(Variant) else None)
    return {key: value for key, value in audit.items() if key in read}


def as_it_ran(data: Any) -> Any:
    """The config of an older run's folder, without what was accepted then and changed nothing.

    Such a config names every setting at the top level.
    """
    if not isinstance(data, Mapping) or not any(key in data for key in MOVED):
        return data
    placed, _ = under_audit(data)
    audit = dict(placed[AUDIT])
    if isinstance(audit.get("retrieval"), Mapping):
        unread = ("expansion_tokens",)
        audit["retrieval"] = {k: v for k, v in audit["retrieval"].items() if k not in unread}
    if "arm" in placed:
        audit = read_by_arm(audit, str(placed["arm"]))
    else:
        audit = read_by_arm(audit, str(audit.get("variant", Variant.STRICT_VTA)))
    if placed.get("arm") == Arm.JOINT_VTA:
        audit.pop("expand_evidence", None)
    if audit.get("expand_evidence") is False:
        audit.pop("expansion_tokens", None)
    return {**placed, AUDIT: audit}


def _plain(value: Any) -> bool:
    return isinstance(value, Mapping)
