"""mem0: what ``search``, ``get_all`` and ``history`` return, from the package or the service."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from stateauditor.program.memory.converters.loss import (
    refuse_part_of_pages,
    warn_of_default_limit,
    warn_of_overwritten,
)
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import first, get, has, records
from stateauditor.program.memory.items import ROLES
from stateauditor.program.memory.readers import read_memory
from stateauditor.program.memory.timestamps import sort_key, timestamp_or_reason
from stateauditor.program.memory.validity import Ending, EndReader, as_of_time
from stateauditor.signatures.models import Validity

DEFAULT_LIMIT: Final = 20
_WRITTEN: Final = ("updated_at", "created_at")
_MADE: Final = ("created_at", "updated_at")
_EVENTS: Final = ("ADD", "UPDATE", "DELETE")


def from_mem0(
    result: object,
    *,
    history: Iterable[object] = (),
    time_field: str | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """Read ``{"results": [{"id", "memory", "created_at", "updated_at", ...}]}`` or the bare list.

    A row is dated by ``updated_at``, because an update replaces the text and keeps
    ``created_at``; a row that was closed was last touched by its closing, and is dated by
    ``created_at``. Where the rows were imported with their own dates, name the field that
    holds them (`time_field`, looked up in the row, then in its ``metadata``). Naive times are
    UTC. Rows stored verbatim carry a ``role``; what an assistant said stays an assistant's.

    What an updated row said before is in mem0's history only: pass
    ``history=[memory.history(row_id) for ...]`` (rows, or lists of rows), or history rows as
    `result`. Each version becomes an entry of its own, closed when the next one replaced it or
    when the memory was deleted.

    ``expiration_date`` and other ends close a row (see `read_memory` for `as_of` and `user`).
    One page of several is refused; as many rows as the default limit bring a warning.
    """
    rows = [row for row in records(result, ("results",), "mem0") if row is not None]
    refuse_part_of_pages(result, len(rows), "mem0")
    versions = [row for row in rows if has(row, "new_memory")]
    for part in history:
        versions += part if isinstance(part, list | tuple) else [part]
    current = [row for row in rows if not has(row, "new_memory")]
    told = {get(row, "memory_id") for row in versions}
    untold = [row for row in current if get(row, "id") not in told]
    if not versions:
        warn_of_default_limit(
            len(rows), DEFAULT_LIMIT, "mem0 search and get_all", "top_k= (page_size= when hosted)"
        )
    ends = EndReader("mem0", as_of_time(as_of), allow_undated)
    if time_field is None:
        warn_of_overwritten(
            (row for row in untold if ends.ending(row).is_open),
            "mem0",
            "mem0's history has it: history=[memory.history(id), ...]. Rows that were imported "
            "with their own dates: time_field='created_at'",
        )
    items = [_row(row, time_field, ends) for row in untold]
    closed = {get(row, "id"): row for row in current if get(row, "id") in told}
    for memory_id in sorted(told, key=str):
        own = [row for row in versions if get(row, "memory_id") == memory_id]
        items += _versions(own, closed.get(memory_id), ends)
    return read_memory(items, user=user, allow_undated=allow_undated, as_of=as_of)


def _row(row: object, time_field: str | None, ends: EndReader) -> dict[str, Any]:
    metadata = get(row, "metadata")
    touched = get(row, "updated_at") or get(metadata, "updated_at")
    ending = ends.ending(row, touched=touched)
    if time_field is not None:
        time = first(row, (time_field,)) or get(metadata, time_field)
    else:
        names = _WRITTEN if ending.is_open else _MADE
        time = first(row, names) or first(metadata, names)
    fact = {"id": get(row, "id"), "timestamp": time, "text": get(row, "memory"), "role": _role(row)}
    return {**fact, **ending.fields()}


def _versions(rows: Sequence[object], current: object, ends: EndReader) -> list[dict[str, Any]]:
    """What one memory said over time, each version closed by the next or by a deletion."""
    told = sorted((row for row in rows if get(row, "event") in _EVENTS), key=_when)
    versions: list[dict[str, Any]] = []
    for row in told:
        time, text = _time(row), get(row, "new_memory")
        if versions and versions[-1]["validity"] == Validity.OPEN:
            versions[-1] |= Ending(Validity.CLOSED).fields() | {"ended": time}
        if text is not None and get(row, "event") != "DELETE" and not get(row, "is_deleted"):
            version = {"id": get(row, "id"), "timestamp": time, "text": text, "role": _role(row)}
            versions.append(version | Ending().fields())
    if versions and current is not None and versions[-1]["validity"] == Validity.OPEN:
        versions[-1] |= ends.ending(current, touched=get(current, "updated_at")).fields()
    return versions


def _role(row: object) -> object:
    role, author = get(row, "role"), get(row, "attributed_to")
    return author if role is None and str(author).casefold() in ROLES else role


def _time(row: object) -> object:
    return first(row, _MADE if get(row, "event") == "ADD" else _WRITTEN)


def _when(row: object) -> Any:
    found = timestamp_or_reason(_time(row))
    return sort_key(None if isinstance(found, str) else found)
