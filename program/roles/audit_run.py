"""One audit in progress: its roles' calls, and what failed open."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from dspy.utils.exceptions import (
    LMConfigurationError,
    LMTransportError,
    LMUnsupportedFeatureError,
)

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.recording import recording
from stateauditor.signatures.errors import StateAuditorError
from stateauditor.signatures.models import CallRecord, Failure
from stateauditor.signatures.step import Card, Step

T = TypeVar("T")


@dataclass(slots=True)
class AuditRun:
    """Runs roles so that whatever breaks in one leaves the others' findings in force."""

    backend: Backend
    timeout: float | None
    _calls: dict[Card, list[CallRecord]] = field(default_factory=dict)
    _failures: dict[Step, Failure] = field(default_factory=dict)

    async def attempt(self, role: Card, work: Callable[[], Awaitable[T]]) -> T | None:
        """The role's answer, or None when it failed; then the failure is on record."""
        return await self._one(role, work, self._calls.setdefault(role, []))

    async def attempts(
        self, role: Card, works: Sequence[Callable[[], Awaitable[T]]]
    ) -> list[T | None]:
        """Several independent answers of one role at once, each failing for itself.

        Their calls are on record in the order of ``works``, whichever ends first.
        """
        scopes: list[list[CallRecord]] = [[] for _ in works]
        try:
            return await asyncio.gather(
                *(self._one(role, work, scope) for work, scope in zip(works, scopes, strict=True))
            )
        finally:
            for scope in scopes:
                self._calls.setdefault(role, []).extend(scope)

    async def _one(
        self, role: Card, work: Callable[[], Awaitable[T]], calls: list[CallRecord]
    ) -> T | None:
        with recording(role.name) as scope, self.backend.use(role.lm_role):
            try:
                answer = await asyncio.wait_for(work(), self.timeout)
                if self.backend.offline(role.lm_role):
                    model = self.backend.lm(role.lm_role).model
                    scope.calls.append(CallRecord(role=role.name, model=model, cost=0.0))
                return answer
            except Exception as error:  # noqa: BLE001  # fail open, whatever breaks
                self.fail(role, error)
                return None
            finally:
                calls.extend(scope.calls)

    def fail(self, step: Step, error: Exception) -> None:
        """Put a failure on record; the first one of a step counts."""
        self._failures.setdefault(step, Failure(role=step.name, reason=describe(error)))

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """All calls in the graph's order, which does not depend on timing."""
        return tuple(call for role in sorted(self._calls, key=_place) for call in self._calls[role])

    @property
    def failures(self) -> tuple[Failure, ...]:
        """All failures in the graph's order."""
        return tuple(self._failures[step] for step in sorted(self._failures, key=_place))


def _place(step: Step) -> tuple[int, int]:
    return step.stage, step.place


def describe(error: Exception) -> str:
    """What went wrong, without memory text and without keys.

    Of foreign errors the kind and the HTTP status are kept. A message is kept
    only where no server had a part in it: servers quote what they were sent.
    """
    if isinstance(error, StateAuditorError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "timed out"
    kind = type(error).__name__
    status = getattr(error, "status", None)
    if status is not None:
        return f"{kind}: HTTP {status}"
    if isinstance(error, LMTransportError | LMConfigurationError | LMUnsupportedFeatureError):
        return _without_keys(f"{kind}: {' '.join(error.message.split())[:300]}")
    return kind


def _without_keys(text: str) -> str:
    """``text`` with the value of every environment variable that looks like a key blotted out."""
    for name, value in os.environ.items():
        if ("KEY" in name or "TOKEN" in name) and len(value) >= 8:
            text = text.replace(value, "***")
    return text
