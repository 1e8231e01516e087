"""Recorded LM responses: one JSON file a response, a folder a backend.

The key covers the model, its address, the messages and the settings, so that two
backends never answer for each other (DSPy's own cache leaves the address out).
Keys of APIs are no part of a record. Plain JSON rather than a database or
pickle: a folder can be read, copied and replayed anywhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

FORMAT = 1
STRIPES = 64  # locks by key: writers of one key wait for each other, and hardly any others
# Settings that carry a secret or change only how long one waits.
_NOT_IN_KEY = frozenset({"api_key", "api_base", "base_url", "headers", "extra_headers", "timeout"})


class CacheMode(StrEnum):
    """Whether responses are recorded and replayed."""

    OFF = "off"
    READ_WRITE = "read_write"
    READ_ONLY = "read_only"


def default_folder() -> Path:
    """``$STATEAUDITOR_CACHE``, else the user's cache folder."""
    configured = os.environ.get("STATEAUDITOR_CACHE")
    if configured:
        return Path(configured)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "stateauditor" / "responses"


def request_key(namespace: str, messages: list[dict[str, Any]], settings: Mapping[str, Any]) -> str:
    """SHA-256 over the namespace, the messages and the settings that shape an answer."""
    kept = {name: value for name, value in settings.items() if name not in _NOT_IN_KEY}
    payload = json.dumps(
        {"format": FORMAT, "namespace": namespace, "messages": messages, "settings": kept},
        ensure_ascii=False,
        sort_keys=True,
        default=str,
    )
    return hashlib.sha256(payload.encode("utf-8", "replace")).hexdigest()


class ResponseStore:
    """Records under one folder; safe for threads and processes (atomic renames).

    ``owner`` names the run that pays for what is recorded: a continuation of that
    run finds its own records as paid calls, not as cached ones, so that its totals
    are those of a run that nothing interrupted.
    """

    def __init__(self, folder: Path, mode: CacheMode, owner: str | None = None) -> None:
        self.folder = folder
        self.mode = mode
        self.owner = owner
        self._keeping = tuple(threading.Lock() for _ in range(STRIPES))

    def __deepcopy__(self, memo: dict[int, Any]) -> ResponseStore:
        return self

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """The record, or None. A record that could not be parsed replays only in READ_ONLY.

        In READ_WRITE it is asked for again, so that a bad reply is not replayed
        for ever; in READ_ONLY a run must come out as it was recorded.
        """
        if self.mode is CacheMode.OFF:
            return None
        try:
            loaded = json.loads(self._path(key).read_text("utf-8"))
        except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
            return None  # never recorded, or torn by a crash: ask again
        if not isinstance(loaded, dict) or loaded.get("format") != FORMAT:
            return None
        asks_again = self.mode is CacheMode.READ_WRITE and not self.owns(loaded)
        return None if loaded.get("unparsable") and asks_again else loaded

    def owns(self, record: Mapping[str, Any]) -> bool:
        """Whether the record was paid for by this store's own run."""
        return self.owner is not None and record.get("owner") == self.owner

    def put(self, key: str, record: Mapping[str, Any]) -> None:
        """Write a record unless the mode forbids it."""
        if self.mode is not CacheMode.READ_WRITE:
            return
        path = self._path(key)
        temporary = path.with_name(f"{key}.{os.getpid()}.{threading.get_ident()}.tmp")
        whole = {"format": FORMAT, "owner": self.owner, **record}
        text = json.dumps(whole, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
        try:
            temporary.write_bytes(text)
        except FileNotFoundError:  # the first record of its folder
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(text)
        os.replace(temporary, path)

    def keep(self, key: str, record: Mapping[str, Any]) -> dict[str, Any] | None:
        """The record that is there already, or None once ``record`` is written in its place."""
        with self._keeping[hash(key) % STRIPES]:  # of two twins that end together, one is first
            first = self.get(key)
            if first is None:
                self.put(key, record)
            return first

    def mark_unparsable(self, key: str) -> None:
        """Note on a record that its text could not be read as the typed output."""
        record = self.get(key)
        if record is not None and not record.get("unparsable"):
            self.put(key, {**record, "unparsable": True})
