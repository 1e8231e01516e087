"""Reading fields of records of unknown make: mappings, or objects with the same names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stateauditor.program.memory.describe import kind
from stateauditor.signatures.errors import InputError


def get(record: object, name: str) -> Any:
    """The field, or None where the record has none."""
    if isinstance(record, Mapping):
        return record.get(name)
    # Text and numbers have attributes, too ("x".title), and none of them is a field.
    if record is None or isinstance(record, str | bytes | int | float | list | tuple):
        return None
    return getattr(record, name, None)


def has(record: object, name: str) -> bool:
    """Whether the record has the field, whatever stands in it."""
    if isinstance(record, Mapping):
        return name in record
    return hasattr(record, name)


def first(record: object, names: Iterable[str]) -> Any:
    """The first of the fields that is set."""
    return next((value for name in names if (value := get(record, name)) is not None), None)


def listed(value: object, what: str) -> list[Any]:
    """`value` as a list, or `InputError` that names it by `what`."""
    if not isinstance(value, list | tuple):
        raise InputError(f"{what}: must be a list, not {kind(value)}")
    return list(value)


def objects(value: object, what: str) -> list[Mapping[str, Any]]:
    """`value` as a list of mappings, or `InputError` that names it and the entry."""
    found = listed(value, what)
    for position, item in enumerate(found, start=1):
        if not isinstance(item, Mapping):
            raise InputError(f"{what}, entry {position}: must be an object, not {kind(item)}")
    return found


def records(data: object, under: Iterable[str], system: str, hint: str = "") -> list[Any]:
    """The records of a result: a list, or the list in the first of the fields `under`."""
    names = list(under)
    held = first(data, names)
    found = data if held is None else held
    if not isinstance(found, list | tuple):
        places = " or ".join(f"'{name}'" for name in names)
        raise InputError(
            f"{system}: expected a list, or one under {places}, not {kind(found)}{hint}"
        )
    return list(found)
