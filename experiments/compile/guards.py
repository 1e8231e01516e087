"""What may be compiled on, and what may be evaluated afterwards. Code refuses the rest.

Paper, section 5: prompts are tuned on frozen lists of at most 50 ids, and never on
anything that is tested. Every refusal names the ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from stateauditor.data.frozen import LIMIT, FrozenList, committed, draw_dev_slice, load_frozen
from stateauditor.experiments.sources import Source, open_source
from stateauditor.experiments.spec import RunSpec
from stateauditor.program.roles.compiled import read_index
from stateauditor.signatures.errors import InputError

SHOWN = 60


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


def open_guarded(spec: RunSpec) -> tuple[RunSpec, Source]:
    """The scenarios of a run, so that no compiled program is tried on what it was compiled on.

    With ``data.held_back`` those ids are left out, before ``data.limit`` counts.
    Otherwise they are refused by name, unless ``allow_train`` is set; the spec that
    comes back has it set only where there are such ids, so that a table is marked
    exactly where it must be. Raises :class:`InputError` and :class:`ConfigError`.
    """
    if spec.compiled is None:
        return spec, open_source(spec.data)
    trained = frozenset(read_index(spec.compiled).trained_on)
    if spec.data.held_back:
        source = _without(open_source(spec.data.model_copy(update={"limit": None})), trained)
        if not source.uids:
            raise InputError(
                f"{spec.compiled} was compiled on all chosen ids of {source.name}; "
                "none is held back"
            )
        source = _first(source, spec.data.limit)
    else:
        source = open_source(spec.data)
    overlap = [uid for uid in source.uids if uid in trained]
    if overlap and not spec.allow_train:
        raise InputError(
            f"{spec.compiled} was compiled on {len(overlap)} of the {len(source.uids)} chosen "
            f"ids: {named(overlap)}\nset data.held_back=true to leave them out, or --allow-train "
            '(allow_train: true), which marks every table "contains training ids"'
        )
    return spec.model_copy(update={"allow_train": bool(overlap)}), source


def _without(source: Source, ids: frozenset[str]) -> Source:
    return replace(source, uids=tuple(uid for uid in source.uids if uid not in ids))


def _first(source: Source, limit: int | None) -> Source:
    """The first conflicts and the first controls."""
    conflicts = [uid for uid in source.uids if uid not in source.controls]
    controls = [uid for uid in source.uids if uid in source.controls]
    return replace(source, uids=(*conflicts[:limit], *controls[:limit]))


def named(ids: Iterable[str]) -> str:
    """Ids for a message; a list is never longer than 50, a test set may be."""
    every = list(ids)
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more


def _ids_of(name: str) -> list[str]:
    """The ids of a file that may be no good list, as far as it can be read."""
    try:
        found = json.loads(Path(name).read_bytes())["ids"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [str(uid) for uid in found] if isinstance(found, list) else []
