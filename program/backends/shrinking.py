"""A readout cut down for a model whose context window it does not fit."""

from __future__ import annotations

from stateauditor.signatures.models import Readout


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
