"""Stores with one change in them: a pair of statements among the statements of real people.

Three kinds: short facts, asides in sessions, and a mixture of both. The pair stands far
apart in the history, the old side before the new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import yaml

from stateauditor.data.memora import load_memora
from stateauditor.data.scenario import BenchmarkItem, Session
from stateauditor.data.slices import load_slice
from stateauditor.experiments.benchmarks.fact_wording import as_fact, clauses
from stateauditor.program.memory import Memory, read_memory
from stateauditor.program.retrieval.sentences import sentence_spans
from stateauditor.signatures.models import Frozen

PAIRS: Final = Path(__file__).parent / "fact_pairs.yaml"
_BEGIN: Final = datetime(2023, 1, 1, 8, tzinfo=UTC)
_DAYS: Final = 700
_AROUND: Final = (
    "What should I check before I buy a used bookcase? {} Would it fit in a small car?",
    "Thanks, that helps. {} Is there a cheaper way to do it?",
    "My printer jams on thick paper. {} What would you try first?",
    "Could you make this email shorter? {} Keep the greeting, please.",
    "How do I get wax out of a tablecloth? {} It is linen.",
)
_ANSWER: Final = "Start with the simplest thing and see whether that is enough."
_IN_A_SESSION: Final = 2


class Kind(StrEnum):
    """How the statements of a store are told."""

    FACTS = "facts"
    ASIDES = "asides"
    MIXTURE = "mixture"


class FactPair(Frozen):
    """One change in plain words; see ``fact_pairs.yaml``."""

    id: str
    old: str
    new: str
    control: str
    told_old: str
    told_new: str
    sr: str
    pr: str
    ipa: str

    @property
    def probes(self) -> tuple[str, str, str]:
        """The three questions."""
        return self.sr, self.pr, self.ipa


@dataclass(frozen=True, slots=True)
class Store:
    """A memory and the two statements that a readout should hold."""

    memory: Memory
    old: str
    new: str


@cache
def load_pairs(half: str) -> tuple[FactPair, ...]:
    """The pairs of one half: ``tune`` or ``report``."""
    raw: dict[str, Any] = yaml.safe_load(PAIRS.read_text(encoding="utf-8"))
    return tuple(FactPair.model_validate(pair) for pair in raw[half])


def statements(memora: Iterable[Path] = (), slices: Iterable[Path] = ()) -> dict[str, str]:
    """Distinct clauses that people said of themselves, and each as a fact, in a fixed order.

    They come from the bundled slice, and from Memora personas and other slices if folders
    are given.
    """
    found: dict[str, str] = {}
    for text in _user_turns(memora, slices):
        for start, end in sentence_spans(text):
            for clause in clauses(text[start:end]):
                fact = as_fact(clause)
                if fact is not None:
                    found.setdefault(fact, clause)
    shuffled = sorted(found, key=lambda fact: hashlib.sha256(fact.encode()).digest())
    return {found[fact]: fact for fact in shuffled}


def _user_turns(memora: Iterable[Path], slices: Iterable[Path]) -> Iterator[str]:
    sources: list[str | Path] = ["stale_mini", *slices]
    for source in sources:
        for item in load_slice(source):
            for session in item.scenario.sessions:
                yield from (turn.content for turn in session.turns if turn.role == "user")
    for folder in memora:
        for talk in load_memora(folder).sessions:
            yield from (turn["content"] for turn in talk["turns"] if turn["role"] == "user")


def build_store(
    pair: FactPair, others: dict[str, str], size: int, kind: Kind, control: bool, number: int
) -> Store:
    """``pair`` among ``size`` other statements; ``control`` takes the place of the new side.

    In a mixture every other statement is an aside, and so is one side of the pair.
    """
    new = pair.control if control else pair.new
    told_new = pair.control if control else pair.told_new
    told = {Kind.FACTS: (False, False), Kind.ASIDES: (True, True)}.get(
        kind, (number % 2 == 0, number % 2 == 1)
    )
    old_text, new_text = pair.told_old if told[0] else pair.old, told_new if told[1] else new
    chosen = list(islice(others.items(), size))
    aside = [kind is Kind.ASIDES or (kind is Kind.MIXTURE and n % 2 == 0) for n in range(size)]
    rows = [
        (said if is_aside else fact, is_aside)
        for (said, fact), is_aside in zip(chosen, aside, strict=True)
    ]
    rows.insert(size * (5 + number % 4) // 10, (new_text, told[1]))
    rows.insert(size * (1 + number % 3) // 10, (old_text, told[0]))
    return Store(read_memory(list(_items(rows))), old_text, new_text)


def _items(rows: Sequence[tuple[str, bool]]) -> Iterator[dict[str, Any]]:
    """The statements as memory items, evenly spread over two years."""
    waiting: list[str] = []
    for number, (text, is_aside) in enumerate(rows):
        when = _BEGIN + timedelta(days=number * _DAYS / max(len(rows), 1))
        if not is_aside:
            yield {"id": f"f{number:04d}", "timestamp": when.isoformat(), "text": text}
            continue
        waiting.append(_AROUND[number % len(_AROUND)].format(text))
        if len(waiting) == _IN_A_SESSION:
            yield _session(number, when, waiting)
            waiting = []
    if waiting:
        yield _session(len(rows), _BEGIN + timedelta(days=_DAYS), waiting)


def _session(number: int, when: datetime, texts: Iterable[str]) -> dict[str, Any]:
    turns = [
        turn
        for text in texts
        for turn in ({"role": "user", "content": text}, {"role": "assistant", "content": _ANSWER})
    ]
    return {"id": f"s{number:04d}", "timestamp": when.isoformat(), "turns": turns}


def dense_histories() -> list[tuple[BenchmarkItem, Store]]:
    """The slice's scenarios where every session tells of a life: authored ones only.

    A scenario keeps the places of its two sessions; the other scenarios' sessions fill the rest.
    """
    conflicts = load_slice("stale_mini").conflicts
    result = []
    for item in conflicts:
        pool = [
            (f"{other.uid}/{place}", other.scenario.sessions[place])
            for other in conflicts
            if other.uid != item.uid
            for place in (other.oracle.old, other.oracle.new)
        ]
        pool.sort(key=lambda named: hashlib.sha256(f"{item.uid} {named[0]}".encode()).digest())
        fill = iter(session for _, session in pool)
        own = item.scenario.sessions
        kept = {item.oracle.old, item.oracle.new}
        sessions = [
            _at(place, session.timestamp, session if place in kept else next(fill))
            for place, session in enumerate(own)
        ]
        memory = read_memory(sessions)
        result.append((item, Store(memory, item.judge.m_old.reveal(), item.judge.m_new.reveal())))
    return result


def _at(place: int, timestamp: str, session: Session) -> dict[str, Any]:
    return session.as_memory_item() | {"id": f"s{place + 1:02d}", "timestamp": timestamp}
