"""Memories in files: JSON or JSON Lines in any known format, with the place of what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.files import json_or_lines, read_text
from stateauditor.program.memory.formats import Reading, format_named, listed_if_alone, recognise
from stateauditor.program.memory.problems import Problems
from stateauditor.program.memory.readers import read_items
from stateauditor.signatures.errors import InputError


def load_memory(
    path: Path,
    *,
    format: str | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """Read a memory from a UTF-8 file: JSON, or JSON Lines with one item a line.

    The format is recognised by its shape, or said by its name (see `formats`). `user` and
    `as_of` are those of `read_memory`. Raises `InputError` naming the file, and the line of what
    cannot be parsed.
    """
    return parse_memory_text(
        read_text(path),
        source=str(path),
        format=format,
        user=user,
        allow_undated=allow_undated,
        as_of=as_of,
    )


def parse_memory_text(
    text: str,
    *,
    source: str = "memory",
    format: str | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
) -> Memory:
    """As `load_memory`, from text; `source` names it in messages.

    A `source` ending in ``.jsonl`` or ``.ndjson`` is read by lines; otherwise
    the text itself tells.
    """
    data, lines = json_or_lines(text, source)
    return read_value(
        data,
        source=source,
        format=format,
        user=user,
        allow_undated=allow_undated,
        as_of=as_of,
        lines=lines,
    )


def read_value(
    data: object,
    *,
    source: str = "memory",
    format: str | None = None,
    user: str | None = None,
    allow_undated: bool = False,
    as_of: object = None,
    lines: Sequence[int] = (),
) -> Memory:
    """As `load_memory`, from parsed JSON; `lines` are those of its items."""
    data = listed_if_alone(data, None if format is None else format_named(format))
    known = recognise(data) if format is None else format_named(format)
    if known is None or known.is_own:
        return read_items(
            data,
            Problems(source),
            allow_undated=allow_undated,
            user=user,
            as_of=as_of,
            lines=lines,
        )
    try:
        return known.read(data, Reading(allow_undated, user, as_of))
    except InputError as error:
        raise type(error)(f"{source}, read as {known.name}: {error}") from None
