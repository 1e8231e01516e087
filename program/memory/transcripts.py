"""From recorded conversations to one ordered `Memory`.

Pure functions over parsed JSON. Only what was said, by whom and when is taken
over: annotations that some of these formats put beside the turns (what to
remember, which session holds the answer) stay out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from stateauditor.program.memory.describe import kind
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.readers import read_memory
from stateauditor.signatures.errors import InputError, TimestampError

_LOCOMO_SESSION: Final = re.compile(r"session_([0-9]+)")


def from_openai_messages(
    messages: Sequence[Any],
    *,
    timestamp: object = None,
    session_id: str | int | None = None,
    allow_undated: bool = False,
) -> Memory:
    """Read chat messages ``{"role", "content"}`` (dicts or SDK objects) as one session.

    Trap: these messages have no time at all, and none is guessed: give
    `timestamp` (any form that `parse_timestamp` reads), or put a ``timestamp``
    into each message, or pass ``allow_undated=True``. ``content`` may be a
    string, a list of parts (images and audio are skipped) or null; system,
    developer and tool messages are dropped and keep their place in the count.

    Raises `TimestampError` without a time, `InputError` for broken messages.
    """
    turns = []
    for message in _list(messages, "messages"):
        turn = message if isinstance(message, Mapping) else _fields(message)
        # A message that only calls tools may come without content.
        turns.append({"content": None, **turn} if turn.get("tool_calls") else turn)
    timed = any(turn.get("timestamp") is not None for turn in turns)
    if timestamp is None and not timed and not allow_undated:
        raise TimestampError(
            "chat messages carry no time: pass timestamp= with the time of the "
            "conversation, or allow_undated=True"
        )
    session = {"id": session_id, "timestamp": timestamp, "turns": turns}
    return read_memory([session], allow_undated=allow_undated)


def from_memora(sessions: Sequence[Mapping[str, Any]], *, allow_undated: bool = False) -> Memory:
    """Read Memora sessions ``{"session_id", "date", "conversation": [{"speaker", "message"}]}``.

    Traps: a date has no time of day and a week holds some 150 sessions, so
    within a day they are ordered by ``session_id``, and none counts as later
    than another of that day. Speakers are ``user_agent`` and ``ai_agent``,
    though the format's own description says ``user``. ``operation_details``
    tells what the session changed and is not read.
    """
    items = [
        {
            "id": session.get("session_id"),
            "timestamp": session.get("date"),
            "turns": [
                _renamed(turn, {"role": "speaker", "content": "message"})
                for turn in _objects(session.get("conversation"), "Memora 'conversation'")
            ],
        }
        for session in _objects(sessions, "Memora sessions")
    ]
    return read_memory(items, allow_undated=allow_undated)


def from_longmemeval(
    record: Mapping[str, Any], *, keep_ids: bool = False, allow_undated: bool = False
) -> Memory:
    """Read a LongMemEval record's ``haystack_sessions`` with their ``haystack_dates``.

    Dates read ``2023/05/20 (Sat) 02:21``. Traps: the oracle file is not sorted,
    so each session is tied to its date before anything is ordered. The ids in
    ``haystack_session_ids`` begin with ``answer_`` where the answer is, so
    sessions are called ``s01``, ... by time unless `keep_ids` asks for the
    originals (for recall measurements only). ``has_answer`` is not read.
    """
    names = ["haystack_sessions", "haystack_dates"]
    names += ["haystack_session_ids"] if keep_ids else []
    columns = [_list(record.get(name), f"LongMemEval '{name}'") for name in names]
    if len({len(column) for column in columns}) != 1:
        sizes = ", ".join(f"{len(c)} {n}" for n, c in zip(names, columns, strict=True))
        raise InputError(f"LongMemEval record: as many sessions as dates are needed, not {sizes}")
    items = [
        {"turns": turns, "timestamp": date, "id": rest[0] if rest else None}
        for turns, date, *rest in zip(*columns, strict=True)
    ]
    return read_memory(items, allow_undated=allow_undated)


def from_locomo(
    record: Mapping[str, Any],
    *,
    user: Literal["speaker_a", "speaker_b"] = "speaker_a",
    allow_undated: bool = False,
) -> Memory:
    """Read a LoCoMo talk: ``session_N`` with ``session_N_date_time``, flat or in ``conversation``.

    Dates read ``1:56 pm on 8 May, 2023``. Traps: both speakers are people, so
    `user` says whose memory it is; the other one's turns count as an
    assistant's and are no evidence. Some files have dates without sessions,
    which are skipped. Captions of shared pictures were made by a model and are
    not read.
    """
    talk = record.get("conversation", record)
    if not isinstance(talk, Mapping) or talk.get(user) is None:
        raise InputError(f"LoCoMo record: field '{user}' is missing")
    items = []
    for name, turns in talk.items():
        if not _LOCOMO_SESSION.fullmatch(name):
            continue
        said = [
            {
                "role": "user" if turn.get("speaker") == talk[user] else "assistant",
                **_renamed(turn, {"content": "text"}),
            }
            for turn in _objects(turns, f"LoCoMo '{name}'")
        ]
        items.append({"id": name, "timestamp": talk.get(f"{name}_date_time"), "turns": said})
    return read_memory(items, allow_undated=allow_undated)


def _fields(message: object) -> dict[str, Any]:
    names = ("role", "content", "tool_calls", "timestamp")
    return {name: getattr(message, name) for name in names if hasattr(message, name)}


def _renamed(turn: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Missing fields stay missing, so that the reader names them instead of dropping the turn."""
    return {new: turn[old] for new, old in names.items() if old in turn}


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{what}: must be a list, not {kind(value)}")
    return list(value)


def _objects(value: object, what: str) -> list[Mapping[str, Any]]:
    objects = _list(value, what)
    for position, item in enumerate(objects, start=1):
        if not isinstance(item, Mapping):
            raise InputError(f"{what}, entry {position}: must be an object, not {kind(item)}")
    return objects
