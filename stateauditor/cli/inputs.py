"""Reading what a command works on: INPUT.json, or memory, question and draft apart.

Every mistake becomes one message that names the file, the line or key, and what
would have been right.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stateauditor.cli.console import note
from stateauditor.signatures.errors import InputError, InputWarning

if TYPE_CHECKING:
    from stateauditor.program.memory import Memory

STDIN = "-"
STDIN_NAME = "<stdin>"
KEYS = ("memory", "question", "draft", "pairs")
PAIR_KEYS = ("question", "draft")
IGNORED_KEYS = ("$schema",)  # editors put it there


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line names; None where an option was left out.

    ``question`` and ``draft`` are text, ``@FILE`` (``@@`` for a text that starts
    with @) or ``-`` for stdin; ``file`` and ``memory`` are paths or ``-``.
    """

    file: str | None = None
    memory: str | None = None
    question: str | None = None
    draft: str | None = None
    allow_undated: bool = False
    format: str | None = None
    user: str | None = None
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class AuditInput:
    """A memory with the question-draft pairs to audit; ``listed`` if they came as "pairs"."""

    memory: Memory
    pairs: tuple[tuple[str, str], ...]
    listed: bool = False


@dataclass(frozen=True, slots=True)
class RetrievalInput:
    """A memory with the question to retrieve for."""

    memory: Memory
    question: str


def read_audit_input(given: Given) -> AuditInput:
    """Everything that ``audit`` needs. Raises :class:`InputError`."""
    parts = _parts(given)
    problems = _Problems(parts.source)
    if parts.pairs is not None:
        pairs = _pairs(parts.pairs, problems)
    else:
        question = _text(parts.question, "question", problems)
        draft = _text(parts.draft, "draft", problems)
        pairs = [(question, draft)]
    problems.raise_if_any()
    return AuditInput(parts.read_memory(), tuple(pairs), listed=parts.pairs is not None)


def read_retrieval_input(given: Given) -> RetrievalInput:
    """Everything that ``retrieve`` needs; a draft is allowed and not looked at."""
    parts = _parts(given)
    problems = _Problems(parts.source)
    if parts.pairs is not None:
        problems.add("'pairs'", "retrieval is for one question; give it as 'question'")
    question = "" if problems.lines else _text(parts.question, "question", problems)
    problems.raise_if_any()
    return RetrievalInput(parts.read_memory(), question)


# --- where the parts come from ------------------------------------------------


@dataclass(slots=True)
class _Parts:
    """The raw parts, with the way to read the memory."""

    source: str
    read_memory: Callable[[], Memory]
    question: Any = None
    draft: Any = None
    pairs: Any = None


def _parts(given: Given) -> _Parts:
    _refuse_two_readers_of_stdin(given)
    question, draft = _argument(given.question, "--question"), _argument(given.draft, "--draft")
    if given.file is None:
        if given.memory is None:
            raise InputError(
                "no memory: give INPUT.json, or --memory FILE with the question and the draft"
            )
        return _Parts("command line", _memory_file(given, given.memory), question, draft)
    if given.memory is not None:
        raise InputError("INPUT.json holds the memory already: leave out --memory or the file")
    source = STDIN_NAME if given.file == STDIN else given.file
    data = _input_object(_read(given.file), source)
    parts = _Parts(
        source,
        _memory_value(given, data.get("memory"), source),
        data.get("question") if question is None else question,
        data.get("draft") if draft is None else draft,
        data.get("pairs"),
    )
    if parts.pairs is not None and not (parts.question is None and parts.draft is None):
        raise InputError(f"{source}: give either 'pairs' or one question and draft, not both")
    return parts


def _input_object(text: str, source: str) -> dict[str, Any]:
    """The object of an INPUT.json, with no key that nobody reads."""
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{source}, {place}: not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not valid JSON: {error}") from None
    if isinstance(data, list):
        raise InputError(
            f"{source}: holds a list; if that is the memory, give it as --memory {source} "
            "together with --question and --draft"
        )
    if not isinstance(data, dict):
        raise InputError(f"{source}: expected an object with the keys {', '.join(KEYS)}")
    if "memory" not in data and (found := _recognised(data)):
        raise InputError(
            f"{source}: this is {found}; give it as --memory {source} together with --question "
            "and --draft"
        )
    problems = _Problems(source)
    for key in data:
        if key not in KEYS + IGNORED_KEYS:
            problems.add(f"key {key!r}", f"unknown{_near(key, KEYS)}; known: {', '.join(KEYS)}")
    if "memory" not in data:
        problems.add("key 'memory'", "missing; it holds the list of facts and sessions")
    problems.raise_if_any()
    return data


def _recognised(data: object) -> str | None:
    """What wrote a memory that stands alone where an INPUT.json was expected."""
    from stateauditor.program.memory.formats import recognise

    found = recognise(data)
    return None if found is None else found.about


def _memory_value(given: Given, value: object, source: str) -> Callable[[], Memory]:
    def read() -> Memory:
        from stateauditor.program.memory.loading import read_value

        return read_value(value, source=f"{source}: memory", **_settings(given))

    return lambda: _noted(read)


def _memory_file(given: Given, file: str) -> Callable[[], Memory]:
    def read() -> Memory:
        from stateauditor.program.memory import load_memory, parse_memory_text

        if file == STDIN:
            return parse_memory_text(_read(file), source=STDIN_NAME, **_settings(given))
        return load_memory(Path(file), **_settings(given))

    return lambda: _noted(read)


def _settings(given: Given) -> dict[str, Any]:
    return {
        "format": given.format,
        "user": given.user,
        "allow_undated": given.allow_undated,
        "as_of": given.as_of,
    }


def _noted(read: Callable[[], Memory]) -> Memory:
    """The memory; what its reader warns of is noted on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        memory = read()
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        note(message)
    return memory


# --- questions and drafts -------------------------------------------------------


def _pairs(value: object, problems: _Problems) -> list[tuple[str, str]]:
    if not isinstance(value, list) or not value:
        problems.add("'pairs'", 'must be a list like [{"question": ..., "draft": ...}, ...]')
        return []
    pairs = []
    for number, raw in enumerate(value, start=1):
        where = f"pair {number}"
        if not isinstance(raw, Mapping):
            problems.add(where, 'must be an object {"question": ..., "draft": ...}')
            continue
        for key in raw:
            if key not in PAIR_KEYS:
                known = ", ".join(PAIR_KEYS)
                problems.add(where, f"unknown key {key!r}{_near(key, PAIR_KEYS)}; known: {known}")
        question, draft = (_text(raw.get(key), key, problems, f"{where}, ") for key in PAIR_KEYS)
        pairs.append((question, draft))
    return pairs


def _text(value: object, name: str, problems: _Problems, where: str = "") -> str:
    """A text with something in it; otherwise the problem is noted."""
    if value is None:
        problems.add(f"{where}{name!r}", f"missing; give the {name} as text (or --{name})")
    elif not isinstance(value, str):
        problems.add(f"{where}{name!r}", f"must be text, not {type(value).__name__}")
    elif not value.strip():
        problems.add(f"{where}{name!r}", f"is blank; a {name} needs some text")
    else:
        return value
    return ""


def _argument(value: str | None, option: str) -> str | None:
    """The text behind ``TEXT``, ``@FILE`` or ``-``."""
    if value is None:
        return None
    if value == STDIN:
        return _read(STDIN)
    if value.startswith("@@"):
        value = value[1:]
    elif value.startswith("@"):
        if value == "@":
            raise InputError(f"{option} @: no file name follows; write {option} @FILE")
        return _read(value[1:])
    # A C locale can hand over UTF-8 as stray bytes; take them back.
    return os.fsencode(value).decode("utf-8", "replace")


def _read(file: str) -> str:
    """The UTF-8 text of a file, or of stdin."""
    from stateauditor.program.memory.files import read_text

    if file != STDIN:
        return read_text(Path(file))
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{STDIN_NAME}: not UTF-8: {error.reason}") from None


def _refuse_two_readers_of_stdin(given: Given) -> None:
    named = {
        "INPUT.json": given.file,
        "--memory": given.memory,
        "--question": given.question,
        "--draft": given.draft,
    }
    readers = [name for name, value in named.items() if value == STDIN]
    if len(readers) > 1:
        raise InputError(f"only one of {' and '.join(readers)} can read stdin (-)")


# --- problems -------------------------------------------------------------------


@dataclass(slots=True)
class _Problems:
    """What is wrong with one source; raised all at once."""

    source: str
    lines: list[str] = field(default_factory=list)

    def add(self, where: str, what: str) -> None:
        self.lines.append(f"{where}: {what}")

    def raise_if_any(self) -> None:
        if len(self.lines) == 1:
            raise InputError(f"{self.source}: {self.lines[0]}")
        if self.lines:
            raise InputError("\n".join([f"{self.source}:", *(f"  {line}" for line in self.lines)]))


def _near(key: object, known: tuple[str, ...]) -> str:
    match = get_close_matches(str(key), known, n=1, cutoff=0.7)
    return f"; did you mean {match[0]!r}?" if match else ""
