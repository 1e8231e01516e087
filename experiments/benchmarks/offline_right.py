"""Right drafts from several sources, none of them written for the offline rules.

Each source yields histories with (question, draft) pairs that are right after the whole
history, so that whoever touches one of these drafts does harm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stateauditor.data.memora import load_memora
from stateauditor.data.suites.items import Due
from stateauditor.data.suites.registry import load_suite
from stateauditor.experiments.benchmarks.offline_dialogues import (
    Dialogue,
    generated,
    read_dialogue,
    read_locomo,
)
from stateauditor.program.memory import read_memory
from stateauditor.program.memory.entries import Memory

PERSONAS = ("software_engineer", "startup_founder")
SLICES = ("dev_mini", "dev_coherent", "dev_full")
PROBES = ("dim1", "dim2", "dim3")
_OWN = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!])\s+")
# Longer forms first, so that "I am" is not read as "I" and "am".
_TURNED = re.compile(
    r"\b(?:I am|I'm|I was|I've|I'd|I'll|I|me|my|mine|myself|we|us|our|am)\b", re.IGNORECASE
)
_SECOND = {
    "i am": "you are",
    "i'm": "you're",
    "i was": "you were",
    "i've": "you've",
    "i'd": "you'd",
    "i'll": "you'll",
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "we": "you",
    "us": "you",
    "our": "your",
    "am": "are",
}
_LIKED = (
    ("What do I like?", "You like {item}."),
    ("What could I do with a free evening?", "Something with {item} would suit you."),
    ("Any recommendation for me?", "Since you enjoy {item}, begin there and take your time."),
    ("What should my friends give me?", "Something to do with {item} is a safe choice."),
)
_NOT_LIKED = (
    ("What do I think of {item}?", "You said that {item} is not for you."),
    ("Any recommendation for me?", "I would leave {item} out, and try something lighter."),
)


@dataclass(frozen=True)
class History:
    """One memory with the pairs that are right after it."""

    source: str
    memory: Memory
    pairs: tuple[tuple[str, str], ...]


def right_drafts(shared: Path, dialogues: int, locomo: Path | None) -> Iterator[History]:
    """Every source: personas and slices below ``shared``, suites, dialogues, a LoCoMo file."""
    for name in PERSONAS:
        yield persona_history(shared / "real" / "memora_weekly" / name)
    for name in SLICES:
        yield from slice_histories(shared / "slices" / name)
    for name in ("safety", "lifecycle_hard"):
        yield from suite_histories(name)
    for record in generated(dialogues):
        yield from (_history("dialogues", d) for d in read_dialogue(record))
    if locomo is not None:
        yield from (_history("locomo", d) for d in read_locomo(locomo))


def _history(source: str, dialogue: Dialogue) -> History:
    return History(source, dialogue.memory, dialogue.pairs)


# --- personas ------------------------------------------------------------------


def persona_history(folder: Path) -> History:
    """What a persona said last about each thing it likes or not, and the rest as it was said."""
    persona = load_memora(folder)
    last = last_preferences(folder)
    pairs: list[tuple[str, str]] = []
    for item, likes in last.items():
        templates = _LIKED if likes else _NOT_LIKED
        pairs += [(q.format(item=item), d.format(item=item)) for q, d in templates]
    unsettled = [item.casefold() for item in last]
    for session in persona.sessions:
        for turn in session["turns"]:
            if turn["role"] == "user":
                pairs += [
                    ("What have I told you lately?", second_person(text))
                    for text in _SENTENCE.split(turn["content"])
                    if _is_statement(text, unsettled)
                ]
    return History("personas", read_memory(persona.memory_items()), tuple(dict.fromkeys(pairs)))


def last_preferences(folder: Path) -> dict[str, bool]:
    """Each thing that a persona spoke of liking or not, with what holds in the end.

    A thing that was taken back, or replaced by another, is liked no longer.
    """
    last: dict[str, bool] = {}
    paths = (folder / "conversations").glob("session_*.json")
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    for record in sorted(records, key=lambda r: int(r["session_id"])):
        details = record.get("operation_details") or {}
        if "preference" not in details:
            continue
        last[str(details["item"])] = (
            details["preference"] == "like" and record["operation"] != "delete"
        )
        if old := details.get("old_item"):
            last[str(old)] = False
    return last


def _is_statement(text: str, unsettled: list[str]) -> bool:
    folded = text.casefold()
    named = any(item in folded for item in unsettled)
    return bool(_OWN.search(text)) and "?" not in text and len(text) > 20 and not named


def second_person(text: str) -> str:
    """A statement about oneself as somebody else would repeat it."""
    turned = _TURNED.sub(lambda m: _SECOND[m.group().casefold()], text.strip())
    return turned[:1].upper() + turned[1:]


# --- slices and suites -----------------------------------------------------------


def slice_histories(folder: Path) -> Iterator[History]:
    """Controls with the drafts that are right there, and conflicts with their good replies."""
    keys: dict[str, Any] = _load(folder / "keys.json")
    controls = {record["uid"]: record for record in _load(folder / "controls.json")}
    for conflict in _load(folder / "conflicts.json"):
        key = keys[conflict["uid"]]
        control = controls[key["control_uid"]]
        yield _record(f"{folder.name} controls", control, key["stale_drafts"])
        yield _record(f"{folder.name} good replies", conflict, key["good_responses"])


def _record(source: str, record: dict[str, Any], drafts: dict[str, str]) -> History:
    pairs = [(record["probing_queries"][f"{p}_query"], drafts[p]) for p in PROBES]
    return History(source, read_memory(record), tuple(pairs))


def suite_histories(name: str) -> Iterator[History]:
    """The drafts of a suite that are right."""
    for item in load_suite(name).items:
        pairs = tuple((p.question, p.draft) for p in item.probes if p.due is Due.NOTHING)
        if pairs:
            yield History(f"{name} suite", read_memory(item.memory_items()), pairs)


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
