"""Rows of a store of one's own: any objects with a text and a time, or texts alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from stateauditor.program.memory.converters.loss import warn_of_overwritten
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import first, get, listed
from stateauditor.program.memory.readers import read_memory
from stateauditor.program.memory.validity import EndReader, as_of_time

TEXTS: Final = (
    *("text", "content", "memory", "fact", "statement", "note", "observation", "message", "data"),
    *("value", "summary"),
)
"""Where a row's text may stand, the first field that any row has."""

TIMES: Final = (
    *("timestamp", "valid_at", "said_at", "event_time", "datetime", "date", "time"),
    *("created_at", "createdAt", "created", "updated_at"),
)
"""Where a row's time may stand, likewise."""

_CREATED: Final = ("created_at", "createdAt", "created")
_CHANGED: Final = ("updated_at", "updatedAt", "updated")
_IDS: Final = ("id", "uuid", "_id", "key")


def from_rows(
    rows: object,
    *,
    text: str | None = None,
    time: str | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """Read a list of objects as facts, with the fields that hold their `text` and `time`.

    Without the names, the first of `TEXTS` and of `TIMES` that any row has is taken for all
    of them: times of different kinds are not mixed. Where that is the time of creation, a row
    that was changed later is dated by its change, since the text may be of then, and an
    `InputWarning` says so. A bare text is a row without a time. Rows
    may have an ``id``, a ``role`` (what an assistant said is no evidence) and fields that say
    that they ended (see `read_memory`, also for `as_of` and `user`).
    """
    found = [{"text": row} if isinstance(row, str) else row for row in listed(rows, "rows")]
    text = text or _first_used(found, TEXTS)
    chosen = time or _first_used(found, TIMES)
    written = _CHANGED if time is None and chosen in _CREATED else ()
    if written:
        warn_of_overwritten(found, "rows", f"time='{chosen}' dates them by their creation")
    ends = EndReader("row", as_of_time(as_of), allow_undated)
    items: list[dict[str, Any]] = []
    for row in found:
        ending = ends.ending(row, touched=first(row, _CHANGED))
        fact = {"id": first(row, _IDS), "text": get(row, text), "role": get(row, "role")}
        when = first(row, (*written, chosen) if ending.is_open else (chosen,))
        items.append({**fact, "timestamp": when, **ending.fields()})
    return read_memory(items, user=user, allow_undated=allow_undated, as_of=as_of)


def _first_used(rows: Iterable[object], names: Iterable[str]) -> str:
    """The first of the names that any row has a value for; the first of all if none has."""
    kept, known = list(rows), list(names)
    return next(
        (name for name in known if any(get(row, name) is not None for row in kept)), known[0]
    )
