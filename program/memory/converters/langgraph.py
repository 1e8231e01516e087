"""LangGraph's store and LangMem: items with a namespace, a key and a value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from stateauditor.program.memory.converters.loss import (
    warn_of_default_limit,
    warn_of_overwritten,
)
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import first, get, records
from stateauditor.program.memory.readers import read_memory
from stateauditor.program.memory.validity import Ending, EndReader, as_of_time

DEFAULT_LIMIT: Final = 10
_TEXTS: Final = ("text", "content", "memory", "data")


def from_langgraph(
    items: object,
    *,
    time_field: str | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """Read items of a LangGraph store: ``namespace, key, value, created_at, updated_at``.

    The text is the value's ``text``, ``content``, ``memory`` or ``data`` (LangMem nests
    ``content`` once more), else all of the value as ``key: value`` lines. The id is
    ``namespace/parts/key``, since a key is unique only in its namespace.

    ``put`` replaces the value and keeps ``created_at``, so ``updated_at`` dates what is stored
    now; a value that was put again to mark its end is dated by ``created_at``. `time_field`
    names another field, in the item or in the value. What a value said before it was replaced
    is not in the store: put versions under keys of their own, and close the old ones
    (``superseded_by``, ``invalid_at``; see `read_memory` for `as_of` and `user`).
    ``search`` returns ten items unless it is told a ``limit``; ten bring a warning.
    """
    found = records(items, ("items",), "LangGraph")
    warn_of_default_limit(len(found), DEFAULT_LIMIT, "a LangGraph store's searches", "limit=")
    ends = EndReader("LangGraph", as_of_time(as_of), allow_undated)
    if time_field is None:
        warn_of_overwritten(
            (item for item in found if _ending(item, ends).is_open),
            "LangGraph",
            "Keep versions under keys of their own",
        )
    facts = [_fact(item, time_field, ends) for item in found]
    return read_memory(facts, user=user, allow_undated=allow_undated, as_of=as_of)


def _fact(item: object, time_field: str | None, ends: EndReader) -> dict[str, Any]:
    value = get(item, "value")
    ending = _ending(item, ends)
    if time_field is not None:
        time = first(item, (time_field,)) or get(value, time_field)
    elif ending.is_open:
        time = first(item, ("updated_at", "created_at"))
    else:
        time = first(item, ("created_at", "updated_at"))
    fact = {"id": _path(item), "timestamp": time, "text": _value_text(value)}
    return {**fact, **ending.fields()}


def _ending(item: object, ends: EndReader) -> Ending:
    value = get(item, "value")
    # Fields of a profile are the user's data, and no marks of the store.
    marks = [value] if first(value, _TEXTS) is not None else []
    return ends.ending(item, inside=marks, touched=get(item, "updated_at"))


def _path(item: object) -> str | None:
    key, namespace = get(item, "key"), get(item, "namespace")
    if key is None:
        return None
    parts = namespace if isinstance(namespace, list | tuple) else ()
    return "/".join(str(part) for part in (*parts, key))


def _value_text(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    for name in _TEXTS:
        if value.get(name) is not None:
            return _value_text(value[name])
    return "\n".join(f"{key}: {_shown(part)}" for key, part in value.items() if part is not None)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
