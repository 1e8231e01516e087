"""Collecting what is wrong with a memory, so that one message names all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from stateauditor.program.memory.timestamps import ACCEPTED_FORMS
from stateauditor.signatures.errors import InputError, TimestampError

SHOWN: Final = 20
"""How many problems a message spells out before "and N more"."""


@dataclass(slots=True)
class Problems:
    """The problems found so far in one source (a file's name, or "memory")."""

    source: str = "memory"
    lines: list[str] = field(default_factory=list)
    about_time: int = 0
    advice: str = ""

    def add(self, where: str, what: str) -> None:
        """Note a problem; `where` names the entry and, where there is one, the field."""
        self.lines.append(f"{where}: {what}")

    def add_time(self, where: str, what: str) -> None:
        """Note a missing or unreadable time."""
        self.add(where, what)
        self.about_time += 1

    def advise(self, advice: Callable[[], str]) -> None:
        """Close the message by `advice`, which is asked for only if there is a problem."""
        if self.lines:
            self.advice = advice().removeprefix("; ")

    def raise_if_any(self) -> None:
        """Raise everything at once: `TimestampError` if all is about times, else `InputError`."""
        if not self.lines:
            return
        shown = self.lines[:SHOWN]
        if len(self.lines) > SHOWN:
            shown.append(f"and {len(self.lines) - SHOWN} more")
        if self.about_time:
            shown.append(f"accepted times: {'; '.join(ACCEPTED_FORMS)}")
        if self.advice:
            shown.append(self.advice)
        message = "\n".join([f"{self.source} cannot be used:", *(f"  {line}" for line in shown)])
        if self.about_time == len(self.lines):
            raise TimestampError(message)
        raise InputError(message)
