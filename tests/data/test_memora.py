"""A Memora persona becomes a memory and questions whose evidence stays apart."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.memora import CheckKind, QuestionKind, iter_memora, load_memora
from stateauditor.program.memory import from_memora, read_memory
from stateauditor.signatures.errors import InputError


def session(number: int, message: str) -> dict[str, Any]:
    return {
        "session_id": number,
        "session_type": "activity",
        "operation": "add",
        "operation_details": {"item": "SECRET-NOTE"},
        "date": "2025-06-01",
        "conversation": [
            {"turn": 1, "speaker": "user_agent", "message": message, "share_memory": True},
            {"turn": 2, "speaker": "ai_agent", "message": "Noted.", "share_memory": False},
        ],
    }


QUESTIONS: dict[str, Any] = {
    "persona": "p",
    "questions": {
        "remembering": [
            {
                "question_id": "q1",
                "question": "What is left to do?",
                "question_date": "2025-06-07",
                "memory_evidence": {
                    "tasks": [{"value": "x", "session_id": 10}, {"value": "y", "session_id": 2}],
                    "session_history": [2, 3],
                    "count": 7,
                },
                "forgetting_evidence": {"forgotten": [{"session_id": 3}]},
                "evaluation": {
                    "evaluation_questions": [
                        {
                            "evaluation_question_id": "q1_0",
                            "evaluation_question": "Does it mention SECRET-CHECK?",
                            "expected_answer": "no",
                            "evaluation_type": "forgetting_absence",
                        }
                    ]
                },
            }
        ],
        "reasoning": [
            {
                "question_id": "q2",
                "question": "How much?",
                "question_date": "2025-06-07",
                "memory_evidence": {"sum": {"goal": {"session_id": 2}}},
                "evaluation": {"evaluation_questions": []},
            }
        ],
    },
}


def write(root: Path, questions: Any = None, sessions: list[Any] | None = None) -> Path:
    folder = root / "p"
    (folder / "conversations").mkdir(parents=True, exist_ok=True)
    for place, item in enumerate(sessions or [session(n, f"task {n}") for n in (10, 2, 3)]):
        (folder / "conversations" / f"session_{place:04}.json").write_text(json.dumps(item))
    (folder / "evaluation_questions_p.json").write_text(json.dumps(questions or QUESTIONS))
    return folder


def test_sessions_become_the_memory_that_the_program_reads(tmp_path: Path) -> None:
    persona = load_memora(write(tmp_path))
    raw = [session(n, f"task {n}") for n in (2, 3, 10)]
    assert read_memory(persona.memory_items()) == from_memora(raw)
    assert [item["id"] for item in persona.memory_items()] == ["2", "3", "10"]
    assert "SECRET-NOTE" not in json.dumps(persona.memory_items())


def test_questions_know_their_evidence_sessions(tmp_path: Path) -> None:
    first, second = load_memora(write(tmp_path)).questions
    assert first.kind is QuestionKind.REMEMBERING
    assert first.evidence.memory == ("2", "3", "10")
    assert first.evidence.forgetting == ("3",)
    assert second.evidence.memory == ("2",)
    assert second.evidence.forgetting == ()


def test_evidence_and_checks_stay_out_of_what_is_shown(tmp_path: Path) -> None:
    question = load_memora(write(tmp_path)).questions[0]
    (check,) = question.checks
    assert check.kind is CheckKind.FORGETTING_ABSENCE
    assert check.expected is False
    assert "SECRET-CHECK" in check.question.reveal()
    assert "SECRET-CHECK" not in repr(question)
    assert repr(question.evidence) == "EvidenceSessions()"


def test_all_personas_below_a_folder_are_read(tmp_path: Path) -> None:
    write(tmp_path)
    assert [persona.name for persona in iter_memora(tmp_path)] == ["p"]
    with pytest.raises(InputError, match="holds no Memora persona"):
        list(iter_memora(tmp_path / "p"))


def change(path: str, value: Any) -> Callable[[], dict[str, Any]]:
    """The questions with one value replaced (or left out, for None)."""

    def changed() -> dict[str, Any]:
        questions: Any = copy.deepcopy(QUESTIONS)
        *way, last = path.split(".")
        at = questions["questions"]["remembering"][0]
        for name in way:
            at = at[int(name)] if isinstance(at, list) else at[name]
        if value is None:
            del at[last]
        else:
            at[last] = value
        return dict(questions)

    return changed


CHECK = "evaluation.evaluation_questions.0"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (change("question", None), r"question 'q1', field 'questions.remembering\[0\].question'"),
        (change("evaluation", None), "evaluation': is missing"),
        (change("memory_evidence.session_history", [99]), r"history\[0\]': there is no session 99"),
        (change("memory_evidence.session_history", "x"), "must be a whole number, not text"),
        (change("forgetting_evidence", {"a": {"session_id": 4}}), "there is no session 4"),
        (change(f"{CHECK}.expected_answer", "maybe"), "must be yes or no"),
        (change(f"{CHECK}.evaluation_type", "other"), "one of memory_presence, forgetting_absence"),
        (lambda: {"questions": {"odd": []}}, "must be one of remembering, reasoning"),
    ],
)
def test_broken_questions_name_the_field(
    tmp_path: Path, changed: Callable[[], dict[str, Any]], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        load_memora(write(tmp_path, changed()))


@pytest.mark.parametrize(
    ("sessions", "problem"),
    [
        ([session(1, "a"), session(1, "b")], "session_0001.json, field 'session_id': an earlier"),
        ([{**session(1, "a"), "date": None}], "field 'date': must be text, not null"),
        ([{**session(1, "a"), "conversation": [{"speaker": "me"}]}], "user_agent, ai_agent"),
    ],
)
def test_broken_sessions_name_file_and_field(
    tmp_path: Path, sessions: list[Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        load_memora(write(tmp_path, sessions=sessions))


def test_a_folder_without_its_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must hold conversations"):
        load_memora(tmp_path)
    folder = write(tmp_path)
    (folder / "evaluation_questions_p.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        load_memora(folder)
