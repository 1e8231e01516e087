"""What a server said beyond what DSPy passes on: its headers, and the body of a refusal.

DSPy's transport reads both and drops them. A gateway tells a reply's cost in a header,
and many servers tell what was wrong in a body without OpenAI's ``error`` object, of
which DSPy keeps nothing. So the transport of each connection pool is listened to, and
what the request in progress heard stands in a context variable.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

LONGEST_BODY = 20_000  # characters; servers quote the whole prompt that they refuse


@dataclass(slots=True)
class Heard:
    """The last answer to the request in progress; header names are in lower case.

    ``status`` is None where no server answered; ``body`` is kept of refusals only.
    """

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


_heard: ContextVar[Heard | None] = ContextVar("stateauditor_heard", default=None)


@contextmanager
def hearing() -> Iterator[Heard]:
    """Listen to the one request that the block sends."""
    heard = Heard()
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


class ListeningEngines(dict[Any, Any]):
    """The connection pools of one LM; each is listened to from the moment it is stored."""

    def __setitem__(self, key: Any, engine: Any) -> None:
        router = engine.router
        # Both routers build their transport on first use and keep it here.
        router._transport = _Listening(router._shared_transport())
        super().__setitem__(key, engine)


class _Listening:
    """A transport that does what the one inside does, and notes what was said."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def stream(self, request: Any) -> Any:
        """One request; its answer is noted when it is read."""
        answer = self._inner.stream(request)
        return _noted_later(answer) if hasattr(answer, "__aenter__") else _noted(answer)


@contextmanager
def _noted(answer: Any) -> Iterator[Any]:
    with answer as response:
        yield _note(response)


@asynccontextmanager
async def _noted_later(answer: Any) -> AsyncIterator[Any]:
    async with answer as response:
        yield _note(response)


def _note(response: Any) -> Any:
    heard = _heard.get()
    if heard is None:
        return response
    heard.status = response.status
    heard.headers = {name.lower(): value for name, value in response.headers}
    heard.body = ""
    return response if response.status < 400 else _Overheard(response, heard)


class _Overheard:
    """A refusal whose body is noted as it is read."""

    def __init__(self, response: Any, heard: Heard) -> None:
        self._response = response
        self._heard = heard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._response, name)

    def read(self) -> Any:
        """The body: bytes, or what is awaited for them."""
        body = self._response.read()
        return self._keep(body) if isinstance(body, bytes) else self._kept_later(body)

    async def _kept_later(self, body: Any) -> bytes:
        return self._keep(await body)

    def _keep(self, body: bytes) -> bytes:
        self._heard.body = body[:LONGEST_BODY].decode("utf-8", "replace")
        return body


def error_fields(body: str) -> Mapping[str, Any]:
    """The object in which a refusal's body tells what was wrong; empty where none does.

    OpenAI nests it under ``error``; others write its fields flat, or text under
    ``error``, ``detail`` or ``message``; some send a list of one.
    """
    try:
        told = json.loads(body)
    except ValueError:
        return {}
    if isinstance(told, list) and told:
        told = told[0]
    if not isinstance(told, dict):
        return {}
    inner = told.get("error")
    if isinstance(inner, dict):
        return inner
    return told
