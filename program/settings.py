"""The settings of an audit as keyword arguments, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from stateauditor.program.memory import Memory
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.signatures.models import Channel, Labels, MemoryEntry, Policy, Rewrite, Variant

MemoryInput: TypeAlias = (
    Iterable[Mapping[str, Any] | MemoryEntry] | Mapping[str, Any] | Memory | MemoryIndex
)
"""One user's memory: rows that :func:`read_memory` reads, a memory that was read, or its index."""

PolicyName: TypeAlias = Policy | Literal["observe", "repair_only", "full"]
VariantName: TypeAlias = (
    Variant
    | Literal[
        "draft_anchored",
        "state_anchored",
        "predecessor",
        "strict_vta",
        "joint_vta",
        "lean",
        "control",
    ]
)


class AuditSettings(TypedDict, total=False):
    """What may be set by keyword: the fields of :class:`AuditConfig`, which says what they do.

    Choices are written as their member or as its value: ``policy="observe"``.
    """

    variant: VariantName
    policy: PolicyName
    retrieval: RetrievalConfig | Mapping[str, Any]
    expand_evidence: bool
    expansion_tokens: int
    skeptic: bool
    semantic_gate: bool
    coverage_threshold: float
    role_timeout: float | None
    labels: Labels | Literal["lifecycle", "nli"]
    rewrite: Rewrite | Literal["typed", "untyped"]
    validation: bool
    verified_only: bool
    channels: Collection[Channel | Literal["questions", "drafts", "evidence"]]
