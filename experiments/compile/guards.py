"""What may be compiled on. Code refuses the rest.

Paper, section 5: prompts are tuned on frozen lists of at most 50 ids, and never on
anything that is tested. Every refusal names the ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from stateauditor.data.frozen import LIMIT, FrozenList, committed, draw_dev_slice, load_frozen
from stateauditor.experiments.runs.held_out import named
from stateauditor.signatures.errors import InputError


def load_list(name: str) -> FrozenList:
    """The frozen list to compile on; one that is too long is refused with the ids named."""
    try:
        return load_frozen(name)
    except InputError as error:
        beyond = _ids_of(name)[LIMIT:]
        if not beyond:
            raise
        raise InputError(f"{error}; beyond the first {LIMIT}: {named(beyond)}") from None


def is_committed(frozen: FrozenList) -> bool:
    """Whether the list is one of those that ship, unchanged."""
    return frozen.name in committed() and load_frozen(frozen.name).ids == frozen.ids


def refuse_other_draw(frozen: FrozenList, types: Mapping[str, str]) -> None:
    """Raise :class:`InputError` where a list was not drawn from the data.

    ``types`` is every conflict of the data with its stratum. A list that somebody put
    together by hand, or drew again until it pleased, does not fit the draw.
    """
    by_type: dict[str, list[str]] = {}
    for uid, kind in types.items():
        by_type.setdefault(kind, []).append(uid)
    drawn = draw_dev_slice(by_type, len(frozen.ids), frozen.seed)
    if drawn != frozen.ids:
        odd = [uid for uid in frozen.ids if uid not in drawn]
        raise InputError(
            f"frozen list {frozen.name!r} is not the draw with seed {frozen.seed} from this data; "
            f"not drawn: {named(odd) if odd else 'the order differs'}; draw it with: "
            "stateauditor data freeze"
        )


def refuse_outside(wanted: Iterable[str], frozen: FrozenList, what: str) -> None:
    """Raise :class:`InputError` where an id stands outside the list."""
    allowed = frozenset(frozen.ids)
    outside = [uid for uid in wanted if uid not in allowed]
    if outside:
        raise InputError(
            f"{what} touches {len(outside)} id(s) outside the frozen list {frozen.name!r}: "
            f"{named(outside)}"
        )


def _ids_of(name: str) -> list[str]:
    """The ids of a file that may be no good list, as far as it can be read."""
    try:
        found = json.loads(Path(name).read_bytes())["ids"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [str(uid) for uid in found] if isinstance(found, list) else []
