"""What a converter cannot read because it was not given, said aloud or refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sized
from typing import Final

from stateauditor.program.memory.fields import first, get
from stateauditor.program.memory.timestamps import timestamp_or_reason
from stateauditor.signatures.errors import InputError, InputWarning

_TOTALS: Final = ("count", "total_size", "total")
_NEXT: Final = ("next", "next_cursor", "next_page")
_MOMENT_SECONDS: Final = 1.0
"""Stores write both times of a new record one after the other."""


def warn(message: str) -> None:
    """An `InputWarning` at the place where the converter was called."""
    warnings.warn(message, InputWarning, stacklevel=4)


def refuse_part_of_pages(result: object, held: int, system: str) -> None:
    """Raise `InputError` for a page that says that there are more."""
    if isinstance(result, list | tuple):
        return
    total, following = first(result, _TOTALS), first(result, _NEXT)
    more = isinstance(total, int) and not isinstance(total, bool) and total > held
    if following or more or get(result, "has_more") is True:
        of = f" of {total}" if more else ""
        raise InputError(
            f"{system}: one page, {held}{of} records, and there are more: the newest fact may be "
            "missing. Fetch all pages and pass one list of their records"
        )


def warn_of_default_limit(held: int, limit: int, calls: str, setting: str) -> None:
    """Warn where exactly as many records came as the call returns unless it is told more."""
    if held == limit:
        warn(
            f"{held} records are what {calls} return by default, so there may be more: the newest "
            f"fact may be missing. Ask for more with {setting}"
        )


def warn_of_overwritten(records: Iterable[object], system: str, remedy: str) -> None:
    """Warn where records were changed after they were made: what they said before is lost."""
    changed = sum(map(_was_changed, records))
    if changed:
        warn(
            f"{system}: {changed} records were changed in place and are dated by their change; "
            f"what they said before is not in them. {remedy}"
        )


def _was_changed(record: object) -> bool:
    made = timestamp_or_reason(get(record, "created_at"))
    written = timestamp_or_reason(get(record, "updated_at"))
    if isinstance(made, str) or isinstance(written, str):
        return False
    return (written.instant - made.instant).total_seconds() > _MOMENT_SECONDS


def refuse_several(data: object, system: str) -> object:
    """The one record of a benchmark, also alone in a list; `InputError` for several."""
    if isinstance(data, list | tuple) and isinstance(data, Sized) and data:
        if len(data) > 1:
            raise InputError(
                f"{system}: {len(data)} records, each the memory of another user; pass one of them"
            )
        return data[0]
    return data
