"""Readouts put together: for several questions, and one found again in a wider one."""

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
