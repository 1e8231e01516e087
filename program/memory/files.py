"""JSON and JSON Lines text, with the file and the line of whatever is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from stateauditor.program.memory.problems import Problems
from stateauditor.signatures.errors import InputError

_LINE_SUFFIXES: Final = (".jsonl", ".ndjson")
_BOM: Final = "\ufeff"


def read_text(path: Path) -> str:
    """The UTF-8 text of `path`; `InputError` where there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not UTF-8: {error.reason}") from error


def json_or_lines(text: str, source: str) -> tuple[object, tuple[int, ...]]:
    """The parsed value; for JSON Lines the list of values, and the line of each.

    Raises `InputError` with the line of what cannot be parsed; all bad lines of
    JSON Lines text are named at once.
    """
    text = text.removeprefix(_BOM)
    by_name = source.lower().endswith(_LINE_SUFFIXES)
    if not text.strip():
        # A log to which nothing was written yet is an empty memory; an empty JSON file is none.
        if by_name:
            return [], ()
        raise InputError(f"{source}: holds no JSON; an empty memory is []")
    if not by_name:
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            if not _looks_like_lines(text):
                place = f"line {error.lineno}, column {error.colno}"
                raise InputError(f"{source}, {place}: not valid JSON: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source}: not valid JSON: {error}") from error
        else:
            return _as_list(value), ()
    return _lines(text, source)


def _looks_like_lines(text: str) -> bool:
    first, _, rest = text.strip().partition("\n")
    return first.startswith("{") and first.rstrip().endswith("}") and bool(rest)


def _as_list(value: object) -> object:
    """One fact or session alone is JSON Lines with one line."""
    return [value] if isinstance(value, dict) and ("text" in value or "turns" in value) else value


def _lines(text: str, source: str) -> tuple[object, tuple[int, ...]]:
    problems = Problems(source)
    values: list[object] = []
    numbers: list[int] = []
    # Only "\n" ends a line: JSON strings may hold U+2028 and its like.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except json.JSONDecodeError as error:
            problems.add(f"line {number}", f"not valid JSON: {error.msg} at column {error.colno}")
        except (ValueError, RecursionError) as error:
            problems.add(f"line {number}", f"not valid JSON: {error}")
        else:
            numbers.append(number)
    problems.raise_if_any()
    if len(values) == 1 and isinstance(values[0], list | dict):
        # The whole memory (a list, a Stale record) on one line.
        whole = _as_list(values[0])
        return whole, tuple(numbers) if whole is not values[0] else ()
    return values, tuple(numbers)
