"""Readouts put together and cut down: for several questions, in a wider one, for a small model."""

from __future__ import annotations

from collections.abc import Sequence

from stateauditor.signatures.models import Readout, RenderedEntry


def union(readouts: Sequence[Readout]) -> Readout:
    """All lines of several readouts over one memory, each once, with ids of their own.

    Lines may overlap; :meth:`MemoryIndex.expand` merges and renumbers them.
    """
    lines: dict[tuple[str, int, str], RenderedEntry] = {}
    pairs: dict[tuple[str, str], None] = {}
    for readout in readouts:
        names: dict[str, str] = {}
        for entry in readout.entries:
            place = (entry.entry_id, entry.start, entry.text)
            if place not in lines:
                lines[place] = entry.model_copy(update={"id": f"U{len(lines) + 1}"})
            names[entry.id] = lines[place].id
        pairs.update(dict.fromkeys((names[old], names[new]) for old, new in readout.pairs))
    return Readout(
        entries=tuple(lines.values()),
        pairs=tuple(pairs),
        tokens=sum(readout.tokens for readout in readouts),
    )


def relocated(narrow: Readout, wide: Readout) -> dict[str, str]:
    """For each line of ``narrow`` the id of the line of ``wide`` that contains it.

    ``wide`` holds every line of ``narrow``, perhaps merged with its neighbours.
    """
    by_entry: dict[str, list[RenderedEntry]] = {}
    for line in wide.entries:
        by_entry.setdefault(line.entry_id, []).append(line)
    return {
        line.id: max(
            (w for w in by_entry[line.entry_id] if w.start <= line.start), key=lambda w: w.start
        ).id
        for line in narrow.entries
    }


def shrunk(readout: Readout) -> Readout | None:
    """Half of a readout that is too long for a model, ids unchanged; None for a single line.

    Lines that belong to no pair go first, oldest first; then whole pairs, oldest first.
    """
    kept = {entry.id: len(entry.text) for entry in readout.entries}
    target = sum(kept.values()) / 2
    pairs = list(readout.pairs)
    paired = {line for pair in pairs for line in pair}
    for line in [line for line in kept if line not in paired]:
        if sum(kept.values()) <= target or len(kept) == 1:
            break
        del kept[line]
    place = {line: position for position, line in enumerate(kept)}
    pairs.sort(key=lambda pair: min(place[line] for line in pair))
    while sum(kept.values()) > target and pairs and len(kept) > 2:
        lines = set(pairs.pop(0)) - {line for pair in pairs for line in pair}
        kept = {line: size for line, size in kept.items() if line not in lines}
    if len(kept) == len(readout.entries):
        return None
    entries = tuple(entry for entry in readout.entries if entry.id in kept)
    return Readout(
        entries=entries,
        pairs=tuple(pair for pair in readout.pairs if pair in set(pairs)),
        tokens=readout.tokens * len(entries) // len(readout.entries),
    )
