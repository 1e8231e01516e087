"""The typed edge of all loaders: a parsed value that knows where it stands.

Loaders walk a `Field` down to plain values; whatever is not as it must be
raises an `InputError` that names the record and the field. Messages never quote
a text: it may be the judge's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from stateauditor.signatures.errors import InputError

Choice = TypeVar("Choice", bound=StrEnum)

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Field:
    """A value at `path` of `record` (how messages name the record: file, number, uid)."""

    record: str
    path: str
    value: object

    def broken(self, what: str) -> InputError:
        """The error that says what is wrong with this field."""
        where = f", field '{self.path}'" if self.path else ""
        return InputError(f"{self.record}{where}: {what}")

    def text(self, *, filled: bool = True) -> str:
        """A text; by default one that is not blank. Halves of emoji become U+FFFD."""
        if not isinstance(self.value, str):
            raise self.broken(f"must be text, not {kind(self.value)}")
        if filled and not self.value.strip():
            raise self.broken("must not be empty")
        return _SURROGATE.sub("\ufffd", self.value)

    def whole(self) -> int:
        """A whole number that is not negative."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.broken(f"must be a whole number, not {kind(self.value)}")
        if self.value < 0:
            raise self.broken("must not be negative")
        return self.value

    def choice(self, of: type[Choice]) -> Choice:
        """One of the values of an enumeration."""
        text = self.text()
        if text not in list(of):
            raise self.broken(f"must be one of {', '.join(of)}")
        return of(text)

    def items(self) -> list[Field]:
        """The members of a list; a list that a table keeps as JSON text is read."""
        found = self._unpacked("[")
        if not isinstance(found, list | tuple):
            raise self.broken(f"must be a list, not {kind(found)}")
        return [
            Field(self.record, f"{self.path}[{number}]", value)
            for number, value in enumerate(found)
        ]

    def mapping(self) -> dict[str, Field]:
        """The members of an object with any keys; JSON text is read."""
        found = self._unpacked("{")
        if not isinstance(found, Mapping):
            raise self.broken(f"must be an object, not {kind(found)}")
        return {str(key): Field(self.record, self._below(str(key)), found[key]) for key in found}

    def members(self, names: Sequence[str]) -> dict[str, Field]:
        """The members of an object that has exactly the keys `names`; JSON text is read."""
        found = self.mapping()
        for name in found:
            if name not in names:
                expected = ", ".join(names)
                raise found[name].broken(f"is unknown; a record has exactly {expected}")
        for name in names:
            if name not in found:
                raise Field(self.record, self._below(name), None).broken("is missing")
        return found

    def _below(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _unpacked(self, opening: str) -> object:
        if not isinstance(self.value, str) or not self.value.lstrip().startswith(opening):
            return self.value
        try:
            return json.loads(self.value)
        except (ValueError, RecursionError) as error:
            # Without the decoder's own words: they may quote the text.
            raise self.broken("holds JSON text that cannot be parsed") from error


_KINDS: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (type(None), "null"),
    (bool, "true or false"),
    (str, "text"),
    ((int, float), "a number"),
    (Mapping, "an object"),
    ((list, tuple), "a list"),
)


def kind(value: object) -> str:
    """What sort of value it is, in the words of JSON."""
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return f"a value of type {type(value).__name__}"
