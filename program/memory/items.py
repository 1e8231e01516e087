"""The typed edge: one stored item of any accepted shape, checked field by field.

An `Item` is a fact, a session or an entry that was read before, still without
the ids that only the whole memory can give (see ``readers``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from stateauditor.program.memory.describe import clipped, kind
from stateauditor.program.memory.fields import get
from stateauditor.program.memory.naming import as_user
from stateauditor.program.memory.problems import Problems
from stateauditor.program.memory.timestamps import SortKey, sort_key, timestamp_or_reason
from stateauditor.program.memory.validity import Ending, ending_of
from stateauditor.signatures.models import EntryRole, MemoryEntry, Timestamp, Validity
from stateauditor.signatures.surrogates import replace_surrogates

ROLES: Final[Mapping[str, EntryRole | None]] = {
    "user": EntryRole.USER,
    "human": EntryRole.USER,
    "user_agent": EntryRole.USER,
    "assistant": EntryRole.ASSISTANT,
    "ai": EntryRole.ASSISTANT,
    "ai_agent": EntryRole.ASSISTANT,
    "bot": EntryRole.ASSISTANT,
    "model": EntryRole.ASSISTANT,
    "system": None,
    "developer": None,
    "tool": None,
    "function": None,
}
"""Who speaks under which name; None marks turns that nobody in the talk said: dropped."""

SAID_AT: Final = ("timestamp", "created_at", "createdAt", "create_time", "sent_at", "date")
"""Where a turn may carry its own time, the first that is set."""

_TEXT_PARTS: Final = (None, "text", "input_text", "output_text")


@dataclass(frozen=True, slots=True)
class Statement:
    """One text with its time; ``turn`` is its 0-based place in its session, if any."""

    text: str
    role: EntryRole
    timestamp: Timestamp | None
    turn: int | None = None
    validity: Validity = Validity.OPEN
    ended: Timestamp | None = None

    def as_open(self) -> Statement:
        """The same as if it had not ended."""
        return replace(self, validity=Validity.OPEN, ended=None)


@dataclass(frozen=True, slots=True)
class Item:
    """A fact (one statement) or a session (any number), with the id that was given, if any.

    ``where`` is how messages name it. ``member_of`` is the session that a single
    statement says it comes from.
    """

    where: str
    id: str | None
    is_session: bool
    timestamp: Timestamp | None
    statements: tuple[Statement, ...]
    member_of: str | None = None

    def order(self) -> tuple[SortKey, bool, list[tuple[int, str, str, SortKey, str, SortKey]], str]:
        """Sorts items by time, then content: equal keys mean interchangeable items."""
        said = [
            (
                -1 if s.turn is None else s.turn,
                s.text,
                s.role.value,
                sort_key(s.timestamp),
                s.validity.value,
                sort_key(s.ended),
            )
            for s in self.statements
        ]
        return sort_key(self.timestamp), self.is_session, said, self.member_of or ""

    def folded(self, other: Item) -> Item | None:
        """The item that both are, or None where they differ.

        Of a session that was exported again after it grew the longer one stays, and of a
        fact that was closed in between the closed one.
        """
        longer, shorter = sorted((self, other), key=Item._extent, reverse=True)
        told, again = longer.statements, shorter.statements
        same = longer.is_session is shorter.is_session and longer.member_of == shorter.member_of
        if not same or longer.timestamp != shorter.timestamp:
            return None
        if self.is_session:
            return longer if told[: len(again)] == again else None
        return longer if [s.as_open() for s in told] == [s.as_open() for s in again] else None

    def _extent(self) -> tuple[int, list[tuple[bool, SortKey]]]:
        closed = [(s.validity is not Validity.OPEN, sort_key(s.ended)) for s in self.statements]
        return len(self.statements), closed


@dataclass(frozen=True, slots=True)
class ItemReader:
    """Reads items and notes every problem in `problems`.

    Ends count that came by `as_of`; `user` is the user's name in facts, if they use one.
    """

    problems: Problems
    allow_undated: bool
    as_of: Timestamp
    user: str | None = None

    def read(self, raw: object, where: str) -> Item | None:
        """One item, or None where nothing of it can be used; `where` is ``entry 3``."""
        if isinstance(raw, MemoryEntry):
            return self._entry(raw, where)
        if not isinstance(raw, Mapping):
            self.problems.add(where, f"a fact or session is an object, not {kind(raw)}")
            return None
        item_id = self._id(raw.get("id"), where, "id")
        named = where if item_id is None else f"{where} (id {clipped(item_id)})"
        if "turns" in raw and "text" in raw:
            self.problems.add(named, "has both 'text' and 'turns'; give one of them")
            return None
        if "turns" in raw:
            return self._session(raw, named, item_id)
        if "text" in raw:
            return self._fact(raw, named, item_id)
        self.problems.add(named, "has neither 'text' (a fact) nor 'turns' (a session)")
        return None

    def _entry(self, entry: MemoryEntry, where: str) -> Item | None:
        entry_id = self._id(entry.id, where, "id")
        named = f"{where} (id {clipped(entry_id)})"
        if entry.validity is Validity.CLOSING:
            return None  # follows from the fact that it ends
        if entry.timestamp is None and not self.allow_undated:
            self.problems.add_time(f"{named}, field 'timestamp'", "is missing")
        ending = Ending(entry.validity, entry.ended)
        statement = self._statement(
            entry.text, entry.role, entry.timestamp, entry.turn, named, ending
        )
        session = None if entry.session is None else replace_surrogates(entry.session)
        return Item(named, entry_id, False, entry.timestamp, statement, session)

    def _fact(self, raw: Mapping[object, object], where: str, item_id: str | None) -> Item | None:
        timestamp = self._time(raw.get("timestamp"), where, "timestamp")
        role: EntryRole | None = EntryRole.FACT
        session, turn = None, None
        # An entry written out as JSON keeps its speaker: what an assistant said
        # must not come back as a fact about the user.
        if raw.get("role") not in (None, EntryRole.FACT.value):
            role = self._role(raw["role"], where, "role")
            session = self._id(raw.get("session"), where, "session")
            turn = self._turn_number(raw.get("turn"), where)
        if role is None or raw.get("validity") == Validity.CLOSING.value:
            return None
        ending = ending_of(raw, self.as_of, lambda name, why: self._bad_time(where, name, why))
        statement = self._statement(raw["text"], role, timestamp, turn, where, ending)
        return Item(where, item_id, False, timestamp, statement, session)

    def _statement(
        self,
        text: object,
        role: EntryRole,
        time: Timestamp | None,
        turn: int | None,
        where: str,
        ending: Ending,
    ) -> tuple[Statement, ...]:
        if not isinstance(text, str):
            self.problems.add(f"{where}, field 'text'", f"must be text, not {kind(text)}")
            return ()
        if not text.strip():
            self.problems.add(f"{where}, field 'text'", "is empty")
            return ()
        text = replace_surrogates(text)
        if self.user is not None and role is EntryRole.FACT:
            text = as_user(text, self.user)
        return (Statement(text, role, time, turn, ending.validity, ending.ended),)

    def _session(self, raw: Mapping[object, object], where: str, item_id: str | None) -> Item:
        turns = raw["turns"]
        if not isinstance(turns, list | tuple):
            self.problems.add(f"{where}, field 'turns'", f"must be a list, not {kind(turns)}")
            turns = ()
        given = raw.get("timestamp")
        start = None if given is None else self._time(given, where, "timestamp")
        statements, now, rests_on_start = [], start, not turns
        for number, turn in enumerate(turns):
            path = f"turns[{number}]"
            if not isinstance(turn, Mapping):
                what = f"must be an object, not {kind(turn)}"
                self.problems.add(f"{where}, field '{path}'", what)
                continue
            time = now
            timed = next((name for name in SAID_AT if turn.get(name) is not None), None)
            if timed is not None:
                time = self._time(turn[timed], where, f"{path}.{timed}")
                # A turn without a time was said no earlier than the turn before it.
                now = time or now
            role = self._role(turn.get("role"), where, f"{path}.role")
            text = "" if role is None else self._content(turn, where, path)
            if role is not None and text.strip():
                rests_on_start |= time is None and timed is None
                statements.append(Statement(replace_surrogates(text), role, time, number))
        if given is None and rests_on_start:
            self._time(None, where, "timestamp")
        if start is None and statements:
            start = statements[0].timestamp
        return Item(where, item_id, True, start, tuple(statements))

    # --- fields -------------------------------------------------------------

    def _id(self, value: object, where: str, name: str) -> str | None:
        if value is None:
            return None
        if isinstance(value, str) and value.strip():
            return replace_surrogates(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self.problems.add(
            f"{where}, field '{name}'",
            f"must be non-empty text or an integer, not {clipped(value)}",
        )
        return None

    def _turn_number(self, value: object, where: str) -> int | None:
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            return value
        self.problems.add(f"{where}, field 'turn'", f"must count from 0, not {clipped(value)}")
        return None

    def _time(self, value: object, where: str, name: str) -> Timestamp | None:
        found = "is missing" if value is None else timestamp_or_reason(value)
        if not isinstance(found, str):
            return found
        self._bad_time(where, name, found)
        return None

    def _bad_time(self, where: str, name: str, why: str) -> None:
        if not self.allow_undated:
            self.problems.add_time(f"{where}, field '{name}'", why)

    def _role(self, value: object, where: str, name: str) -> EntryRole | None:
        key = value.strip().casefold() if isinstance(value, str) else ""
        if key not in ROLES:
            what = "is missing" if value is None else f"{clipped(value)} is unknown"
            self.problems.add(f"{where}, field '{name}'", f"{what}; known: {', '.join(ROLES)}")
            return None
        return ROLES[key]

    def _content(self, turn: Mapping[object, object], where: str, path: str) -> str:
        if "content" not in turn:
            self.problems.add(f"{where}, field '{path}.content'", "is missing")
            return ""
        content = turn["content"]
        if isinstance(content, str):
            return content
        if content is None:
            return ""
        if isinstance(content, list | tuple):
            return "\n".join(text for part in content if (text := _part_text(part)).strip())
        self.problems.add(
            f"{where}, field '{path}.content'",
            f"must be text, a list of parts or null, not {kind(content)}",
        )
        return ""


def _part_text(part: object) -> str:
    """The text of one content part, a mapping or an SDK's object; images and calls have none."""
    if isinstance(part, str):
        return part
    if get(part, "type") not in _TEXT_PARTS:
        return ""
    text = get(part, "text")
    # One older message format nests the string once more.
    text = text if isinstance(text, str) else get(text, "value")
    return text if isinstance(text, str) else ""
