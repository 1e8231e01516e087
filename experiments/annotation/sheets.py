"""Sheets as CSV: written blank, read back filled from whatever saved them.

Texts come from models and from users' memories. One that a spreadsheet could take for
a formula gets an apostrophe in front; nothing reads the texts back but for comparing
them with the blank sheet, where that apostrophe does not count.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateauditor.metrics import Dimension
from stateauditor.signatures.errors import InputError

TEXTS: Final = ("question", "old_state", "new_state", "rule", "answer")
"""The columns that an annotator reads and must leave alone."""
FILLED: Final = ("item", "label", "comment")
"""The columns of the file that a form downloads."""
COLUMNS: Final = ("item", *TEXTS, "label", "comment")
"""The columns of a sheet."""

# Full-width forms too: some spreadsheets read them as the plain signs.
_RISKY: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠']")
_DELIMITERS: Final = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as an annotator sees it."""

    id: str
    dimension: Dimension
    question: str = field(repr=False)
    old_state: str = field(repr=False)
    new_state: str = field(repr=False)
    rule: str = field(repr=False)
    answer: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file: its values by column, and the line where it begins."""

    line: int
    number: int
    values: Mapping[str, str] = field(repr=False)


def guarded(text: str) -> str:
    """Text that no spreadsheet runs.

    >>> guarded("=1+1"), guarded("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if _RISKY.match(text) else text


def unguarded(text: str) -> str:
    """The text before :func:`guarded`."""
    return text[1:] if text.startswith("'") and _RISKY.match(text[1:]) else text


def blank_sheet(entries: Iterable[Entry]) -> bytes:
    """A sheet with empty labels: UTF-8 with the mark that Excel needs, every field quoted."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        texts = (guarded(getattr(entry, name)) for name in TEXTS)
        writer.writerow((entry.id, *texts, "", ""))
    return codecs.BOM_UTF8 + out.getvalue().encode("utf-8", "replace")


def read_rows(content: bytes, path: Path) -> tuple[Row, ...]:
    """The rows of a blank or filled sheet, or of a form's download.

    Commas, semicolons or tabs may stand between fields, as spreadsheets save them.
    Raises :class:`InputError` for a file that is no such table.
    """
    text = _decoded(content, path)
    delimiter = _delimiter(text)
    if delimiter is None:
        raise InputError(
            f"{path}: no sheet of annotations: its first line must name the columns "
            f"{', '.join(COLUMNS)}, or {', '.join(FILLED)}"
        )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    try:
        names = _trimmed(next(reader))
        _check_columns(names, path)
        begins = reader.line_num + 1
        for number, fields in enumerate(reader, start=2):
            line, begins = begins, reader.line_num + 1
            if not any(value.strip() for value in fields):
                continue
            if len(fields) < len(names) or any(value.strip() for value in fields[len(names) :]):
                raise InputError(
                    f"{path}, line {line} (row {number}): {len(names)} fields expected, "
                    f"got {len(fields)}"
                )
            rows.append(Row(line, number, dict(zip(names, fields, strict=False))))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: cannot be read: {error}") from None
    return tuple(rows)


def same_text(one: str, other: str) -> bool:
    """Whether two fields say the same but for what spreadsheets do to line ends and guards."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    """The text without what a spreadsheet may add, drop or turn into something else."""
    return text.replace("\r\n", "\n").replace("\r", "\n").lstrip("'").strip()


def _decoded(content: bytes, path: Path) -> str:
    utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{path}: not UTF-8; save it from the spreadsheet as 'CSV UTF-8'"
        ) from None


def _delimiter(text: str) -> str | None:
    """What stands between the column names of the first line."""
    first = text.splitlines()[0] if text else ""
    for delimiter in _DELIMITERS:
        names = _trimmed(next(csv.reader([first], delimiter=delimiter), []))
        if {"item", "label"} <= set(names):
            return delimiter
    return None


def _trimmed(names: Sequence[str]) -> list[str]:
    found = [name.strip().casefold() for name in names]
    while found and not found[-1]:
        found.pop()
    return found


def _check_columns(names: Sequence[str], path: Path) -> None:
    if sorted(names) not in (sorted(COLUMNS), sorted(FILLED)):
        raise InputError(
            f"{path}: the columns are {', '.join(names)}; a filled sheet has "
            f"{', '.join(COLUMNS)}, a form's download {', '.join(FILLED)}"
        )
