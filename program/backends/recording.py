"""Who is calling, and what each call cost: one record a call, in context variables.

A role enters :func:`recording`; whatever LM answers it then appends a
:class:`~stateauditor.signatures.models.CallRecord`. Context variables follow
asyncio tasks and copied contexts, so concurrent roles never mix their records.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from stateauditor.signatures.models import CallRecord

OUTSIDE_ROLES = "outside"


@dataclass(slots=True)
class RoleScope:
    """The calls of one role in one audit."""

    role: str
    calls: list[CallRecord] = field(default_factory=list)


_scope: ContextVar[RoleScope | None] = ContextVar("stateauditor_role_scope", default=None)


@contextmanager
def recording(role: str) -> Iterator[RoleScope]:
    """Collect the calls made inside the block under ``role``."""
    scope = RoleScope(role)
    token = _scope.set(scope)
    try:
        yield scope
    finally:
        _scope.reset(token)


def current_role() -> str:
    """The role that is calling, or ``outside`` where none is."""
    scope = _scope.get()
    return OUTSIDE_ROLES if scope is None else scope.role


def record(call: CallRecord) -> None:
    """Add a call to the role in progress; outside any role it is forgotten."""
    scope = _scope.get()
    if scope is not None:
        scope.calls.append(call)
