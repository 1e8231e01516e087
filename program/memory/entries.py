"""The memory of one user: validated entries in one total order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stateauditor.signatures.models import EntryRole, MemoryEntry


@dataclass(frozen=True, slots=True)
class Memory:
    """All that is stored about one user, oldest first; undated entries lead.

    Build it with :func:`stateauditor.program.memory.read_memory`, which gives
    the same order for any permutation of the same input.
    """

    entries: tuple[MemoryEntry, ...] = ()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[MemoryEntry]:
        return iter(self.entries)

    def evidence(self) -> tuple[MemoryEntry, ...]:
        """The entries that may be evidence: what the user said, and stored facts."""
        return tuple(e for e in self.entries if e.role is not EntryRole.ASSISTANT)

    def undated(self) -> tuple[MemoryEntry, ...]:
        """The entries whose time is unknown, for a warning: they are never later than others."""
        return tuple(e for e in self.entries if e.timestamp is None)
