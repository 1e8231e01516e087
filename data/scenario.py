"""One benchmark scenario, split by who may see what.

`Scenario` is all that the program under test gets. What only the judge may see
is `SealedText` in a `JudgeKey`; what only offline analysis may see are
`OracleIndices`; the stratum is beside them in `BenchmarkItem`. The program's
entry points take a `Scenario`, so that a leak is a type error.

The words and the split are the benchmark's (Chao et al. 2026, STALE).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from stateauditor.data.sealed import SealedText

T = TypeVar("T")


class Dimension(StrEnum):
    """What a probe tests (paper, section 3)."""

    SR = "SR"
    """State resolution: does the old state still hold?"""
    PR = "PR"
    """Premise resistance: a request that presupposes the old state."""
    IPA = "IPA"
    """Implicit policy adaptation: an everyday request that names neither state."""

    @property
    def key(self) -> str:
        """The benchmark's own name: ``dim1``, ``dim2`` or ``dim3``."""
        return f"dim{list(Dimension).index(self) + 1}"


class ChangeType(StrEnum):
    """The benchmark's strata; for grouping results, never for the program."""

    T1 = "T1"
    """The same attribute, implicitly updated."""
    T2 = "T2"
    """A change elsewhere that propagates to the attribute."""


@dataclass(frozen=True, slots=True)
class ByDimension(Generic[T]):
    """One value for each probe: ``probes[Dimension.IPA]``."""

    sr: T
    pr: T
    ipa: T

    def __getitem__(self, dimension: Dimension) -> T:
        return {Dimension.SR: self.sr, Dimension.PR: self.pr, Dimension.IPA: self.ipa}[dimension]

    def items(self) -> Iterator[tuple[Dimension, T]]:
        """The values in the order SR, PR, IPA."""
        return ((dimension, self[dimension]) for dimension in Dimension)


# --- what the program may see -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a session."""

    role: Literal["user", "assistant"]
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Session:
    """One dated session. ``id`` is ``s01``, ``s02``, ... by place, as in a read memory."""

    id: str
    timestamp: str
    turns: tuple[Turn, ...] = field(repr=False)

    def as_memory_item(self) -> dict[str, Any]:
        """The session as ``program.memory.read_memory`` takes it; its time is UTC."""
        return {
            "id": self.id,
            "timestamp": self.timestamp,
            "turns": [{"role": turn.role, "content": turn.content} for turn in self.turns],
        }


@dataclass(frozen=True, slots=True)
class Scenario:
    """One history with its three probes: everything that a system under test gets.

    Under the strict protocol a call sees one probe: hand it ``memory_items()``
    and ``probes[dimension]``, never the whole scenario.
    """

    uid: str
    sessions: tuple[Session, ...] = field(repr=False)
    probes: ByDimension[str]

    def memory_items(self) -> list[dict[str, Any]]:
        """The history as ``program.memory.read_memory`` takes it; its times are UTC."""
        return [session.as_memory_item() for session in self.sessions]


# --- what it may not ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JudgeKey:
    """What the judge knows: the old state, the new one, and why the new one replaces it."""

    m_old: SealedText
    m_new: SealedText
    explanation: SealedText


@dataclass(frozen=True, slots=True)
class OracleIndices:
    """Which sessions hold the old and the new state (0-based); for offline recall only."""

    old: int = field(repr=False)
    new: int = field(repr=False)


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """One record of the benchmark; the runner keeps it and hands out its parts."""

    scenario: Scenario
    type: ChangeType
    judge: JudgeKey
    oracle: OracleIndices

    @property
    def uid(self) -> str:
        """The scenario's id."""
        return self.scenario.uid

    @property
    def oracle_sessions(self) -> tuple[str, str]:
        """The ids of the old and of the new session; for offline recall only."""
        sessions = self.scenario.sessions
        return sessions[self.oracle.old].id, sessions[self.oracle.new].id


def oracle_memory(item: BenchmarkItem) -> Scenario:
    """The scenario with its two relevant sessions only, under their own ids.

    This is the paper's oracle-memory setting (section 3): for development, and
    labelled so in every result.
    """
    kept = set(item.oracle_sessions)
    sessions = tuple(session for session in item.scenario.sessions if session.id in kept)
    return replace(item.scenario, sessions=sessions)
