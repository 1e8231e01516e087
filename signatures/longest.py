"""The longest answers that roles may give, such that every later role is asked.

Stand-ins for replies in estimates: as many items as the instructions allow, of
usual length, pointing at lines of the readout in the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

PREMISES: Final = 12
PRESUPPOSITIONS: Final = 6
TRANSITIONS: Final = 6
CHANGES: Final = 8
"""What the instructions of the roles allow, and about as many changes as a readout holds."""

REASONING: Final = "One of the lines speaks of it, and a later one may have ended it. " * 8
SENTENCE: Final = "The user has an arrangement that this reply silently relies on, as said before."
PHRASE: Final = "an arrangement as it is now"
REPLY: Final = "Advice of the usual length, in plain words, about what was asked for today. " * 12

_LINE = re.compile(r'^(E\d+) \[[^\]]*\] (".*")$', re.MULTILINE)
_NUMBER = re.compile(r'"number": *(\d+)')

Answer = dict[str, Any]


@dataclass(frozen=True)
class Prompted:
    """A prompt, as far as the longest answer to it depends on what it shows."""

    text: str

    @cached_property
    def lines(self) -> list[tuple[str, str]]:
        """The readout's lines, each as id and text."""
        return [(name, json.loads(text)) for name, text in _LINE.findall(self.text)]

    @property
    def ends(self) -> list[str]:
        """The ids of the first and the last line, where there are any."""
        return [self.lines[0][0], self.lines[-1][0]] if self.lines else []

    @property
    def numbers(self) -> range:
        """The numbers of the items that the prompt asks about."""
        found = (int(number) for number in _NUMBER.findall(self.text))
        return range(1, max(found, default=0) + 1)


Longest = Callable[[Prompted], Answer]


def longest_answer(longest: Longest, prompt: str) -> Answer:
    """The whole answer to a prompt, with a reasoning before it."""
    return {"reasoning": REASONING, **longest(Prompted(prompt))}


def whole_reply(prompt: Prompted) -> Answer:
    """A reply of the usual length."""
    return {"response": REPLY}


def found_premises(count: int) -> Longest:
    """So many premises without a verdict."""
    found = [{"text": f"{SENTENCE} ({number})", "stated": False} for number in range(count)]
    return lambda prompt: {"premises": found}


def judged_premises(prompt: Prompted, count: int) -> list[Answer]:
    """So many premises, each stale."""
    return [
        {
            "number": number,
            "text": f"{SENTENCE} ({number})",
            "evidence": prompt.ends,
            "attribute": f"arrangement {number}",
            "verdict": "STALE",
            "current_value": PHRASE,
            "material": True,
            "origin": "draft",
        }
        for number in range(1, count + 1)
    ]


def changed_attributes(prompt: Prompted) -> list[Answer]:
    """A timeline on which everything has changed."""
    return [
        {
            "attribute": f"arrangement {number}",
            "previous_value": f"{PHRASE}, before {number}",
            "current_value": f"{PHRASE}, after {number}",
            "status": "changed",
            "evidence": prompt.ends,
        }
        for number in range(CHANGES)
    ]


def proposed_transitions(prompt: Prompted) -> list[Answer]:
    """Transitions from the oldest line to the newest that apply to every pair."""
    if not prompt.lines:
        return []
    pairs = [pair for pair in ("P1", "P2", "P3") if f'"{pair}"' in prompt.text]
    return [
        {
            "attribute": f"arrangement {number}",
            "old_quote": prompt.lines[0][1],
            "new_quote": prompt.lines[-1][1],
            "causal_path": [f"{PHRASE}, step {step}" for step in range(1, 4)],
            "old_value": f"before {number}",
            "new_value": f"after {number}",
            "applies_to": pairs,
            "material": True,
        }
        for number in range(TRANSITIONS)
    ]


def rulings(field: str, **said: Any) -> Longest:
    """The same word on each numbered item, under the name of the answer's field."""
    return lambda prompt: {field: [{"number": number, **said} for number in prompt.numbers]}


def asked_questions(count: int) -> list[Answer]:
    """So many questions about the user."""
    return [{"text": f"{SENTENCE} Is that so? ({number})"} for number in range(count)]
