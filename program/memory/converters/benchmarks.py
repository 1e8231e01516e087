"""Benchmarks of long conversations: Memora, LongMemEval, LoCoMo.

Only what was said, by whom and when is taken over: what these formats note beside the turns
(what to remember, which session holds the answer) stays out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from stateauditor.program.memory.converters.loss import refuse_several
from stateauditor.program.memory.describe import kind
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import listed, objects
from stateauditor.program.memory.readers import read_memory
from stateauditor.signatures.errors import InputError

_LOCOMO_SESSION: Final = re.compile(r"session_([0-9]+)")
_SPEAKERS: Final = ("speaker_a", "speaker_b")


def from_memora(
    sessions: Sequence[Mapping[str, Any]] | Mapping[str, Any], *, allow_undated: bool = False
) -> Memory:
    """Read Memora sessions ``{"session_id", "date", "conversation": [{"speaker", "message"}]}``.

    Traps: a date has no time of day and a week holds some 150 sessions, so
    within a day they are ordered by ``session_id``, and none counts as later
    than another of that day. Speakers are ``user_agent`` and ``ai_agent``,
    though the format's own description says ``user``. ``operation_details``
    tells what the session changed and is not read.
    """
    sessions = [sessions] if isinstance(sessions, Mapping) else sessions
    items = [
        {
            "id": session.get("session_id"),
            "timestamp": session.get("date"),
            "turns": [
                _renamed(turn, {"role": "speaker", "content": "message"})
                for turn in objects(session.get("conversation"), "Memora 'conversation'")
            ],
        }
        for session in objects(sessions, "Memora sessions")
    ]
    return read_memory(items, allow_undated=allow_undated)


def from_longmemeval(
    record: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    keep_ids: bool = False,
    allow_undated: bool = False,
) -> Memory:
    """Read a LongMemEval record's ``haystack_sessions`` with their ``haystack_dates``.

    Dates read ``2023/05/20 (Sat) 02:21``. Traps: the oracle file is not sorted,
    so each session is tied to its date before anything is ordered. The ids in
    ``haystack_session_ids`` begin with ``answer_`` where the answer is, so
    sessions are called ``s01``, ... by time unless `keep_ids` asks for the
    originals (for recall measurements only). ``has_answer`` is not read.
    """
    record = _one(record, "LongMemEval")
    names = ["haystack_sessions", "haystack_dates"]
    names += ["haystack_session_ids"] if keep_ids else []
    columns = [listed(record.get(name), f"LongMemEval '{name}'") for name in names]
    if len({len(column) for column in columns}) != 1:
        sizes = ", ".join(f"{len(c)} {n}" for n, c in zip(names, columns, strict=True))
        raise InputError(f"LongMemEval record: as many sessions as dates are needed, not {sizes}")
    items = [
        {"turns": turns, "timestamp": date, "id": rest[0] if rest else None}
        for turns, date, *rest in zip(*columns, strict=True)
    ]
    return read_memory(items, allow_undated=allow_undated)


def from_locomo(
    record: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    user: str = "speaker_a",
    allow_undated: bool = False,
) -> Memory:
    """Read a LoCoMo talk: ``session_N`` with ``session_N_date_time``, flat or in ``conversation``.

    Dates read ``1:56 pm on 8 May, 2023``. Traps: both speakers are people, so
    `user` says whose memory it is (``speaker_a``, ``speaker_b`` or one of their names); the
    other one's turns count as an assistant's and are no evidence. Some files have dates
    without sessions, which are skipped. Captions of shared pictures were made by a model
    and are not read.
    """
    record = _one(record, "LoCoMo")
    talk = record.get("conversation", record)
    if not isinstance(talk, Mapping):
        talk = {}
    names = {str(talk.get(field)).casefold(): talk.get(field) for field in _SPEAKERS}
    name = talk.get(user) if user in _SPEAKERS else names.get(user.casefold())
    if name is None:
        known = ", ".join(str(talk[field]) for field in _SPEAKERS if talk.get(field) is not None)
        missing = f"field '{user}' is missing" if user in _SPEAKERS else f"no speaker is '{user}'"
        raise InputError(f"LoCoMo record: {missing}" + (f"; known: {known}" if known else ""))
    items = []
    for session, turns in talk.items():
        if not _LOCOMO_SESSION.fullmatch(session):
            continue
        said = [
            {
                "role": "user" if turn.get("speaker") == name else "assistant",
                **_renamed(turn, {"content": "text"}),
            }
            for turn in objects(turns, f"LoCoMo '{session}'")
        ]
        time = talk.get(f"{session}_date_time")
        items.append({"id": session, "timestamp": time, "turns": said})
    return read_memory(items, allow_undated=allow_undated)


def _one(record: object, system: str) -> Mapping[str, Any]:
    found = refuse_several(record, system)
    if not isinstance(found, Mapping):
        raise InputError(f"{system}: a record is an object, not {kind(found)}")
    return found


def _renamed(turn: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Missing fields stay missing, so that the reader names them instead of dropping the turn."""
    return {new: turn[old] for new, old in names.items() if old in turn}
