"""Hand-made readouts for the tests of the offline rules."""

from __future__ import annotations

from stateauditor.program.offline.changes import Change, find_changes, gather
from stateauditor.program.offline.dependency import Reply, bearing
from stateauditor.program.offline.statements import Statement, statements
from stateauditor.program.offline.words import sentences
from stateauditor.signatures.models import EntryRole, Readout, RenderedEntry, Timestamp
from stateauditor.signatures.readout import PromptReadout


def readout(*lines: str | tuple[str, str]) -> PromptReadout:
    """Lines by the user, a month apart; a tuple gives a line's role or its date first."""
    entries = []
    for number, line in enumerate(lines):
        head, text = line if isinstance(line, tuple) else ("user", line)
        dated = head[:1].isdigit()
        year, month = divmod(number, 12)
        date = head if dated else f"{2020 + year}-{month + 1:02}-01"
        entries.append(
            RenderedEntry(
                id=f"E{number + 1:02}",
                entry_id=f"m{number}",
                timestamp=Timestamp.model_validate(date),
                text=text,
                role=EntryRole.USER if dated else EntryRole(head),
                session=None if head == "fact" else f"s{number}",
                turn=None if head == "fact" else 0,
            )
        )
    return PromptReadout.of(Readout(entries=tuple(entries)))


def changes(*lines: str | tuple[str, str], context: str = "") -> list[Change]:
    """All changes that the rules see between the lines."""
    words = frozenset(w for s in sentences(context) for w in s.content)
    return find_changes(gather(statements(readout(*lines))), words)


def values(*lines: str | tuple[str, str]) -> list[tuple[str, str]]:
    """Old and new value of each change."""
    return [(c.old_value, c.new_value) for c in changes(*lines)]


def repairs(question: str, draft: str, *lines: str | tuple[str, str]) -> list[Change]:
    """The changes that bear on a reply."""
    reply = Reply(question, draft)
    return [c for _, c in bearing(reply, changes(*lines, context=f"{question} {draft}"))]


def statement(text: str, role: EntryRole = EntryRole.USER) -> Statement:
    """A single sentence as a statement."""
    line = RenderedEntry(id="E01", entry_id="m1", timestamp=None, text=text, role=role)
    return Statement(line, 0, sentences(text)[0])
