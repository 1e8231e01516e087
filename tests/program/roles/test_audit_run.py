"""Roles of one audit: each fails for itself, and records do not depend on timing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from stateauditor.program.backends.recording import record
from stateauditor.program.backends.scripted import scripted_backend
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.signatures.errors import EmptyOutputError
from stateauditor.signatures.models import CallRecord
from stateauditor.signatures.proposer import TRANSITION_PROPOSAL

ROLE = TRANSITION_PROPOSAL


def work(name: str, seconds: float) -> Callable[[], Awaitable[str]]:
    async def answer() -> str:
        await asyncio.sleep(seconds)
        record(CallRecord(role=ROLE.name, model=name))
        if name == "broken":
            raise EmptyOutputError("the reply was empty")
        return name

    return answer


def test_answers_that_run_at_once_are_on_record_in_the_order_of_the_questions() -> None:
    run = AuditRun(scripted_backend({}), None)
    works = [work("slow", 0.03), work("broken", 0.01), work("fast", 0)]
    assert asyncio.run(run.attempts(ROLE, works)) == ["slow", None, "fast"]
    assert [call.model for call in run.calls] == ["slow", "broken", "fast"]
    assert [(f.role, f.reason) for f in run.failures] == [(ROLE.name, "the reply was empty")]


def test_calls_of_answers_that_are_cancelled_stay_on_record() -> None:
    run = AuditRun(scripted_backend({}), None)

    async def cancelled() -> None:
        await asyncio.wait_for(
            run.attempts(ROLE, [work("done", 0), work("never", 60)]), timeout=0.05
        )

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert [call.model for call in run.calls] == ["done"]
