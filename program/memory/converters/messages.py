"""Chat messages: OpenAI's (chat, threads, responses, agent sessions), LangChain's, Letta's.

Such messages often have no time at all, and none is guessed: it has to be given for all of
them, or to stand in each, or the conversation is undated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from stateauditor.program.memory.converters.loss import refuse_part_of_pages
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import first, get, has, listed
from stateauditor.program.memory.items import SAID_AT
from stateauditor.program.memory.readers import read_memory
from stateauditor.program.memory.timestamps import parse_timestamp
from stateauditor.signatures.errors import InputError, TimestampError

_FIELDS: Final = ("role", "content", "tool_calls", *SAID_AT)
_LANGCHAIN_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "remove": "tool",
}
_LETTA_ROLES: Final = {"user_message": "user", "assistant_message": "assistant"}
_NESTED: Final = ("additional_kwargs", "response_metadata", "metadata")

Turn = dict[str, Any]


def from_openai_messages(
    messages: Sequence[Any],
    *,
    timestamp: object = None,
    session_id: str | int | None = None,
    allow_undated: bool = False,
) -> Memory:
    """Read chat messages ``{"role", "content"}`` (dicts or SDK objects) as one session.

    Takes messages of chat completions, of threads (``created_at``), items of responses and
    of agent sessions; calls, their outputs and reasoning among them are dropped and keep
    their place in the count, as system, developer and tool messages do. A page that lists the
    latest first is turned round. ``content`` may be a string, a list of parts (images and
    audio are skipped) or null.

    Trap: most of these messages have no time, and none is guessed: give `timestamp` (any form
    that `parse_timestamp` reads), or put a ``timestamp`` or ``created_at`` into each message,
    or pass ``allow_undated=True``.

    Raises `TimestampError` without a time, `InputError` for broken messages.
    """
    turns = [_openai_turn(message) for message in _messages(messages)]
    return _session(_oldest_first(turns), timestamp, session_id, allow_undated)


def from_langchain_messages(
    messages: Sequence[Any],
    *,
    timestamp: object = None,
    session_id: str | int | None = None,
    allow_undated: bool = False,
) -> Memory:
    """Read LangChain messages as one session: objects, or as LangChain writes them to JSON.

    Takes ``HumanMessage`` and its like, ``messages_to_dict``, ``dumpd`` and ``model_dump``.
    Times as in `from_openai_messages`; a message's own is looked for in its
    ``additional_kwargs`` and metadata, too.
    """
    turns = [_langchain_turn(message) for message in _messages(messages)]
    return _session(turns, timestamp, session_id, allow_undated)


def from_letta_messages(
    messages: Sequence[Any],
    *,
    timestamp: object = None,
    session_id: str | int | None = None,
    allow_undated: bool = False,
) -> Memory:
    """Read an agent's messages from Letta (``message_type``, ``content``, ``date``).

    Reasoning, tool calls and system messages are dropped.
    """
    turns = [
        {**_fields(message), "role": _LETTA_ROLES.get(get(message, "message_type"), "tool")}
        for message in _messages(messages)
    ]
    return _session(_oldest_first(turns), timestamp, session_id, allow_undated)


def _session(
    turns: Sequence[Turn], timestamp: object, session_id: str | int | None, allow_undated: bool
) -> Memory:
    timed = any(first(turn, SAID_AT) is not None for turn in turns)
    if timestamp is None and not timed and not allow_undated:
        raise TimestampError(
            "chat messages carry no time: pass timestamp= with the time of the "
            "conversation, or allow_undated=True"
        )
    session = {"id": session_id, "timestamp": timestamp, "turns": list(turns)}
    return read_memory([session], allow_undated=allow_undated)


def messages_in(data: object) -> Any:
    """The messages of a file: under ``messages``, of a page, or of a graph's state."""
    values = get(data, "values")
    held = first(values if isinstance(values, Mapping) else data, ("messages", "data", "items"))
    if not isinstance(held, list | tuple):
        return data
    refuse_part_of_pages(data, len(held), "messages")
    return held


def _messages(data: object) -> list[Any]:
    """The messages of a list, or of an SDK's page."""
    return listed(data if isinstance(data, Mapping) else messages_in(data), "messages")


def _openai_turn(message: object) -> Turn:
    turn = _fields(message)
    if turn.get("role") is None and get(message, "type") not in (None, "message"):
        return {"role": "tool", "content": None}  # a call, its output, reasoning
    # A message that only calls tools may come without content.
    return {"content": None, **turn} if turn.get("tool_calls") else turn


def _langchain_turn(message: object) -> Turn:
    inner = first(message, ("data", "kwargs"))
    inner = message if inner is None else inner
    kind_of = get(inner, "type") or get(message, "type")
    if kind_of == "constructor" or not isinstance(kind_of, str):
        kind_of = str((get(message, "id") or [""])[-1]).removesuffix("Message").lower()
    kind_of = kind_of.removesuffix("MessageChunk").lower()
    role = get(inner, "role") if kind_of in ("chat", "generic") else _LANGCHAIN_ROLES.get(kind_of)
    if role is None:
        raise InputError(
            f"LangChain messages: type '{kind_of}' is unknown; known: "
            f"{', '.join(_LANGCHAIN_ROLES)}, chat"
        )
    times = {
        name: time
        for place in (inner, *(get(inner, nested) for nested in _NESTED))
        for name in SAID_AT
        if (time := get(place, name)) is not None
    }
    return {**times, "role": role, "content": get(inner, "content")}


def _fields(message: object) -> Turn:
    if isinstance(message, Mapping):
        return dict(message)
    return {name: get(message, name) for name in _FIELDS if has(message, name)}


def _oldest_first(turns: Sequence[Turn]) -> list[Turn]:
    """The turns as given, or turned round where their times fall from first to last."""
    times = [first(turn, SAID_AT) for turn in turns]
    if len(times) < 2 or None in times:
        return list(turns)
    try:
        instants = [parse_timestamp(time).instant for time in times]
    except TimestampError:
        return list(turns)  # the reader names the one that is wrong
    falls = instants == sorted(instants, reverse=True) and instants[0] > instants[-1]
    return list(reversed(turns)) if falls else list(turns)
