"""How the readout looks in a prompt: quoted data, one line an entry."""

from __future__ import annotations

import json

from pydantic import model_serializer

from stateauditor.signatures.models import Readout, RenderedEntry


def render_line(entry: RenderedEntry) -> str:
    """One entry as a line; the text is a JSON string, so that it cannot leave its quotes."""
    time = "unknown time" if entry.timestamp is None else str(entry.timestamp)
    place = entry.session if entry.session is not None else "fact"
    return f"{entry.id} | {time} | {place} | {json.dumps(entry.text, ensure_ascii=False)}"


class PromptReadout(Readout):
    """A readout as Signatures take it: typed for code, plain lines for the LM."""

    @model_serializer(mode="plain")
    def _render(self) -> str:
        return "\n".join(render_line(entry) for entry in self.entries) or "(no entries)"

    @classmethod
    def of(cls, readout: Readout) -> PromptReadout:
        """The same entries and pairs, rendered for prompts."""
        return cls(entries=readout.entries, pairs=readout.pairs, tokens=readout.tokens)
