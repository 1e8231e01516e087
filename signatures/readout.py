"""How the readout looks in a prompt: quoted data, one line an entry."""

from __future__ import annotations

import json

from pydantic import model_serializer

from stateauditor.signatures.models import (
    MemoryEntry,
    Readout,
    RenderedEntry,
    Timestamp,
    Validity,
)

UNDATED = "undated"


def render_line(entry_id: str, timestamp: Timestamp | None, text: str, mark: str = "") -> str:
    """One readout line: ``E01 [2024-02-20T02:45Z] "text"``, the mark behind the time.

    The text is a JSON string, so that it cannot leave its quotes.
    """
    time = UNDATED if timestamp is None else str(timestamp)
    return f"{entry_id} [{time}{mark}] {json.dumps(text, ensure_ascii=False)}"


def validity_mark(entry: MemoryEntry | RenderedEntry) -> str:
    """What a line says of a fact that its store has closed; nothing for an open one."""
    if entry.validity is Validity.OPEN:
        return ""
    if entry.validity is Validity.CLOSING:
        return ", closing by the store"
    return ", closed by the store" + ("" if entry.ended is None else f" on {entry.ended}")


class PromptReadout(Readout):
    """A readout as Signatures take it: typed for code, plain lines for the LM."""

    @model_serializer(mode="plain")
    def _render(self) -> str:
        return (
            "\n".join(
                render_line(e.id, e.timestamp, e.text, validity_mark(e)) for e in self.entries
            )
            or "(no entries)"
        )

    @classmethod
    def of(cls, readout: Readout) -> PromptReadout:
        """The same entries and pairs, rendered for prompts."""
        return cls(entries=readout.entries, pairs=readout.pairs, tokens=readout.tokens)
