"""Two-person dialogues with right answers, in LoCoMo's layout: for measuring false alarms.

A dialogue takes up a dozen topics of ``offline_topics.yaml``, one remark a session, with small
talk between them. Many topics only look like a change, or end in a return; the others change
for good. Every answer is right after the whole dialogue, so that none may be repaired. A file
of the real LoCoMo has the same layout and is read by the same function.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import yaml

from stateauditor.program.memory import from_locomo
from stateauditor.program.memory.entries import Memory

TOPICS_PER_DIALOGUE = 12
NAMES = ("Caroline", "Audrey", "Nate", "Joanna", "Evan", "Calvin", "Maria", "Andrew")
Speaker = Literal["speaker_a", "speaker_b"]
UNANSWERABLE = 5
"""LoCoMo's category of questions that have no answer."""


@dataclass(frozen=True)
class Dialogue:
    """One speaker's memory and (question, right answer) pairs."""

    name: str
    memory: Memory
    pairs: tuple[tuple[str, str], ...]


def generated(count: int, seed: int = 42) -> Iterator[dict[str, Any]]:
    """``count`` records in LoCoMo's layout; the same seed gives the same records."""
    content = _content()
    draw = random.Random(seed)
    for number in range(count):
        yield _record(content, draw, f"dialogue {number + 1}")


def read_dialogue(record: dict[str, Any]) -> Iterator[Dialogue]:
    """Both speakers' memories with the questions that name them, or name nobody.

    A generated record is one speaker's: the other one makes small talk only.
    """
    qa = [(str(q["question"]), str(q["answer"])) for q in record["qa"] if _answerable(q)]
    talk = record.get("conversation", record)
    both: tuple[Speaker, ...] = ("speaker_a", "speaker_b")
    speakers = both if "conversation" in record else both[:1]
    for speaker in speakers:
        name = talk[speaker]
        pairs = tuple((q, a) for q, a in qa if len(speakers) == 1 or name in q)
        yield Dialogue(name, from_locomo(record, user=speaker), pairs)


def read_locomo(path: Path) -> Iterator[Dialogue]:
    """The dialogues of a LoCoMo file, a JSON list of records."""
    for record in json.loads(path.read_text(encoding="utf-8")):
        yield from read_dialogue(record)


def _answerable(entry: dict[str, Any]) -> bool:
    return entry.get("category") != UNANSWERABLE and bool(str(entry.get("answer", "")).strip())


def _content() -> dict[str, Any]:
    path = Path(__file__).with_name("offline_topics.yaml")
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _record(content: dict[str, Any], draw: random.Random, name: str) -> dict[str, Any]:
    speaker, other = draw.sample(NAMES, 2)
    record: dict[str, Any] = {"speaker_a": speaker, "speaker_b": other, "qa": [], "name": name}
    # No value serves two topics of one dialogue: an answer must stay right.
    values = {
        slot: draw.sample(list(words), len(words)) for slot, words in content["slots"].items()
    }
    queues: list[list[str]] = []
    taken: set[str] = set()
    for topic in draw.sample(sorted(content["topics"]), len(content["topics"])):
        if (one := content["topics"][topic].get("one", topic)) in taken:
            continue
        taken.add(one)
        filled = _filled(content["topics"][topic], values, speaker)
        if filled is None:
            continue
        says, asks = filled
        queues.append(says)
        record["qa"] += [{"question": q, "answer": a, "topic": topic} for q, a in asks]
        if len(queues) == TOPICS_PER_DIALOGUE:
            break
    _write_sessions(record, queues, content["chat"], draw)
    return record


def _filled(
    topic: dict[str, Any], values: dict[str, list[str]], speaker: str
) -> tuple[list[str], list[tuple[str, str]]] | None:
    """A topic's remarks and answers with unused values, or None where they have run out."""
    text = json.dumps(topic)
    chosen = {"name": speaker}
    for slot, left in values.items():
        names = [n for n in (f"{slot}{i}" for i in "123") if f"{{{n}}}" in text]
        names += [slot] if f"{{{slot}}}" in text else []
        if len(names) > len(left):
            return None
        chosen |= {n: left.pop() for n in names}
    says = [remark.format(**chosen) for remark in topic["says"]]
    return says, [(q.format(**chosen), a.format(**chosen)) for q, a in topic["asks"]]


def _write_sessions(
    record: dict[str, Any], queues: list[list[str]], chat: list[str], draw: random.Random
) -> None:
    speaker, other = record["speaker_a"], record["speaker_b"]
    when = datetime(2023, 1, 8, 13, 56)
    number = 0
    while any(queues):
        number += 1
        when += timedelta(days=draw.randint(3, 20), minutes=draw.randint(0, 300))
        turns = [(speaker, draw.choice(chat).format(other=other))]
        waiting = [q for q in queues if q]
        for queue in draw.sample(waiting, min(len(waiting), draw.randint(1, 3))):
            turns += [(speaker, queue.pop(0)), (other, draw.choice(chat).format(other=speaker))]
        record[f"session_{number}"] = [{"speaker": who, "text": text} for who, text in turns]
        clock = when.strftime("%I:%M %p").lstrip("0").lower()
        record[f"session_{number}_date_time"] = f"{clock} on {when.day} {when:%B}, {when.year}"
