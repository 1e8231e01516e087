"""Letta: memory blocks, passages of archival memory, and an agent's messages."""

from __future__ import annotations

from typing import Any, Final

from stateauditor.program.memory.converters.loss import warn
from stateauditor.program.memory.converters.messages import from_letta_messages
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import first, get, records
from stateauditor.program.memory.readers import read_memory
from stateauditor.program.memory.validity import EndReader, as_of_time

AGENTS_OWN: Final = ("persona",)
"""Labels of blocks that speak of the agent, and not of the user."""


def from_letta(
    data: object,
    *,
    timestamp: object = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """Read Letta's blocks, passages or messages: a list of one kind, or an agent's state.

    A block (``label``, ``value``) gives one fact for each of its lines, because it is one text
    that the agent rewrites as a whole. It has no time: pass `timestamp`, the time of its last
    change, or ``allow_undated=True``. The ``persona`` block is about the agent and left out. A
    passage is a fact at its ``created_at``; a deleted one is closed (see `read_memory` for
    `as_of` and `user`).
    """
    held = get(data, "memory")
    found = records(data if held is None else held, ("blocks", "items", "passages"), "Letta")
    if found and all(get(record, "message_type") is not None for record in found):
        return from_letta_messages(found, timestamp=timestamp, allow_undated=allow_undated)
    ends = EndReader("Letta", as_of_time(as_of), allow_undated)
    items: list[dict[str, Any]] = []
    for number, record in enumerate(found, start=1):
        if get(record, "value") is not None:
            items += _lines(record, timestamp, number)
        else:
            ending = ends.ending(record, touched=get(record, "updated_at"))
            fact = {"id": get(record, "id"), "text": get(record, "text"), **ending.fields()}
            time = first(record, ("created_at", "timestamp"))
            items.append({**fact, "timestamp": timestamp if time is None else time})
    if found and not items:
        warn("Letta: the blocks hold nothing about the user")
    return read_memory(items, user=user, allow_undated=allow_undated, as_of=as_of)


def _lines(block: object, timestamp: object, number: int) -> list[dict[str, Any]]:
    label = str(get(block, "label") or f"block{number}")
    if label in AGENTS_OWN:
        return []
    time = first(block, ("updated_at", "last_updated_at"))
    lines = [line.strip(" \t-*•") for line in str(get(block, "value")).splitlines()]
    return [
        {"id": f"{label}.{place}", "timestamp": timestamp if time is None else time, "text": line}
        for place, line in enumerate(lines, start=1)
        if line
    ]
