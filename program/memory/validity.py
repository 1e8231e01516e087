"""When a store has closed a fact: the many fields and marks that say so, read in one place.

An end that is still to come closes nothing yet, so the reader needs to know when it
reads: `as_of`, by default the clock's now. No other part of the program has a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from stateauditor.program.memory.describe import clipped
from stateauditor.program.memory.fields import first, get
from stateauditor.program.memory.timestamps import is_later, parse_timestamp, timestamp_or_reason
from stateauditor.signatures.errors import TimestampError
from stateauditor.signatures.models import Precision, Timestamp, Validity

HELD_UNTIL: Final = ("ended", "invalid_at", "valid_until", "valid_to", "ended_at")
"""When the fact stopped being true; such an end may be known in advance."""

RETIRED_AT: Final = ("superseded_at", "retracted_at", "deleted_at", "archived_at")
"""When the store took the fact back."""

EXPIRES_AT: Final = ("expired_at", "expiration_date", "expires_at")
"""When the store stops asserting it; graphiti notes here that it learned of an end, too."""

RAISED: Final = (
    *("is_deleted", "deleted", "superseded", "superseded_by", "is_superseded", "replaced_by"),
    *("invalidated", "invalidated_by", "is_invalid", "retracted", "archived", "is_archived"),
    *("expired", "is_expired", "outdated", "obsolete"),
)
"""Marks that close a fact when they are set."""

LOWERED: Final = ("is_active", "active", "is_current", "current", "is_valid", "valid", "is_latest")
"""Marks that close a fact when they are there and say no."""

STATES: Final = ("validity", "status")
_STATE_WORDS = """
archived closed deleted expired inactive invalid invalidated obsolete outdated replaced
retracted superseded
"""
_CLOSED_STATES: Final = frozenset(_STATE_WORDS.split())
_NO: Final = frozenset(("", "0", "false", "no", "none", "null"))
_OPEN_ENDS: Final = frozenset(("", "none", "null", "present", "now", "ongoing"))
# Zero values, and "for ever", as stores write them.
_OPEN_YEARS: Final = ("0001-", "9999-")

Complain = Callable[[str, str], None]
"""Takes the field and what is wrong with its time."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Whether a record is closed, and since when if that is known.

    ``marked`` says that a mark without a time closed it: then the time of the record's
    last update, if it has one, is when the mark was set.
    """

    validity: Validity = Validity.OPEN
    ended: Timestamp | None = None
    marked: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the fact still holds, as far as its store says."""
        return self.validity is Validity.OPEN

    def fields(self) -> dict[str, object]:
        """The same as the fields of a fact that `read_memory` reads."""
        return {"validity": self.validity.value, "ended": self.ended}


def now() -> Timestamp:
    """The clock's time, for readers that were not told one."""
    return Timestamp(instant=datetime.now(UTC), precision=Precision.MICROSECOND)


def ending_of(
    record: object,
    as_of: Timestamp,
    complain: Complain | None = None,
    *,
    inside: Sequence[object] = (),
) -> Ending:
    """How `record`, a mapping or an object of any store, says that it ended by `as_of`.

    Looks at the record itself, into its ``metadata``, and at what else holds its fields
    (`inside`). An end that cannot be read is reported to `complain`; the fact then counts as
    closed at an unknown time: whatever was written there, it was no sign of holding on.
    """
    places = [record, get(record, "metadata"), *inside]
    held, scheduled = _end(places, HELD_UNTIL, as_of, complain)
    retired, _ = _end(places, RETIRED_AT, as_of, complain)
    expired, _ = _end(places, EXPIRES_AT, as_of, complain)
    # graphiti sets expired_at as soon as it knows of an end, even of one still to come.
    found = held or retired or (None if scheduled else expired)
    if found is not None:
        return found
    if any(_marked(place) for place in places):
        return Ending(Validity.CLOSED, marked=True)
    return Ending()


def _end(
    places: list[object], names: tuple[str, ...], as_of: Timestamp, complain: Complain | None
) -> tuple[Ending | None, bool]:
    """The first end that has come, and whether there is one still to come."""
    scheduled = False
    for name in names:
        for place in places:
            value = get(place, name)
            if _open_ended(value):
                continue
            time = timestamp_or_reason(value)
            if isinstance(time, str):
                if complain is not None:
                    complain(name, time)
                return Ending(Validity.CLOSED), scheduled
            if is_later(as_of, time):
                return Ending(Validity.CLOSED, time), scheduled
            scheduled = True
    return None, scheduled


def _open_ended(value: object) -> bool:
    if value is None or isinstance(value, bool | Mapping):
        return True
    text = str(value).strip().casefold()
    return text in _OPEN_ENDS or text.startswith(_OPEN_YEARS)


def _marked(place: object) -> bool:
    if any(_says_yes(get(place, name)) for name in RAISED):
        return True
    if any((value := get(place, name)) is not None and _says_no(value) for name in LOWERED):
        return True
    return any(_word(get(place, name)) in _CLOSED_STATES for name in STATES)


def _says_yes(value: object) -> bool:
    return value is not None and not _says_no(value)


def _says_no(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in _NO
    return isinstance(value, bool | int | float | list | tuple | Mapping) and not value


def _word(value: object) -> str:
    return str(getattr(value, "value", value)).strip().casefold()


def as_of_time(value: object) -> Timestamp:
    """The time up to which ends count: `value` as a timestamp, or now."""
    return now() if value is None else parse_timestamp(value)


@dataclass(frozen=True, slots=True)
class EndReader:
    """Reads the ends of one store's records for their converter."""

    system: str
    as_of: Timestamp
    allow_undated: bool

    def ending(
        self, record: object, *, inside: Sequence[object] = (), touched: object = None
    ) -> Ending:
        """As :func:`ending_of`; `touched` is when a record that a mark closed was last written.

        Raises `TimestampError` for an end that cannot be read, unless undated is allowed.
        """

        def complain(name: str, why: str) -> None:
            if not self.allow_undated:
                named = clipped(first(record, ("id", "uuid", "uuid_", "key")))
                raise TimestampError(f"{self.system} record {named}, field '{name}': {why}")

        found = ending_of(record, self.as_of, complain, inside=inside)
        if not found.marked or touched is None:
            return found
        time = timestamp_or_reason(touched)
        return found if isinstance(time, str) else Ending(Validity.CLOSED, time, marked=True)
