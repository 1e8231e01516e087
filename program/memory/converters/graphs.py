"""graphiti and Zep: edges with their validity, and episodes, which are the user's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from stateauditor.program.memory.converters.loss import refuse_part_of_pages, warn
from stateauditor.program.memory.describe import kind
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import first, get, has
from stateauditor.program.memory.items import ROLES
from stateauditor.program.memory.readers import read_memory
from stateauditor.program.memory.validity import EndReader, as_of_time
from stateauditor.signatures.errors import InputError

EVENT_TIMES: Final = ("valid_at", "reference_time")
"""When a fact became true, and when the episode that told it happened."""

INGEST_TIME: Final = "created_at"
"""When the store wrote the record down."""

_ID: Final = ("uuid", "uuid_")
_SPOKEN: Final = re.compile(r"\s*([^\n:]{1,60}?)\s*:\s+(.+)", re.DOTALL)
_LINE_OF_SPEAKER: Final = re.compile(r"\n(?=[^\n:]{1,60}:\s)")


def from_graphiti(
    edges: object,
    *,
    time_fields: Sequence[str] | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """Read graphiti's edges and episodes: a list, or search results that hold them.

    An edge's ``fact`` is dated by ``valid_at``, when it became true, or else by
    ``reference_time``, when its episode happened. ``created_at`` says when it was stored,
    which can make an old fact look new: it dates a store that has nothing else, and is never
    compared with the times of events. Edges that have it alone, beside others that have more,
    stay undated, with an `InputWarning`; `time_fields` names the fields to date by, first one
    first, where you know better.

    ``invalid_at`` and ``expired_at`` close an edge, unless ``invalid_at`` is still to come
    (see `read_memory` for `as_of` and `user`). An episode's text counts by who speaks in it:
    ``user:`` or the name given as `user`; other speakers are no evidence. Nodes and summaries
    are a model's words and not read. Edges without a fact are skipped.
    """
    return _read("graphiti", edges, time_fields, user, allow_undated, as_of)


def from_zep(
    data: object,
    *,
    time_fields: Sequence[str] | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """Read what Zep returns: edges, episodes, thread messages, pages, a ``GraphContextResponse``.

    As `from_graphiti`; episodes and messages have a ``role``, and what an assistant said stays
    an assistant's. One page of several is refused. A context block alone is text for a prompt,
    without records and dates, and is refused, too.
    """
    return _read("Zep", data, time_fields, user, allow_undated, as_of)


def _read(
    system: str,
    data: object,
    time_fields: Sequence[str] | None,
    user: str | None,
    allow_undated: bool,
    as_of: object,
) -> Memory:
    ends = EndReader(system, as_of_time(as_of), allow_undated)
    found = _records(data, system)
    for position, record in enumerate(found, start=1):
        if not (has(record, "fact") or has(record, "content")):
            raise InputError(
                f"{system}: record {position} has neither 'fact' (an edge) nor 'content' (an "
                "episode or a message)"
            )
    edges = [record for record in found if get(record, "fact") is not None]
    episodes = [record for record in found if str(get(record, "content") or "").strip()]

    def joined(records: Sequence[object], item: Callable[[object, object], Any]) -> Memory:
        timed, untimed = _by_event(records, time_fields, system)
        read = partial(read_memory, user=user, as_of=as_of)
        memory = read([item(*pair) for pair in timed], allow_undated=allow_undated)
        return memory + read([item(*pair) for pair in untimed], allow_undated=True)

    told = joined(episodes, lambda episode, time: _episode(episode, time, ends, user))
    if len(told) and not told.evidence():
        warn(f"{system}: no speaker in the episodes is known to be the user; user= names them")
    return joined(edges, lambda edge, time: _edge(edge, time, ends)) + told


Dated = list[tuple[object, object]]
"""Records with their times."""


def _by_event(
    records: Sequence[object], time_fields: Sequence[str] | None, system: str
) -> tuple[Dated, Dated]:
    """The records with their times, and those whose time cannot be compared with the others'."""
    if time_fields is not None:
        return [(record, first(record, time_fields)) for record in records], []
    times = [(record, first(record, EVENT_TIMES)) for record in records]
    if all(time is None for _, time in times):
        return [(record, get(record, INGEST_TIME)) for record in records], []
    stored_only: Dated = [
        (record, time)
        for record, time in times
        if time is None and get(record, INGEST_TIME) is not None
    ]
    if stored_only:
        warn(
            f"{system}: {len(stored_only)} of {len(records)} records say when they were stored "
            f"({INGEST_TIME}) and not when they happened ({' or '.join(EVENT_TIMES)}); their time "
            "counts as unknown. time_fields= names the fields to date by"
        )
    aside = [record for record, _ in stored_only]
    return [pair for pair in times if not any(pair[0] is one for one in aside)], stored_only


def _edge(edge: object, time: object, ends: EndReader) -> dict[str, Any]:
    fact = {"id": first(edge, _ID), "timestamp": time, "text": get(edge, "fact")}
    return {**fact, **ends.ending(edge).fields()}


def _episode(episode: object, time: object, ends: EndReader, user: str | None) -> dict[str, Any]:
    """A message with its speaker, or a text as the turns that stand in it, or as a fact."""
    said = {"id": first(episode, _ID), "timestamp": time}
    text, role = get(episode, "content"), get(episode, "role")
    if role is not None:
        return {**said, "text": text, "role": role, "session": get(episode, "thread_uuid")}
    source = getattr(get(episode, "source"), "value", get(episode, "source"))
    if source == "message" and isinstance(text, str) and _SPOKEN.match(text):
        spoken = [_SPOKEN.match(line) for line in _LINE_OF_SPEAKER.split(text)]
        turns = [
            {"role": _speaker(match[1], user), "content": match[2]} for match in spoken if match
        ]
        return {**said, "turns": turns}
    return {**said, "text": text, **ends.ending(episode).fields()}


def _speaker(name: str, user: str | None) -> str:
    """The role behind a speaker's name, ``Kim (user)`` included; who is not known is no user."""
    names = {part.strip().casefold() for part in re.split(r"[()]", name)} - {""}
    known = next((part for part in names if part in ROLES), None)
    if user is not None and user.casefold() in names:
        return "user"
    return known or "assistant"


def _records(data: object, system: str) -> list[object]:
    """All edges, episodes and messages of a list, page, search result or context response."""
    if isinstance(data, list | tuple):
        return list(data)
    results = get(data, "results")
    if results is not None and not isinstance(results, list | tuple):
        if get(data, "truncated") is True:
            warn(f"{system}: the context was truncated; facts that did not fit are not in it")
        data = results
    found: list[object] = []
    held = [
        name
        for name in ("items", "results", "edges", "episodes", "messages", "facts")
        if isinstance(get(data, name), list | tuple)
    ]
    for name in held:
        found += get(data, name)
    if held or (results is not None and has(data, "edges")):
        refuse_part_of_pages(data, len(found), system)
        return found
    if isinstance(get(data, "context"), str):
        raise InputError(
            f"{system}: a context block is text for a prompt, without records and dates; pass the "
            "edges and episodes that the graph's search or list calls return"
        )
    if get(data, "fact") is not None or get(data, "content") is not None:
        return [data]
    raise InputError(
        f"{system}: expected edges or episodes: a list, a page under 'items', or a result with "
        f"'edges' or 'episodes', not {kind(data)}"
    )
