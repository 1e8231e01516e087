"""No compiled program is tried on what it was compiled on, unless the run says so everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stateauditor.experiments.runs.scenarios import Source, open_source
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.program.roles.compiled import read_index
from stateauditor.signatures.errors import InputError

SHOWN = 60


def open_held_out(spec: RunSpec) -> tuple[RunSpec, Source]:
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
