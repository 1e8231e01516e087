"""One question in the strictest form that the address accepts, stepping down where it refuses.

Output modes step down one by one; a setting that a refusal names is left out. A server
error counts as a refusal only where the same question is answered in another form. All
of it is one try to those who retry and to the breaker, and is remembered only once an
answer has come.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dspy.utils.exceptions import LMError, LMUnsupportedFeatureError

from stateauditor.program.backends.config import StructuredOutput
from stateauditor.program.backends.refusals import Refusal, overflows, refusal, refused_setting
from stateauditor.program.backends.structured import StructuredMode
from stateauditor.program.backends.wire import Heard, hearing
from stateauditor.signatures.errors import ContextOverflowError

_log = logging.getLogger(__name__)

# Without these there is no request, or they never reach the model.
_NEEDED: Final = frozenset(
    {"model", "messages", "response_format", "api_key", "api_base", "base_url", "timeout",
     "headers", "extra_headers", "rollout_id", "cache", "num_retries"}
)  # fmt: skip
SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Form:
    """One way to ask: an output mode, and the settings that ask for it."""

    mode: StructuredOutput | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


PLAIN: Final = Form()


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request brought: the outputs, DSPy's history entry, and its latency."""

    outputs: list[Any]
    entry: dict[str, Any]
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply, the form that it was given in, and what the server said beside it.

    ``refused`` has a sentence for each request that was refused on the way.
    """

    form: Form
    reply: Reply
    heard: Heard
    refused: tuple[str, ...]


Send = Callable[[Mapping[str, Any]], Awaitable[Reply]]


class Accepted:
    """What one model at one address has been seen to accept; shared by all that ask it."""

    def __init__(self, configured: StructuredOutput) -> None:
        self.structured = StructuredMode(configured)
        self.instead: dict[str, Any] = {}
        """Settings that were refused, each with None, and what is sent in their place."""


@dataclass
class _RefusedError(Exception):
    """A refusal that another form of the request may avoid."""

    error: Exception
    found: Refusal


async def ask(
    send: Send,
    settings: Mapping[str, Any],
    forms: Sequence[Form],
    accepted: Accepted,
    model: str,
    *,
    suspect: bool = True,
) -> Answer:
    """Ask in the first of ``forms`` that is not refused.

    ``settings`` are all that the request has; ``suspect`` says that a server error may be a
    refusal, too. Raises :class:`ContextOverflowError` where
    the prompt is too long, and the first error where every form is refused.
    """
    first: _RefusedError | None = None
    said: list[str] = []
    for form in forms:
        try:
            answer = await _tolerated(send, settings, form, accepted, model, said)
        except _RefusedError as refused:
            if first is None:
                first = refused
            if form is forms[-1] or _is_fault(refused, accepted, suspect=suspect):
                raise first.error from first.error.__cause__
            said.append(_sentence(refused.found, f"output by {form.mode}"))
            continue
        if form.mode is not None:
            _remember(form.mode, first, accepted.structured, model)
        return answer
    raise AssertionError("the last form is answered or raises")


async def _tolerated(
    send: Send,
    settings: Mapping[str, Any],
    form: Form,
    accepted: Accepted,
    model: str,
    said: list[str],
) -> Answer:
    """Ask in one form, and again without each setting that the server names as the trouble."""
    instead = dict(accepted.instead)
    asked_with = {name for name, value in settings.items() if value is not None} - _NEEDED
    while True:
        with hearing() as heard:
            try:
                reply = await send({**form.settings, **instead})
            except LMError as error:
                found = refusal(error, heard)
                if overflows(found):
                    raise ContextOverflowError(
                        f"the prompt does not fit the context window of {model}"
                    ) from error
                name = refused_setting(found, asked_with - instead.keys())
                if name is None:
                    if found.of_request or isinstance(error, LMUnsupportedFeatureError):
                        raise _RefusedError(error, found) from error
                    raise
                instead |= _instead(name, settings[name], found)
                said.append(_sentence(found, f"the setting {name}"))
                continue
        for name in instead.keys() - accepted.instead.keys():
            _log.warning("%s refuses the setting %s: it is no longer sent as it was", model, name)
        accepted.instead |= instead
        return Answer(form, reply, heard, tuple(said))


def _instead(name: str, value: Any, found: Refusal) -> dict[str, Any]:
    """What is sent in place of a refused setting: nothing, or the name that is asked for."""
    newer = "max_completion_tokens"
    if name == "max_tokens" and newer in found.text:
        return {name: None, newer: value}
    return {name: None}


def _is_fault(refused: _RefusedError, accepted: Accepted, *, suspect: bool) -> bool:
    """Whether an error is the server's own trouble: it has answered in this form before."""
    status = refused.found.status
    if status is None or status < SERVER_ERROR:
        return False
    return accepted.structured.proven or not suspect


def _remember(
    mode: StructuredOutput, refused: _RefusedError | None, structured: StructuredMode, model: str
) -> None:
    status = None if refused is None else refused.found.status
    if refused is not None:
        _log.warning("%s refuses stricter output (HTTP %s): asked by %s from now on",
                     model, status, mode.value)  # fmt: skip
    structured.accept(mode, doubtful=status is not None and status >= SERVER_ERROR)


def _sentence(found: Refusal, what: str) -> str:
    return f"HTTP {found.status}: {what} was refused, and asked again without it"
