"""One Stale record, from parsed JSON to a `BenchmarkItem`.

Every field is checked, and nothing beyond the benchmark's nine fields is let
through: an unknown field may be one that somebody was not meant to see.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final, Literal

from stateauditor.data.checking import Field
from stateauditor.data.scenario import (
    BenchmarkItem,
    ByDimension,
    ChangeType,
    Dimension,
    JudgeKey,
    OracleIndices,
    Scenario,
    Session,
    Turn,
)
from stateauditor.data.sealed import SealedText

FIELDS: Final = (
    "uid",
    "haystack_session",
    "timestamps",
    "probing_queries",
    "M_old",
    "M_new",
    "explanation",
    "relevant_session_index",
    "type",
)
"""The fields of a record; any other set of fields is a broken record."""

_ROLES: Final[dict[str, Literal["user", "assistant"]]] = {"user": "user", "assistant": "assistant"}
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}")


def parse_record(raw: object, source: str, number: int) -> BenchmarkItem:
    """Check one record and split it by who may see what.

    `source` and the 1-based `number` tell where it comes from, for messages.
    Nested fields may be JSON text, as a table keeps them.

    Raises `InputError`, which names the uid and the first broken field.
    """
    fields = _named(raw, source, number).members(FIELDS)
    sessions = _sessions(fields["haystack_session"], fields["timestamps"])
    return BenchmarkItem(
        scenario=Scenario(
            uid=fields["uid"].text(), sessions=sessions, probes=_probes(fields["probing_queries"])
        ),
        type=fields["type"].choice(ChangeType),
        judge=JudgeKey(
            m_old=SealedText(fields["M_old"].text()),
            m_new=SealedText(fields["M_new"].text()),
            explanation=SealedText(fields["explanation"].text(filled=False)),
        ),
        oracle=_oracle(fields["relevant_session_index"], len(sessions)),
    )


def _named(raw: object, source: str, number: int) -> Field:
    """The record under a name that holds its uid, if it has one."""
    nameless = Field(f"{source}: record {number}, which has no uid", "", raw)
    if "uid" not in nameless.mapping():
        return nameless
    uid = nameless.mapping()["uid"].text()
    return Field(f"{source}: record {number} (uid {uid[:80]!r})", "", raw)


def _sessions(histories: Field, times: Field) -> tuple[Session, ...]:
    sessions, stamps = histories.items(), times.items()
    if not sessions:
        raise histories.broken("must hold at least one session")
    if len(sessions) != len(stamps):
        raise times.broken(f"holds {len(stamps)} times for {len(sessions)} sessions")
    found: list[Session] = []
    for place, (turns, stamp) in enumerate(zip(sessions, stamps, strict=True), start=1):
        time = _time(stamp)
        # Fixed width, so that the order of the texts is that of the times.
        if found and time <= found[-1].timestamp:
            raise stamp.broken("is not later than the one before it; the times must rise")
        found.append(Session(f"s{place:02d}", time, tuple(_turn(t) for t in turns.items())))
    return tuple(found)


def _time(stamp: Field) -> str:
    text = stamp.text()
    try:
        if not _TIME.fullmatch(text):
            raise ValueError
        datetime.strptime(text, "%Y-%m-%d %H:%M")
    except ValueError as error:
        raise stamp.broken("must be a time of the form YYYY-MM-DD HH:MM") from error
    return text


def _turn(turn: Field) -> Turn:
    fields = turn.members(("role", "content"))
    role = _ROLES.get(fields["role"].text())
    if role is None:
        raise fields["role"].broken(f"must be one of {', '.join(_ROLES)}")
    return Turn(role, fields["content"].text(filled=False))


def _probes(queries: Field) -> ByDimension[str]:
    fields = queries.members(tuple(f"{dimension.key}_query" for dimension in Dimension))
    return ByDimension(*(field.text() for _, field in sorted(fields.items())))


def _oracle(pair: Field, sessions: int) -> OracleIndices:
    indices = pair.items()
    if len(indices) != 2:
        raise pair.broken(f"must hold two places, the old one and the new one, not {len(indices)}")
    old, new = (index.whole() for index in indices)
    for index in indices:
        if index.whole() >= sessions:
            raise index.broken(f"points beyond the {sessions} sessions (places count from 0)")
    if old >= new:
        raise pair.broken("the old session must come before the new one")
    return OracleIndices(old, new)
