"""Rows of a store of one's own: any objects with a text and a time, or texts alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

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
    of them: times of different kinds are not mixed. A bare text is a row without a time. Rows
    may have an ``id``, a ``role`` (what an assistant said is no evidence) and fields that say
    that they ended (see `read_memory`, also for `as_of` and `user`).
    """
    found = [{"text": row} if isinstance(row, str) else row for row in listed(rows, "rows")]
    text = text or _first_used(found, TEXTS)
    time = time or _first_used(found, TIMES)
    ends = EndReader("row", as_of_time(as_of), allow_undated)
    items: list[dict[str, Any]] = [
        {
            "id": first(row, _IDS),
            "timestamp": get(row, time),
            "text": get(row, text),
            "role": get(row, "role"),
            **ends.ending(row, touched=get(row, "updated_at")).fields(),
        }
        for row in found
    ]
    return read_memory(items, user=user, allow_undated=allow_undated, as_of=as_of)


def _first_used(rows: Iterable[object], names: Iterable[str]) -> str:
    """The first of the names that any row has a value for; the first of all if none has."""
    kept, known = list(rows), list(names)
    return next(
        (name for name in known if any(get(row, name) is not None for row in kept)), known[0]
    )
