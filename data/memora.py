"""Memora's personas: real conversations with questions whose evidence is known.

A persona's folder holds ``conversations/session_*.json`` and
``evaluation_questions_*.json`` (Uddin et al. 2026, Memora). Retrieval analysis
asks whether the sessions that a question rests on were found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from stateauditor.data.checking import Field
from stateauditor.data.sealed import SealedText
from stateauditor.signatures.errors import InputError

_SPEAKERS: Final = {"user_agent": "user", "ai_agent": "assistant"}
_SESSION_LISTS: Final = ("session_id", "session_history")


class QuestionKind(StrEnum):
    """What a Memora question asks of a memory."""

    REMEMBERING = "remembering"
    REASONING = "reasoning"
    RECOMMENDING = "recommending"


class CheckKind(StrEnum):
    """Whether a check wants a current fact present or an outdated one absent."""

    MEMORY_PRESENCE = "memory_presence"
    FORGETTING_ABSENCE = "forgetting_absence"


@dataclass(frozen=True, slots=True)
class EvidenceSessions:
    """Ids of the sessions that a question rests on; for offline recall only.

    ``memory`` holds the ones with what still holds, ``forgetting`` those with
    what was deleted or replaced.
    """

    memory: tuple[str, ...] = field(repr=False)
    forgetting: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MemoraCheck:
    """One yes/no question about an answer; for the judge."""

    id: str
    kind: CheckKind
    question: SealedText
    expected: bool = field(repr=False)


@dataclass(frozen=True, slots=True)
class MemoraQuestion:
    """One question; only ``question`` and ``date`` are for the program."""

    id: str
    kind: QuestionKind
    question: str
    date: str
    evidence: EvidenceSessions
    checks: tuple[MemoraCheck, ...]


@dataclass(frozen=True, slots=True)
class MemoraPersona:
    """One user's sessions and the questions about them."""

    name: str
    sessions: tuple[dict[str, Any], ...] = field(repr=False)
    questions: tuple[MemoraQuestion, ...] = field(repr=False)

    def memory_items(self) -> list[dict[str, Any]]:
        """The sessions as ``program.memory.read_memory`` takes them.

        Dates have no time of day: no session is later than another of its day.
        """
        return list(self.sessions)


def iter_memora(root: Path | str) -> Iterator[MemoraPersona]:
    """Load every persona's folder below `root`, in the order of their names."""
    root = Path(root)
    folders = sorted(path.parent for path in root.glob("*/conversations"))
    if not folders:
        raise InputError(f"{root}: holds no Memora persona (a folder with 'conversations')")
    for folder in folders:
        yield load_memora(folder)


def load_memora(folder: Path | str) -> MemoraPersona:
    """Load one persona's folder.

    Raises `InputError` naming the file and field of what is broken, evidence
    that points to a session that is not there included.
    """
    folder = Path(folder)
    paths = sorted((folder / "conversations").glob("session_*.json"))
    question_files = sorted(folder.glob("evaluation_questions_*.json"))
    if not paths or len(question_files) != 1:
        raise InputError(
            f"{folder}: must hold conversations/session_*.json and one evaluation_questions_*.json"
        )
    numbered: dict[int, dict[str, Any]] = {}
    for path in paths:
        number, session = _session(_json(path))
        if number in numbered:
            raise InputError(f"{path}, field 'session_id': an earlier file has the same")
        numbered[number] = session
    sessions = tuple(session for _, session in sorted(numbered.items()))
    known = {session["id"] for session in sessions}
    return MemoraPersona(folder.name, sessions, tuple(_questions(_json(question_files[0]), known)))


def _json(path: Path) -> Field:
    try:
        return Field(str(path), "", json.loads(path.read_bytes()))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON") from error


def _session(file: Field) -> tuple[int, dict[str, Any]]:
    """What was said and when; the notes on what the session changed stay out."""
    number = _member(file, "session_id").whole()
    turns = []
    for turn in _member(file, "conversation").items():
        speaker = _member(turn, "speaker")
        role = _SPEAKERS.get(speaker.text())
        if role is None:
            raise speaker.broken(f"must be one of {', '.join(_SPEAKERS)}")
        turns.append({"role": role, "content": _member(turn, "message").text(filled=False)})
    return number, {"id": str(number), "timestamp": _member(file, "date").text(), "turns": turns}


def _questions(file: Field, known: set[str]) -> Iterator[MemoraQuestion]:
    for name, group in _member(file, "questions").mapping().items():
        kind = Field(file.record, group.path, name).choice(QuestionKind)
        for entry in group.items():
            identity = _member(entry, "question_id").text()
            raw = Field(f"{file.record}: question {identity!r}", entry.path, entry.value)
            fields = raw.mapping()
            evaluation = _member(raw, "evaluation")
            yield MemoraQuestion(
                id=identity,
                kind=kind,
                question=_member(raw, "question").text(),
                date=_member(raw, "question_date").text(),
                evidence=EvidenceSessions(
                    memory=_evidence(_member(raw, "memory_evidence"), known),
                    # Questions that reason have nothing to forget.
                    forgetting=_evidence(fields["forgetting_evidence"], known)
                    if "forgetting_evidence" in fields
                    else (),
                ),
                checks=tuple(
                    _check(check) for check in _member(evaluation, "evaluation_questions").items()
                ),
            )


def _evidence(evidence: Field, known: set[str]) -> tuple[str, ...]:
    """All sessions named anywhere in the evidence, whose shape differs by question."""
    found: set[int] = set()
    for named in _session_fields(evidence):
        number = named.whole()
        if str(number) not in known:
            raise named.broken(f"there is no session {number}")
        found.add(number)
    return tuple(str(number) for number in sorted(found))


def _session_fields(value: Field) -> Iterator[Field]:
    if isinstance(value.value, list):
        for item in value.items():
            yield from _session_fields(item)
    elif isinstance(value.value, dict):
        for name, member in value.mapping().items():
            if name in _SESSION_LISTS:
                yield from member.items() if isinstance(member.value, list) else [member]
            else:
                yield from _session_fields(member)


def _check(check: Field) -> MemoraCheck:
    expected = _member(check, "expected_answer")
    if expected.text() not in ("yes", "no"):
        raise expected.broken("must be yes or no")
    return MemoraCheck(
        id=_member(check, "evaluation_question_id").text(),
        kind=_member(check, "evaluation_type").choice(CheckKind),
        question=SealedText(_member(check, "evaluation_question").text()),
        expected=expected.text() == "yes",
    )


def _member(of: Field, name: str) -> Field:
    fields = of.mapping()
    if name not in fields:
        path = f"{of.path}.{name}" if of.path else name
        raise Field(of.record, path, None).broken("is missing")
    return fields[name]
