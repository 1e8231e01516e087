"""Joining the entries of several sources, whose ids were given without regard to each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stateauditor.program.memory.order import ordered
from stateauditor.program.memory.timestamps import SortKey, sort_key
from stateauditor.signatures.models import MemoryEntry, Validity

Unit = tuple[MemoryEntry, ...]
"""A fact alone, or all entries of one session in their order."""


def merged(*sources: Iterable[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    """The entries of all sources in one order; what two of them share stands once.

    A session that two sources hold in parts becomes whole, and a fact that one of them
    has closed stays closed. Where one id names different things, all but the first by
    time and content are renamed: ``home`` becomes ``home~2``. The order of the sources
    changes nothing.
    """
    named: dict[str, list[Unit]] = {}
    for source in sources:
        for name, unit in _units(source):
            named.setdefault(name, []).append(unit)
    distinct = {name: _distinct(units) for name, units in named.items()}
    turns = {e.id for units in distinct.values() for unit in units for e in unit if e.session}
    taken = {*named, *turns}
    entries: list[MemoryEntry] = []
    for name, units in sorted(distinct.items()):
        for number, unit in enumerate(units, start=1):
            is_free = number == 1 and (unit[0].session is not None or name not in turns)
            entries += unit if is_free else _renamed(unit, _free(name, max(number, 2), taken))
    return ordered(entries)


def _units(source: Iterable[MemoryEntry]) -> Iterator[tuple[str, Unit]]:
    units: dict[str, list[MemoryEntry]] = {}
    for entry in source:
        units.setdefault(entry.session or entry.id, []).append(entry)
    return ((name, tuple(unit)) for name, unit in units.items())


def _distinct(units: Iterable[Unit]) -> list[Unit]:
    """The different things behind one name, by time and content; parts of one are joined."""
    distinct: list[Unit] = []
    for unit in sorted(units, key=_order):
        for place, known in enumerate(distinct):
            if (joined := _joined(known, unit)) is not None:
                distinct[place] = joined
                break
        else:
            distinct.append(unit)
    return distinct


def _joined(one: Unit, other: Unit) -> Unit | None:
    """Both as one, if they agree on an entry at least and differ in none; else None."""
    known = {entry.id: entry for entry in one}
    shared = 0
    for entry in other:
        if entry.id in known:
            kept = agreed(known[entry.id], entry)
            if kept is None:
                return None
            known[entry.id] = kept
            shared += 1
        else:
            known[entry.id] = entry
    return tuple(known.values()) if shared else None


def agreed(one: MemoryEntry, other: MemoryEntry) -> MemoryEntry | None:
    """The entry that both are, or None where they say different things.

    A store closes a fact and does not open it again: of two records that differ in
    nothing else the closed one is the later, and of two ends the later is kept.
    """
    still = {"validity": other.validity, "ended": other.ended}
    if one.model_copy(update=still) != other:
        return None
    return max(one, other, key=_closedness)


def _closedness(entry: MemoryEntry) -> tuple[bool, SortKey]:
    return (entry.validity is not Validity.OPEN, sort_key(entry.ended))


def _order(unit: Unit) -> list[tuple[SortKey, str, str]]:
    return [(sort_key(e.timestamp), e.text, e.model_dump_json()) for e in unit]


def _free(name: str, number: int, taken: set[str]) -> str:
    while (candidate := f"{name}~{number}") in taken:
        number += 1
    taken.add(candidate)
    return candidate


def _renamed(unit: Unit, name: str) -> Iterator[MemoryEntry]:
    """The unit under another name: its session's, and the same in front of each entry's id."""
    for entry in unit:
        if entry.session is None:
            yield entry.model_copy(update={"id": name})
        else:
            rest = entry.id.removeprefix(entry.session)
            tail = rest if rest != entry.id else f".{entry.id}"
            yield entry.model_copy(update={"id": f"{name}{tail}", "session": name})
