"""One item of a suite: a dated history, one or more probes, and what must become of each.

The program sees ``memory_items()`` and one probe's question and draft. Groups, keys
and quotations are for scoring; they are sealed, so that a leak is a type error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from stateauditor.data.scenario import Session
from stateauditor.data.sealed import SealedText


class Due(StrEnum):
    """What the key demands of a reply."""

    REPAIR = "repair"
    """The draft relies on a value that a later remark has ended."""
    NOTHING = "nothing"
    """The draft is right: whatever changes it for a change of the user's state is wrong."""


class Explicitness(StrEnum):
    """How the later remark tells of the change, or of what only looks like one."""

    EXPLICIT = "explicit"
    """It names the change: what ended, or that something is new."""
    IMPLICIT = "implicit"
    """It names neither the old value nor that anything changed."""


class Register(StrEnum):
    """How the user writes in this history."""

    CASUAL = "casual"
    NEUTRAL = "neutral"
    FORMAL = "formal"


@dataclass(frozen=True, slots=True)
class ChangeKey:
    """The change that a probe is about: the one to find, or the one that must not be made.

    ``m_old`` and ``m_new`` are sentences of the history, letter for letter, ``m_old`` in
    an earlier session than ``m_new``. Where nothing is due, ``m_new`` only looks like the end
    of ``old_value``. ``causal_path`` has at least two distinct steps.
    """

    attribute: SealedText
    old_value: SealedText
    new_value: SealedText
    m_old: SealedText
    m_new: SealedText
    causal_path: tuple[SealedText, ...]


@dataclass(frozen=True, slots=True)
class SuiteProbe:
    """One question with a draft. ``name`` is unique in its item."""

    name: str
    question: str = field(repr=False)
    draft: str = field(repr=False)
    due: Due
    key: ChangeKey = field(repr=False)


@dataclass(frozen=True, slots=True)
class SuiteItem:
    """One history with its probes; ``group`` is the regime or the stress category."""

    uid: str
    suite: str
    group: str
    explicitness: Explicitness
    register: Register
    sessions: tuple[Session, ...] = field(repr=False)
    probes: tuple[SuiteProbe, ...] = field(repr=False)

    def memory_items(self) -> list[dict[str, Any]]:
        """The history as ``program.memory.read_memory`` takes it; its times are UTC."""
        return [session.as_memory_item() for session in self.sessions]


def find_problems(items: Sequence[SuiteItem]) -> list[str]:
    """What is wrong with generated items, each with its uid; empty for a sound suite.

    Checked are what every suite promises: unique uids and probe names, sessions in
    order of time, quotations that stand in one user turn each, the old before the new,
    values that differ, a path of two steps, and a draft and a question that are text.
    """
    problems: list[str] = []
    seen: set[str] = set()
    for item in items:
        if item.uid in seen:
            problems.append(f"{item.uid}: the uid occurs twice")
        seen.add(item.uid)
        times = [session.timestamp for session in item.sessions]
        if times != sorted(set(times)):
            problems.append(f"{item.uid}: the sessions are not in order of time")
        names = [probe.name for probe in item.probes]
        if not names or len(set(names)) < len(names):
            problems.append(f"{item.uid}: no probe, or two of one name")
        for probe in item.probes:
            problems += [f"{item.uid}, {probe.name}: {what}" for what in _of_probe(item, probe)]
    return problems


def _of_probe(item: SuiteItem, probe: SuiteProbe) -> list[str]:
    key = probe.key
    old = _sessions_with(item, key.m_old.reveal())
    new = _sessions_with(item, key.m_new.reveal())
    nodes = {node.reveal().strip().casefold() for node in key.causal_path}
    checks = {
        "question or draft is blank": not (probe.question.strip() and probe.draft.strip()),
        "m_old does not stand in exactly one user turn": len(old) != 1,
        "m_new does not stand in exactly one user turn": len(new) != 1,
        "m_old does not stand before m_new": bool(old and new) and not old[0] < new[0],
        "a value is blank, or both are the same": len(
            {v.reveal().strip().casefold() for v in (key.old_value, key.new_value)} - {""}
        )
        < 2,
        "the causal path has fewer than two steps": len(nodes - {""}) < 2,
    }
    return [what for what, wrong in checks.items() if wrong]


def _sessions_with(item: SuiteItem, sentence: str) -> list[int]:
    """The position of the session of each user turn that holds the sentence."""
    return [
        position
        for position, session in enumerate(item.sessions)
        for turn in session.turns
        if turn.role == "user" and sentence in turn.content
    ]
