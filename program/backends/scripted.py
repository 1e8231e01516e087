"""A backend whose replies are written beforehand, for tests and offline work.

It is a real :class:`BackendLM` down to the engine that would send the request,
so that prompts, parsing, retries, accounting and recording are all exercised::

    backend = scripted_backend({"transition_proposal": {"transitions": []}})
    StateAuditor(backend=backend).audit(memory, question, draft)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dspy.lm15 import Message, Request, Response, Usage

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig, LMConfig
from stateauditor.program.backends.lm import BackendLM
from stateauditor.program.backends.recording import current_role
from stateauditor.program.backends.store import CacheMode, ResponseStore, default_folder

MODEL = "scripted/replies"
NOTHING_FOUND = {"reasoning": "nothing"}


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """What a scripted reply may look at."""

    role: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A reply that the backend stopped at its token limit."""

    text: str


Reply = Any  # text, a JSON value, a Cut, an exception to raise, or a function of the request
Script = Mapping[str, Reply | list[Reply]] | Callable[[ScriptedRequest], Reply]


class ScriptedEngine:
    """Answers by the role that is calling; a list is used up one reply a call.

    Roles without a script find nothing.
    ``requests`` keeps what was asked, in order.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[ScriptedRequest] = []
        self._served: dict[str, int] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Response:
        """One reply, as DSPy's engine contract wants it."""
        texts = [part.text for message in request.messages for part in message.parts]
        system = request.system if isinstance(request.system, str) else ""
        asked = ScriptedRequest(current_role(), "\n".join([system, *texts]))
        with self._lock:
            self.requests.append(asked)
            reply = self._next(asked.role)
        if callable(reply) and not isinstance(reply, type):
            reply = reply(asked)
        if isinstance(reply, BaseException):
            raise reply
        cut = isinstance(reply, Cut)
        text = reply.text if isinstance(reply, Cut) else reply
        if not isinstance(text, str):
            text = json.dumps(text, ensure_ascii=False)
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant(text),
            finish_reason="length" if cut else "stop",
            usage=Usage(input_tokens=len(asked.prompt) // 4, output_tokens=len(text) // 4),
        )

    def _next(self, role: str) -> Reply:
        if callable(self.script):
            return self.script
        reply = self.script.get(role, NOTHING_FOUND)
        if not isinstance(reply, list):
            return reply
        position = self._served.get(role, 0)
        self._served[role] = position + 1
        return reply[min(position, len(reply) - 1)]


class Engine(Protocol):
    """What answers requests of DSPy's LM."""

    def complete(self, request: Request) -> Response:
        """The response to one request."""


class AsyncEngine:
    """An engine's asynchronous face."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def complete(self, request: Request) -> Response:
        """The engine's own response."""
        return self.engine.complete(request)


def scripted_backend(
    script: Script, *, store: ResponseStore | None = None, name: str = "scripted"
) -> Backend:
    """A backend that answers every role from ``script``: role name -> reply, or a function.

    ``name`` is what outputs call it.
    """
    engine = ScriptedEngine(script)
    lm = BackendLM(
        MODEL,
        store=store or ResponseStore(default_folder(), CacheMode.OFF),
        engine=engine,
        async_engine=AsyncEngine(engine),
        num_retries=0,
    )
    config = BackendConfig(name=name, lms={"scripted": LMConfig(model=MODEL)})
    return Backend(config, {"scripted": lm})
