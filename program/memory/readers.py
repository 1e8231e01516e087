"""From what users have (facts, sessions, Stale records) to one ordered `Memory`.

Any permutation of the same input gives the identical memory, ids included: what
carries no id is numbered after sorting by time and content, never by position.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from stateauditor.program.memory.describe import clipped, kind
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.items import Item, ItemReader
from stateauditor.program.memory.order import ordered
from stateauditor.program.memory.problems import Problems
from stateauditor.program.memory.validity import as_of_time
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import MemoryEntry

STALE_FIELDS = ("haystack_session", "timestamps")
"""All that a Stale record shows to the system under test; no other field is read."""


def read_memory(
    data: object, *, allow_undated: bool = False, user: str | None = None, as_of: object = None
) -> Memory:
    """Read parsed JSON as one user's memory, oldest first.

    `data` is one of

    - a list that may mix facts ``{"id"?, "timestamp", "text"}``, sessions
      ``{"id"?, "timestamp", "turns": [{"role", "content", "timestamp"?}]}`` and
      `MemoryEntry` objects (or their JSON form); other keys are ignored;
    - a Stale record: ``haystack_session`` and ``timestamps``, possibly as JSON
      text; the judge's fields are never looked at;
    - a `Memory`, which comes back as it is.

    Turn entries are called ``<session id>.<turn>`` with the 0-based place of the
    turn, facts by their id; missing ids become ``s01``, ``f01``, ... A turn's own
    time overrides its session's and holds for the turns after it that have none.
    System, developer and tool turns, empty turns and non-text parts are dropped.

    A fact may say that it ended: ``invalid_at``, ``valid_until``, ``expired_at``,
    ``expiration_date``, ``deleted_at`` and their like, or a mark (``superseded_by``, ``deleted``,
    ``status: archived``; all of them in `validity`). It is then closed, which is evidence of its
    own, and never what holds now. An end after `as_of` (any readable time; now if None) is
    still to come and closes nothing.

    `user` is the user's name where facts use it ("Kim lives in Ghent") or leave it out ("Lives
    in Ghent"): both are read as "User lives in Ghent".

    One item twice under one id stands once, and so does a session that grew in between.
    `allow_undated` turns a missing or unreadable time into an unknown one, which
    is never later than anything; such entries come first.

    Raises `TimestampError` if only times are wrong, else `InputError`; the
    message names every problem by 1-based position, id and field.
    """
    return read_items(data, Problems(), allow_undated=allow_undated, user=user, as_of=as_of)


def read_items(
    data: object,
    problems: Problems,
    *,
    allow_undated: bool = False,
    user: str | None = None,
    as_of: object = None,
    lines: Sequence[int] = (),
) -> Memory:
    """`read_memory` for a source that has a name, and lines if its items stand on some."""
    if isinstance(data, Memory):
        return data
    given = data
    if isinstance(data, Mapping) and all(name in data for name in STALE_FIELDS):
        data = _stale_sessions(data, problems.source)
    if not isinstance(data, list | tuple):
        raise InputError(f"{problems.source}: {_wrong_shape(data)}")
    reader = ItemReader(problems, allow_undated, as_of_time(as_of), user)
    items = []
    for position, raw in enumerate(data, start=1):
        place = f" (line {lines[position - 1]})" if lines else ""
        if (item := reader.read(raw, f"entry {position}{place}")) is not None:
            items.append(item)
    items = _folded(items, problems)
    problems.advise(lambda: _converter_of(given))
    problems.raise_if_any()
    entries = _entries(items, problems)
    problems.raise_if_any()
    return Memory(ordered(entries))


def _wrong_shape(data: object) -> str:
    shapes = "a list of facts and sessions, or a Stale record"
    if not isinstance(data, Mapping):
        return f"a memory is {shapes}, not {kind(data)}{_converter_of(data)}"
    hint = next((f"; {hint}" for key, hint in _HINTS.items() if key in data), "")
    return f"a memory is {shapes}, not a single object{hint or _converter_of(data)}"


_HINTS = {
    "memory": "pass the list under 'memory'",
    "text": "put the fact in a list",
    "turns": "put the session in a list",
    "haystack_session": "the Stale record lacks 'timestamps'",
    "timestamps": "the Stale record lacks 'haystack_session'",
}


def _converter_of(data: object) -> str:
    """Which converter takes `data`, if its shape is known."""
    from stateauditor.program.memory.formats import recognise  # which reads by this module

    found = recognise(data)
    return "" if found is None or found.is_own else f"; this looks like {found.takes}"


# --- Stale records ----------------------------------------------------------


def _stale_sessions(record: Mapping[str, object], source: str) -> list[object]:
    """The record's sessions as items; each is tied to its time before anything is sorted."""
    of = f"{source}: record uid {clipped(record.get('uid'))}"
    sessions, timestamps = (_stale_list(record[name], f"{of}, '{name}'") for name in STALE_FIELDS)
    if len(sessions) != len(timestamps):
        raise InputError(
            f"{of}: {len(sessions)} sessions in 'haystack_session' "
            f"but {len(timestamps)} in 'timestamps'"
        )
    items: list[object] = []
    for number, (session, timestamp) in enumerate(zip(sessions, timestamps, strict=True)):
        turns = _stale_list(session, f"{of}, 'haystack_session[{number}]'")
        items.append({"timestamp": timestamp, "turns": turns})
    return items


def _stale_list(value: object, where: str) -> list[object]:
    """A list, also where a table format has kept it as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: JSON text that cannot be parsed: {error}") from error
    if not isinstance(value, list):
        raise InputError(f"{where}: must be a list, not {kind(value)}")
    return value


# --- ids and order ----------------------------------------------------------


def _folded(items: Iterable[Item], problems: Problems) -> list[Item]:
    """The items without repetitions; one id for different things is a problem."""
    kept: list[Item] = []
    place_of: dict[str, int] = {}
    for item in items:
        if item.id is None:
            kept.append(item)
            continue
        place = place_of.setdefault(item.id, len(kept))
        if place == len(kept):
            kept.append(item)
        elif (one := kept[place].folded(item)) is not None:
            kept[place] = one
        else:
            what = f"has the same id as {kept[place].where}, and says something else"
            problems.add(item.where, what)
    return kept


def _entries(items: Sequence[Item], problems: Problems) -> list[MemoryEntry]:
    """Entries under ids that are unique across the memory."""
    entries: list[MemoryEntry] = []
    origin: dict[str, str] = {}
    for item, item_id in _numbered(items):
        for statement in item.statements:
            session = item_id if item.is_session else item.member_of
            entry = MemoryEntry(
                id=f"{item_id}.{statement.turn}" if item.is_session else item_id,
                timestamp=statement.timestamp,
                text=statement.text,
                role=statement.role,
                session=session,
                turn=statement.turn,
                validity=statement.validity,
                ended=statement.ended,
            )
            if entry.id in origin:
                what = f"its entry {clipped(entry.id)} has the same id as {origin[entry.id]}"
                problems.add(item.where, what)
            origin[entry.id] = item.where
            entries.append(entry)
    return entries


def _numbered(items: Sequence[Item]) -> list[tuple[Item, str]]:
    """Each item with its id; new ids count in the order of time and content."""
    taken = {name for item in items for name in _names(item)}
    numbered = [(item, item.id) for item in items if item.id is not None]
    counts = {True: 0, False: 0}
    for item in sorted((item for item in items if item.id is None), key=Item.order):
        while True:
            counts[item.is_session] += 1
            # Not padded to the number of items: a fact that is added later must
            # not rename the older ones.
            candidate = f"{'s' if item.is_session else 'f'}{counts[item.is_session]:02d}"
            turn_ids = {f"{candidate}.{s.turn}" for s in item.statements if item.is_session}
            if taken.isdisjoint({candidate, *turn_ids}):
                break
        numbered.append((item, candidate))
    return numbered


def _names(item: Item) -> Iterable[str]:
    """The ids that are no longer free once `item` is in the memory."""
    if item.id is not None:
        yield item.id
        if item.is_session:
            yield from (f"{item.id}.{statement.turn}" for statement in item.statements)
    if item.member_of is not None:
        yield item.member_of
