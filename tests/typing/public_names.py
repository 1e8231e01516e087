"""What a type checker must accept, and what it must refuse; `make types` reads this file.

A line marked ``type: ignore`` is one that must be refused: mypy reports the mark itself
where the line has become right.
"""

from __future__ import annotations

from pathlib import Path

from stateauditor import (
    AuditResult,
    Backend,
    MemoryIndex,
    Policy,
    StateAuditor,
    audit,
    load_memory,
    read_memory,
)

ROWS = [{"timestamp": "2023-05-20", "text": "I live in Seattle."}]


def accepted() -> list[AuditResult]:
    """Each kind of memory, backend and setting."""
    auditor = StateAuditor("offline", policy="observe", variant="lean", role_timeout=None)
    index: MemoryIndex = auditor.index(ROWS)
    return [
        audit(ROWS, "Where?", "In Seattle."),
        audit(read_memory(ROWS), "Where?", "In Seattle.", policy=Policy.FULL),
        audit(load_memory(Path("memory.json")), "Where?", "Here.", backend="openai"),
        audit(tuple(read_memory(ROWS)), "Where?", "Here.", backend=Path("mine.yaml")),
        audit({"haystack_session": [], "timestamps": []}, "Where?", "Here."),
        StateAuditor(Backend.load("offline")).audit(index, "Where?", "Here."),
        *auditor.audit_pairs(index, [("Where?", "Here.")]),
    ]


async def accepted_in_async_code(auditor: StateAuditor) -> str:
    """The asynchronous twins say what they return."""
    result = await auditor.aaudit(ROWS, "Where?", "Here.")
    results = await auditor.aaudit_pairs(ROWS, [("Where?", "Here.")])
    return result.response + results[0].response


def refused() -> None:
    """Slips that would raise an error at run time."""
    audit(ROWS, "Where?", "Here.", policy="nope")  # type: ignore[arg-type]
    audit(ROWS, "Where?", "Here.", polcy="full")  # type: ignore[call-arg]
    audit("I live in Seattle.", "Where?", "Here.")  # type: ignore[arg-type]
    audit(7, "Where?", "Here.")  # type: ignore[arg-type]
    audit(ROWS, "Where?", None)  # type: ignore[arg-type]
    StateAuditor("offline", variant="leen")  # type: ignore[arg-type]
    StateAuditor("offline").audit(["I live in Seattle."], "Where?", "Here.")  # type: ignore[list-item]
