"""The formats that a memory may come in: how each is called, recognised and read.

Adding one is an entry in `FORMATS`. Recognition looks at names of fields alone, in the
order of the table: the most telling formats come first, rows of any kind last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from stateauditor.program.memory.converters.benchmarks import (
    from_locomo,
    from_longmemeval,
    from_memora,
)
from stateauditor.program.memory.converters.exports import from_chatgpt, from_claude
from stateauditor.program.memory.converters.graphs import from_graphiti, from_zep
from stateauditor.program.memory.converters.langgraph import from_langgraph
from stateauditor.program.memory.converters.letta import from_letta
from stateauditor.program.memory.converters.mem0 import from_mem0
from stateauditor.program.memory.converters.messages import (
    from_langchain_messages,
    from_openai_messages,
    messages_in,
)
from stateauditor.program.memory.converters.rows import TEXTS, TIMES, from_rows
from stateauditor.program.memory.entries import Memory
from stateauditor.program.memory.fields import get, has
from stateauditor.program.memory.readers import STALE_FIELDS, read_memory
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import MemoryEntry


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a memory, whatever its format; a format takes of it what it has a use for."""

    allow_undated: bool = False
    user: str | None = None
    as_of: object = None

    def of_facts(self) -> dict[str, Any]:
        """The arguments of a converter of stored facts."""
        return {"allow_undated": self.allow_undated, "user": self.user, "as_of": self.as_of}

    def of_talk(self) -> dict[str, Any]:
        """The arguments of a converter of conversations."""
        return {"allow_undated": self.allow_undated}


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name, one line about it, how it is recognised, and its converter.

    ``called`` is the converter's name in Python.
    """

    name: str
    about: str
    fits: Callable[[object], bool]
    read: Callable[[Any, Reading], Memory]
    called: str

    @property
    def is_own(self) -> bool:
        """Whether `read_memory` itself reads it."""
        return self.called == read_memory.__name__

    @property
    def takes(self) -> str:
        """The format and who takes it, for messages."""
        return f"{self.about}: {self.called} takes it (on the command line: --format {self.name})"


def recognise(data: object) -> Format | None:
    """The first format that `data` fits, or None."""
    return next((known for known in FORMATS if known.fits(data)), None)


def listed_if_alone(data: object, known: Format | None = None) -> object:
    """`data`, or a list of it where it is one record, alone in its file, of a list's format."""
    if not isinstance(data, Mapping):
        return data
    fits = recognise if known is None else known.fits
    return [data] if not fits(data) and fits([data]) else data


def format_named(name: str) -> Format:
    """The format of that name; `InputError` with all names if there is none."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise InputError(f"no memory format is called {name!r}; known: {', '.join(names())}")


def names() -> list[str]:
    """The names of all formats."""
    return [known.name for known in FORMATS]


# --- recognising ------------------------------------------------------------


def _records(data: object, *under: str) -> list[object]:
    """The first few records of a list, or of the list in a field of that name."""
    for name in under:
        held = get(data, name)
        if isinstance(held, list | tuple):
            data = held
            break
    return list(data[:20]) if isinstance(data, list | tuple) else []


def _all(records: Iterable[object], *fields: str) -> bool:
    """Whether there are records and each has all of the fields."""
    kept = list(records)
    return bool(kept) and all(has(record, name) for record in kept for name in fields)


def _any(records: Iterable[object], *fields: str) -> bool:
    return any(has(record, name) for record in records for name in fields)


def _is_own(data: object) -> bool:
    if isinstance(data, Memory) or (isinstance(data, list | tuple) and not data):
        return True
    if isinstance(data, Mapping) and any(name in data for name in STALE_FIELDS):
        return True
    return any(
        isinstance(record, MemoryEntry) or has(record, "turns") or _is_own_fact(record)
        for record in _records(data)
    )


def _is_own_fact(record: object) -> bool:
    others = (name for name in TIMES if name != "timestamp")
    return has(record, "text") and (has(record, "timestamp") or not _any([record], *others))


def _is_edge(record: object) -> bool:
    return has(record, "fact") and _any([record], "uuid", "uuid_", "valid_at", "source_node_uuid")


def _is_graphiti(data: object) -> bool:
    found = _records(data, "edges", "episodes")
    return any(_is_edge(r) or has(r, "source_description") for r in found) and _any(
        found, "group_id"
    )


def _is_zep(data: object) -> bool:
    results = get(data, "results")
    if isinstance(get(data, "context"), str) or _any([results], "edges", "episodes"):
        return True
    found = _records(data, "items", "edges", "episodes", "messages")
    return any(_is_edge(r) or _any([r], "thread_uuid", "graph_uuid") for r in found)


def _is_mem0(data: object) -> bool:
    found = _records(data, "results")
    return any(
        isinstance(get(record, "memory"), str) or _any([record], "new_memory", "old_memory")
        for record in found
    ) or (isinstance(data, Mapping) and data.get("results") == [])


def _is_letta(data: object) -> bool:
    memory = get(data, "memory")
    found = _records(data if memory is None else memory, "blocks", "items", "passages")
    return (
        _all(found, "label", "value")
        or _all(found, "message_type")
        or (_all(found, "text") and _any(found, "archive_id", "embedding_config", "source_id"))
    )


def _is_langchain(data: object) -> bool:
    values = get(data, "values")
    found = _records(data if values is None else values, "messages")
    return any(
        (has(r, "type") and (has(r, "data") or has(r, "content")) and get(r, "role") is None)
        and get(r, "type") in ("human", "ai", "system", "tool", "function", "AIMessageChunk")
        for r in found
    ) or _all(found, "lc", "kwargs")


def _is_openai(data: object) -> bool:
    return _any(_records(data, "messages", "data", "items"), "role") and any(
        has(r, "role") and (has(r, "content") or has(r, "tool_calls"))
        for r in _records(data, "messages", "data", "items")
    )


def _is_rows(data: object) -> bool:
    found = _records(data)
    return bool(found) and all(
        isinstance(r, str) or any(isinstance(get(r, name), str) for name in TEXTS) for r in found
    )


def _talks(data: object) -> list[object]:
    return [data] if isinstance(data, Mapping) else _records(data)


# --- the table --------------------------------------------------------------


def _locomo(data: Any, how: Reading) -> Memory:
    return from_locomo(data, user=how.user or "speaker_a", **how.of_talk())


FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name="facts",
        about="StateAuditor's own facts and sessions, or a Stale record",
        fits=_is_own,
        read=lambda data, how: read_memory(data, **how.of_facts()),
        called="read_memory",
    ),
    Format(
        name="mem0",
        about="mem0 rows: search, get_all, history, a page of the service",
        fits=_is_mem0,
        read=lambda data, how: from_mem0(data, **how.of_facts()),
        called="from_mem0",
    ),
    Format(
        name="graphiti",
        about="graphiti edges and episodes",
        fits=_is_graphiti,
        read=lambda data, how: from_graphiti(data, **how.of_facts()),
        called="from_graphiti",
    ),
    Format(
        name="zep",
        about="Zep edges, episodes, messages, pages and context responses",
        fits=_is_zep,
        read=lambda data, how: from_zep(data, **how.of_facts()),
        called="from_zep",
    ),
    Format(
        name="langgraph",
        about="items of a LangGraph store (LangMem)",
        fits=lambda data: _all(_records(data, "items"), "namespace", "key", "value"),
        read=lambda data, how: from_langgraph(data, **how.of_facts()),
        called="from_langgraph",
    ),
    Format(
        name="letta",
        about="Letta blocks, passages, messages or an agent's state",
        fits=_is_letta,
        read=lambda data, how: from_letta(data, **how.of_facts()),
        called="from_letta",
    ),
    Format(
        name="chatgpt",
        about="conversations.json of a ChatGPT export",
        fits=lambda data: any(has(t, "mapping") for t in _talks(data)),
        read=lambda data, how: from_chatgpt(data, **how.of_talk()),
        called="from_chatgpt",
    ),
    Format(
        name="claude",
        about="conversations.json of a Claude export",
        fits=lambda data: any(has(t, "chat_messages") for t in _talks(data)),
        read=lambda data, how: from_claude(data, **how.of_talk()),
        called="from_claude",
    ),
    Format(
        name="longmemeval",
        about="a LongMemEval record",
        fits=lambda data: any(has(t, "haystack_sessions") for t in _talks(data)),
        read=lambda data, how: from_longmemeval(data, **how.of_talk()),
        called="from_longmemeval",
    ),
    Format(
        name="locomo",
        about="a LoCoMo talk (--user: speaker_a, speaker_b or a name)",
        fits=lambda data: any(
            has(get(t, "conversation"), "speaker_a") or has(t, "speaker_a") for t in _talks(data)
        ),
        read=_locomo,
        called="from_locomo",
    ),
    Format(
        name="memora",
        about="Memora sessions",
        fits=lambda data: any(
            _any(_records(get(t, "conversation")), "speaker") for t in _talks(data)
        ),
        read=lambda data, how: from_memora(data, **how.of_talk()),
        called="from_memora",
    ),
    Format(
        name="langchain",
        about="LangChain messages, or a graph's state with messages",
        fits=_is_langchain,
        read=lambda data, how: from_langchain_messages(messages_in(data), **how.of_talk()),
        called="from_langchain_messages",
    ),
    Format(
        name="openai",
        about="OpenAI chat messages, also of threads, responses and agent sessions "
        "(messages go inside a session's 'turns')",
        fits=_is_openai,
        read=lambda data, how: from_openai_messages(messages_in(data), **how.of_talk()),
        called="from_openai_messages",
    ),
    Format(
        name="rows",
        about="rows of any other store, with a text and a time, or texts alone",
        fits=_is_rows,
        read=lambda data, how: from_rows(data, **how.of_facts()),
        called="from_rows",
    ),
)
"""Every format, the more telling before the more general."""
