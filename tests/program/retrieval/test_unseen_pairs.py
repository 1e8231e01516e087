"""Changes in lives that the lexicon was not written for are found within 2,000 tokens."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest
import yaml

from stateauditor.program.memory.entries import Memory
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.signatures.models import MemoryEntry, Readout
from tests.program.retrieval.memories import memory, turn

PAIRS: list[dict[str, str]] = yaml.safe_load(
    resources.files(__package__).joinpath("unseen_pairs.yaml").read_text(encoding="utf-8")
)
AROUND = (
    "What should I check before I buy a used bookcase? {} Would it fit in a small car?",
    "Thanks, that helps. {} Is there a cheaper way to do it? I have about 40 to spend.",
    "My printer jams on thick paper and I want to print cards. {} What would you try first?",
)
SMALL_TALK = (
    "Hi there! I'm doing well, thanks for asking. What can you help me with today?",
    "That's fascinating! How does that compare to older approaches in the field?",
    "Please add the review of the budget to the agenda. Yes, the second item too.",
    "I wonder how these trends will shape society. It makes you think, doesn't it?",
    "I just spent 14.20 on lunch. Anyway, could you explain the water cycle again?",
    "Speaking of films, I used to like westerns. What are some classics of the genre?",
)


def history() -> Memory:
    """Old statements in spring, new ones in autumn, a chat about nothing after each."""
    entries: list[MemoryEntry] = []
    for half, key in enumerate(("old", "new")):
        for number, pair in enumerate(PAIRS):
            when = f"2024-{3 + 6 * half:02d}-{number + 1:02d}"
            text = AROUND[(number + half) % len(AROUND)].format(pair[key])
            entries.append(turn(f"{key}{number:02d}", 0, f"{when}T09:00Z", text))
            chat = SMALL_TALK[(number + half) % len(SMALL_TALK)]
            entries.append(turn(f"{key}{number:02d}-chat", 0, f"{when}T18:00Z", chat))
    return memory(entries)


INDEX = MemoryIndex.build(history())


def holds(readout: Readout, statement: str) -> bool:
    return any(statement in line.text for line in readout.entries)


@pytest.mark.parametrize("pair", PAIRS, ids=[pair["attribute"] for pair in PAIRS])
def test_both_sides_of_the_change_are_in_the_readout(pair: dict[str, Any]) -> None:
    readout = INDEX.retrieve(pair["ask"], budget_tokens=2_000)
    assert holds(readout, pair["old"])
    assert holds(readout, pair["new"])
