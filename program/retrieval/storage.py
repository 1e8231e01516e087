"""A saved index: plain JSON lines, versioned and checksummed.

The first line is a header with the format's name and version, the retriever's
configuration and the SHA-256 of the rest; the second holds the entries with
their sentences and words. Whatever can be computed from those in milliseconds
(windows, postings, scores) is computed again on loading, so that a saved index
can never disagree with the lexicon and the weights that it is used with.
Nothing in the file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import numpy as np
from pydantic import TypeAdapter, ValidationError

from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.windows import Sentences, number_sessions
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import MemoryEntry

FORMAT: Final = "stateauditor-index"
VERSION: Final = 1

_ENTRIES: Final = TypeAdapter(tuple[MemoryEntry, ...])
_COLUMNS: Final = ("entry", "start", "end", "asks", "lengths", "words")


def pack(sentences: Sentences, config: RetrievalConfig) -> bytes:
    """The bytes of a saved index: the same for the same memory, however it was built."""
    number, vocabulary = _in_order_of_use(sentences)
    body = _line(
        {
            "entries": _ENTRIES.dump_python(sentences.entries, mode="json"),
            "entry": sentences.entry.tolist(),
            "start": sentences.start.tolist(),
            "end": sentences.end.tolist(),
            "asks": sentences.asks.astype(np.int64).tolist(),
            "lengths": np.diff(sentences.offsets).tolist(),
            "words": number[sentences.word_ids].tolist(),
            "vocabulary": vocabulary,
        }
    )
    header = {
        "format": FORMAT,
        "version": VERSION,
        "config": config.model_dump(mode="json"),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return _line(header) + body


def unpack(data: bytes, name: str) -> tuple[Sentences, RetrievalConfig]:
    """Read what :func:`pack` wrote; ``name`` says in errors which file is wrong."""
    head, _, body = data.partition(b"\n")
    try:
        header = json.loads(head)
    except ValueError as error:
        raise InputError(f"{name} is not a saved index: its first line is not JSON") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{name} is not a saved index: its header does not say {FORMAT!r}")
    if header.get("version") != VERSION:
        raise InputError(
            f"{name} has index version {header.get('version')!r}; this program reads {VERSION}: "
            "build the index again"
        )
    if header.get("sha256") != hashlib.sha256(body).hexdigest():
        raise InputError(f"{name} is damaged: its checksum does not match; build it again")
    try:
        return _sentences(json.loads(body)), RetrievalConfig.model_validate(header.get("config"))
    except (ValueError, KeyError, IndexError, TypeError, ValidationError) as error:
        raise InputError(f"{name} is not a readable index: {error}") from error


def _sentences(body: dict[str, Any]) -> Sentences:
    entries = _ENTRIES.validate_python(body["entries"])
    entry, start, end, asks, lengths, word_ids = (
        np.array(body[column], dtype=np.int64) for column in _COLUMNS
    )
    entry_session = number_sessions(entries)
    return Sentences(
        entries=entries,
        entry=entry,
        start=start,
        end=end,
        asks=asks.astype(np.bool_),
        session=entry_session[entry],
        entry_session=entry_session,
        offsets=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
        word_ids=word_ids,
        vocabulary=tuple(body["vocabulary"]),
    )


def _in_order_of_use(sentences: Sentences) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[str]]:
    """New word numbers by first use, and the words in that order; unused words are dropped."""
    used, firsts = np.unique(sentences.word_ids, return_index=True)
    ordered = used[np.argsort(firsts)]
    number = np.zeros(len(sentences.vocabulary), dtype=np.int64)
    number[ordered] = np.arange(len(ordered))
    return number, [sentences.vocabulary[word] for word in ordered.tolist()]


def _line(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
