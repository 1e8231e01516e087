"""The memory of one user: validated entries in one total order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stateauditor.program.memory.merging import merged
from stateauditor.program.memory.order import ordered
from stateauditor.program.memory.timestamps import is_later
from stateauditor.signatures.models import EntryRole, MemoryEntry, Validity

CLOSING_ID = "#closed"
"""What a closing's id has behind that of the fact that it ends."""


@dataclass(frozen=True, slots=True)
class Memory:
    """All that is stored about one user, oldest first; undated entries lead.

    Build it with :func:`stateauditor.program.memory.read_memory`, which gives
    the same order for any permutation of the same input. ``one + other`` joins the
    memories of several stores.
    """

    entries: tuple[MemoryEntry, ...] = ()

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[MemoryEntry]:
        return iter(self.entries)

    def __add__(self, other: object) -> Memory:
        """Both memories in one; see :func:`stateauditor.program.memory.merging.merged`."""
        if not isinstance(other, Memory):
            return NotImplemented
        return Memory(merged(self.entries, other.entries))

    def evidence(self) -> tuple[MemoryEntry, ...]:
        """What may be evidence: what the user said, stored facts, and when a store closed one."""
        said = [e for e in self.entries if e.role is not EntryRole.ASSISTANT]
        closings = [closing for e in said if (closing := _closing(e)) is not None]
        return ordered([*said, *closings]) if closings else tuple(said)

    def undated(self) -> tuple[MemoryEntry, ...]:
        """The entries whose time is unknown, for a warning: they are never later than others."""
        return tuple(e for e in self.entries if e.timestamp is None)


def _closing(entry: MemoryEntry) -> MemoryEntry | None:
    """The end of a fact as evidence of its own, where it is dated and not also its beginning."""
    if entry.ended is None:
        return None
    if entry.timestamp is not None and not is_later(entry.ended, entry.timestamp):
        return None
    return entry.model_copy(
        update={
            "id": f"{entry.id}{CLOSING_ID}",
            "timestamp": entry.ended,
            "text": f"No longer: {entry.text}",
            "validity": Validity.CLOSING,
        }
    )
