"""From the records of memory systems to one ordered `Memory`.

Pure functions over what those systems return (dicts, or objects with the same
attribute names); none of them is imported. A record's own time orders it, and
which field holds that time is an argument: stores disagree on whether
``created_at`` is when something was said or when it was stored. A missing time
is an error naming the record, never replaced by now; ``allow_undated=True``
keeps such records as undated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from stateauditor.program.memory.describe import kind
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.readers import read_memory
from stateauditor.signatures.errors import InputError


def from_mem0(
    result: object, *, time_field: str = "created_at", allow_undated: bool = False
) -> Memory:
    """Read what mem0's ``search``, ``get_all`` or ``history`` return.

    Takes ``{"results": [{"id", "memory", "created_at", "updated_at", ...}]}`` or
    the bare list. `time_field` is looked up in the row, then in its
    ``metadata``. Traps: mem0 writes ``created_at`` with or without a zone
    (naive is UTC); an update in place keeps ``created_at`` and moves
    ``updated_at``, and a backdated import does the reverse, so name the field
    that holds the time of the event. Rows stored verbatim carry a ``role``;
    what an assistant said stays an assistant's.

    History rows (``event``, ``old_memory``, ``new_memory``) give one entry a
    version: ``new_memory`` of an ADD at ``created_at``, of an UPDATE at
    ``updated_at`` or else ``created_at``; `time_field` is not used for them.
    ``old_memory`` is the previous row's text and is not read. Memories with a
    DELETE row are left out whole, since they are no longer stored.
    """
    rows = _records(result, "results", "mem0")
    deleted = {
        _get(row, "memory_id")
        for row in rows
        if _get(row, "event") == "DELETE" or _get(row, "is_deleted")
    } - {None}
    items = []
    for row in rows:
        event = _get(row, "event")
        if _has(row, "new_memory"):
            if event not in ("ADD", "UPDATE") or _get(row, "memory_id") in deleted:
                continue
            text, time = _get(row, "new_memory"), _get(row, "created_at")
            if event == "UPDATE":
                time = _first(row, ("updated_at", "created_at"))
        else:
            text = _get(row, "memory")
            time = _first(row, (time_field,)) or _get(_get(row, "metadata"), time_field)
        fact = {"id": _get(row, "id"), "timestamp": time, "text": text, "role": _get(row, "role")}
        items.append(fact)
    return read_memory(items, allow_undated=allow_undated)


def from_graphiti(
    edges: object,
    *,
    time_fields: Sequence[str] = ("valid_at", "reference_time", "created_at"),
    allow_undated: bool = False,
) -> Memory:
    """Read graphiti's or Zep's edges: ``fact`` dated by the first of `time_fields` that is set.

    Takes a list of edges, or a search result that holds them under ``edges``;
    times may be strings or ``datetime``; the id is ``uuid`` or, in Zep's Python
    client, ``uuid_``. Traps: any of the times may be None. ``valid_at`` is when
    the fact became true, ``reference_time`` when its episode happened, but
    ``created_at`` only when it was stored, which can make an old fact look new:
    pass ``time_fields=("valid_at", "reference_time")`` to refuse that. Edges
    that were closed (``invalid_at``, ``expired_at``) are kept: as dated old
    values they are what a change is measured against. Edges without a fact are
    skipped.
    """
    items = [
        {
            "id": _first(edge, ("uuid", "uuid_")),
            "timestamp": _first(edge, time_fields),
            "text": _get(edge, "fact"),
        }
        for edge in _records(edges, "edges", "graphiti")
        if _get(edge, "fact") is not None
    ]
    return read_memory(items, allow_undated=allow_undated)


def from_zep(
    edges: object,
    *,
    time_fields: Sequence[str] = ("valid_at", "reference_time", "created_at"),
    allow_undated: bool = False,
) -> Memory:
    """Read Zep cloud's edges: as `from_graphiti`, with all times as ISO strings."""
    return from_graphiti(edges, time_fields=time_fields, allow_undated=allow_undated)


def from_langgraph(
    items: object, *, time_field: str = "updated_at", allow_undated: bool = False
) -> Memory:
    """Read items of a LangGraph store: ``namespace, key, value, created_at, updated_at``.

    The text is the value's ``text``, ``content``, ``memory`` or ``data`` (LangMem
    nests ``content`` once more), else all of the value as ``key: value`` lines.
    `time_field` is looked up in the item, then in the value. Traps: ``put``
    replaces the value and keeps ``created_at``, so ``updated_at`` dates what is
    stored now; an older release read ``updated_at`` from ``created_at``. The id
    is ``namespace/parts/key``, since a key is unique only in its namespace.
    """
    facts = []
    for item in _records(items, "items", "LangGraph"):
        value = _get(item, "value")
        time = _first(item, (time_field,)) or _get(value, time_field)
        facts.append({"id": _path(item), "timestamp": time, "text": _value_text(value)})
    return read_memory(facts, allow_undated=allow_undated)


# --- records of unknown make ------------------------------------------------


def _records(data: object, under: str, system: str) -> list[object]:
    held = _get(data, under)
    data = data if held is None else held
    if not isinstance(data, list | tuple):
        raise InputError(f"{system}: expected a list, or one under '{under}', not {kind(data)}")
    return list(data)


def _get(record: object, name: str) -> object:
    if isinstance(record, Mapping):
        return record.get(name)
    return getattr(record, name, None)


def _has(record: object, name: str) -> bool:
    return name in record if isinstance(record, Mapping) else hasattr(record, name)


def _first(record: object, names: Iterable[str]) -> object:
    return next((value for name in names if (value := _get(record, name)) is not None), None)


def _path(item: object) -> str | None:
    key, namespace = _get(item, "key"), _get(item, "namespace")
    if key is None:
        return None
    parts = namespace if isinstance(namespace, list | tuple) else ()
    return "/".join(str(part) for part in (*parts, key))


def _value_text(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    for name in ("text", "content", "memory", "data"):
        if value.get(name) is not None:
            return _value_text(value[name])
    return "\n".join(f"{key}: {_shown(part)}" for key, part in value.items() if part is not None)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
