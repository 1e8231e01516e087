"""Reading the times that users write, and comparing them without inventing anything.

A time is read by one strict form or refused: no fuzzy parsing, no clock, no
field filled in. What was not written down (the time of day, the seconds) stays
unknown and takes part in no comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from dateutil.parser import isoparser

from stateauditor.program.memory.describe import clipped, kind
from stateauditor.signatures.errors import TimestampError
from stateauditor.signatures.models import Precision, Timestamp

ACCEPTED_FORMS: Final = (
    "YYYY-MM-DD or YYYY/MM/DD",
    "YYYY-MM-DD HH:MM[:SS[.ffffff]] with 'T' or a space, and optionally Z, +05:30 or -0700",
    "YYYY/MM/DD HH:MM or YYYY/MM/DD (Sat) HH:MM",
    "1:56 pm on 8 May, 2023",
    "epoch seconds from 100000000 to 9999999999 (milliseconds: divide by 1000)",
)
"""What :func:`parse_timestamp` reads, for error messages and help texts."""

# Zero values (0001-01-01) and "for ever" (9999-12-31) stand for an unknown time
# in the stores that write them; as times they would be oldest or latest of all.
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2999

# Nine or ten digits: 1973 to 2286. Smaller numbers are more often counters,
# years or compact dates; larger ones are milliseconds or finer.
FIRST_EPOCH_SECOND: Final = 100_000_000
LAST_EPOCH_SECOND: Final = 9_999_999_999

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

# The gate in front of dateutil, whose isoparser would also take "2023", "2023-05"
# and "2023-05-20T02" and fill in the rest.
_ISO = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<time>[0-9]{2}:[0-9]{2}(?P<seconds>:[0-9]{2}(?P<fraction>[.,][0-9]{1,9})?)?))?"
    r" ?(?P<zone>Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?",
    re.IGNORECASE,
)
_SLASHED = re.compile(
    r"([0-9]{4})/([0-9]{2})/([0-9]{2})"
    r"(?: (?:\((?P<weekday>[A-Za-z]{3})\) )?(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}))?"
)
_SPOKEN = re.compile(
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2}) ?(?P<half>am|pm) on "
    r"(?P<day>[0-9]{1,2}) (?P<month>[A-Za-z]+),? (?P<year>[0-9]{4})",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_DAY_OR_MONTH_FIRST = re.compile(r"[0-9]{1,2}([/.-])[0-9]{1,2}\1(?:[0-9]{2}|[0-9]{4})(?:[ T].*)?")


class _RefusedError(ValueError):
    """Why a value is no time; turned into a reason at the edge of this module."""


# --- reading ----------------------------------------------------------------


def parse_timestamp(value: object) -> Timestamp:
    """Read a time in one of `ACCEPTED_FORMS`, a ``datetime``, ``date`` or `Timestamp`.

    Naive values are UTC and aware ones are converted to it. The precision is
    that of what was written: day, minute, second or microsecond. A
    ``datetime`` and a number count as seconds, or microseconds where they have
    a fraction. A bare date is a day whatever zone is written after it.

    Raises `TimestampError`, which says what is wrong and which forms are read.
    """
    found = timestamp_or_reason(value)
    if isinstance(found, str):
        raise TimestampError(f"{found}; accepted: {'; '.join(ACCEPTED_FORMS)}")
    return found


def timestamp_or_reason(value: object) -> Timestamp | str:
    """`parse_timestamp` for callers that collect problems: the time, or why it is none."""
    try:
        return _read(value)
    except _RefusedError as refusal:
        return f"{clipped(value)} is no time that can be read: {refusal}"


def _read(value: object) -> Timestamp:
    if isinstance(value, Timestamp):
        return value
    if value is None:
        raise _RefusedError("it is missing")
    if isinstance(value, bool):
        raise _RefusedError("it is true or false")
    if isinstance(value, int | float):
        return _from_epoch(value)
    # pandas.NaT passes for a datetime and, like NaN, is not equal to itself.
    if isinstance(value, date) and value == value:
        return _from_date(value)
    if not isinstance(value, str):
        raise _RefusedError(f"{kind(value)} is neither text, number nor date")
    return _from_text(value.strip())


def _from_text(text: str) -> Timestamp:
    if not text:
        raise _RefusedError("it is empty")
    if _NUMBER.fullmatch(text):
        return _from_epoch_text(text)
    forms: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Timestamp]], ...] = (
        (_ISO, _from_iso),
        (_SLASHED, _from_slashed),
        (_SPOKEN, _from_spoken),
    )
    for form, build in forms:
        if match := form.fullmatch(text):
            try:
                return build(match)
            except (ValueError, OverflowError) as error:
                raise _RefusedError(str(error)) from error
    if _DAY_OR_MONTH_FIRST.fullmatch(text):
        raise _RefusedError("day and month cannot be told apart; write the year first")
    raise _RefusedError("it has none of the accepted forms")


def _from_iso(match: re.Match[str]) -> Timestamp:
    day, time = match["date"], match["time"]
    if time is None:
        return _stamp(isoparser().isoparse(day), Precision.DAY)
    zone = (match["zone"] or "Z").upper().replace("UTC", "Z")
    instant = isoparser().isoparse(f"{day}T{time}{zone}")
    if match["fraction"]:
        return _stamp(instant, Precision.MICROSECOND)
    return _stamp(instant, Precision.SECOND if match["seconds"] else Precision.MINUTE)


def _from_slashed(match: re.Match[str]) -> Timestamp:
    day = datetime(int(match[1]), int(match[2]), int(match[3]))
    if match["hour"] is None:
        return _stamp(day, Precision.DAY)
    weekday = match["weekday"]
    if weekday and weekday.lower() != _WEEKDAYS[day.weekday()]:
        right = _WEEKDAYS[day.weekday()].capitalize()
        raise _RefusedError(f"that day is a {right}, not a {weekday}")
    instant = day.replace(hour=int(match["hour"]), minute=int(match["minute"]))
    return _stamp(instant, Precision.MINUTE)


def _from_spoken(match: re.Match[str]) -> Timestamp:
    hour, month = int(match["hour"]), match["month"].lower()
    if not 1 <= hour <= 12:
        raise _RefusedError("hour must be in 1..12 before am or pm")
    if month not in _MONTHS:
        raise _RefusedError(f"{match['month']} is no month's English name")
    instant = datetime(
        int(match["year"]),
        _MONTHS.index(month) + 1,
        int(match["day"]),
        hour % 12 + (12 if match["half"].lower() == "pm" else 0),
        int(match["minute"]),
    )
    return _stamp(instant, Precision.MINUTE)


def _from_date(value: date) -> Timestamp:
    if not isinstance(value, datetime):
        return _stamp(datetime(value.year, value.month, value.day), Precision.DAY)
    try:
        return _stamp(value, Precision.MICROSECOND if value.microsecond else Precision.SECOND)
    except OverflowError as error:
        raise _RefusedError(str(error)) from error


def _from_epoch_text(text: str) -> Timestamp:
    if len(text) == 8 and text.isdigit():
        raise _RefusedError("eight digits may be a compact date; write YYYY-MM-DD")
    return _from_epoch_number(Decimal(text))


def _from_epoch(value: float) -> Timestamp:
    return _from_epoch_number(Decimal(str(value)) if isinstance(value, float) else Decimal(value))


def _from_epoch_number(seconds: Decimal) -> Timestamp:
    if not seconds.is_finite():
        raise _RefusedError("it is not a finite number")
    if seconds < FIRST_EPOCH_SECOND:
        raise _RefusedError("the number is too small for epoch seconds since 1973")
    if seconds >= LAST_EPOCH_SECOND + 1:
        raise _RefusedError(
            "the number is too large for epoch seconds; "
            "if it counts milliseconds, divide it by 1000"
        )
    fraction = seconds % 1
    instant = _EPOCH + timedelta(microseconds=int(seconds * 1_000_000))
    return _stamp(instant, Precision.MICROSECOND if fraction else Precision.SECOND)


def _stamp(instant: datetime, precision: Precision) -> Timestamp:
    aware = instant.replace(tzinfo=UTC) if instant.utcoffset() is None else instant.astimezone(UTC)
    if not FIRST_YEAR <= aware.year <= LAST_YEAR:
        raise _RefusedError(f"year {aware.year} is outside {FIRST_YEAR} to {LAST_YEAR}")
    # Rebuilt, so that subclasses (pandas) do not travel on with what they add.
    plain = datetime.combine(aware.date(), aware.time(), tzinfo=UTC)
    return Timestamp(instant=_truncated(plain, precision), precision=precision)


# --- comparing --------------------------------------------------------------

SortKey = tuple[bool, datetime, int]
"""What `sort_key` returns."""

_COARSE_FIRST = (Precision.DAY, Precision.MINUTE, Precision.SECOND, Precision.MICROSECOND)


def is_later(new: Timestamp | None, old: Timestamp | None) -> bool:
    """Whether `new` is certainly later than `old`, at the coarser precision of the two.

    A bare date is not later than a time on that day, nor the reverse. An unknown
    time is never later, and nothing is later than an unknown time.
    """
    if new is None or old is None:
        return False
    precision = _coarser(new, old)
    return _truncated(new.instant, precision) > _truncated(old.instant, precision)


def same_instant(one: Timestamp | None, other: Timestamp | None) -> bool:
    """Whether two known times cannot be told apart at the coarser precision of the two.

    For known times exactly one of ``is_later(a, b)``, ``is_later(b, a)`` and
    ``same_instant(a, b)`` holds. With an unknown time none of them does.
    """
    if one is None or other is None:
        return False
    precision = _coarser(one, other)
    return _truncated(one.instant, precision) == _truncated(other.instant, precision)


def sort_key(timestamp: Timestamp | None) -> SortKey:
    """A total order that agrees with `is_later`: unknown first, then by instant.

    ``same_instant`` is not transitive (a date equals both 09:00 and 17:00 of its
    day), so it cannot order a list; here a date stands at the start of its day.
    """
    if timestamp is None:
        return (False, _EARLIEST, 0)
    rank = _COARSE_FIRST.index(timestamp.precision)
    return (True, _truncated(timestamp.instant, timestamp.precision), rank)


def _coarser(one: Timestamp, other: Timestamp) -> Precision:
    return min(one.precision, other.precision, key=_COARSE_FIRST.index)


def _truncated(instant: datetime, precision: Precision) -> datetime:
    utc = instant.astimezone(UTC)
    if precision is Precision.DAY:
        return utc.replace(hour=0, minute=0, second=0, microsecond=0)
    if precision is Precision.MINUTE:
        return utc.replace(second=0, microsecond=0)
    if precision is Precision.SECOND:
        return utc.replace(microsecond=0)
    return utc
