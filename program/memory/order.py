"""The total order of a memory's entries."""

from __future__ import annotations

from collections.abc import Iterable

from stateauditor.program.memory.natural_order import NaturalKey, natural_key
from stateauditor.program.memory.timestamps import SortKey, sort_key
from stateauditor.signatures.models import MemoryEntry, Validity


def ordered(entries: Iterable[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    """By time, then session or fact by natural order, then the turn.

    At one time a closing comes before what may have taken the closed fact's place.
    """
    kept = list(entries)
    names = {entry.session or entry.id for entry in kept}
    places = {name: natural_key(name) for name in names}  # many entries, few sessions

    def order(entry: MemoryEntry) -> tuple[SortKey, bool, NaturalKey, int, str]:
        return (
            sort_key(entry.timestamp),
            entry.validity is not Validity.CLOSING,
            places[entry.session or entry.id],
            -1 if entry.turn is None else entry.turn,
            entry.id,
        )

    return tuple(sorted(kept, key=order))
