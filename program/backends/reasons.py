"""Why something failed, in words that may be shown: no memory text, no keys, our own settings."""

from __future__ import annotations

import asyncio
import os
import re

from dspy.utils.exceptions import (
    LMConfigurationError,
    LMTransportError,
    LMUnsupportedFeatureError,
)

from stateauditor.signatures.errors import StateAuditorError


def describe(error: BaseException) -> str:
    """What went wrong, without memory text and without keys.

    Of foreign errors the kind and the HTTP status are kept. A message is kept
    only where no server had a part in it: servers quote what they were sent.
    """
    if isinstance(error, StateAuditorError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, asyncio.CancelledError):
        return "given up before an answer came"
    kind = type(error).__name__
    status = getattr(error, "status", None)
    if status is not None:
        return f"{kind}: HTTP {status}"
    if isinstance(error, LMTransportError | LMConfigurationError | LMUnsupportedFeatureError):
        words = _without_advice(" ".join(error.message.split()))
        return _without_keys(f"{kind}: {words[:300]}")
    return kind


# What a library inside says of its own settings, which nobody can set from here.
_ADVICE = re.compile(r"[;,—-]*\s*(this is lm15|raise (it|max_connections)|pass RouterConfig).*")


def _without_advice(message: str) -> str:
    return _ADVICE.sub("", message)


def never_sent(error: BaseException) -> bool:
    """Whether no model can have worked on a request: refused, or nobody was reached."""
    status = getattr(error, "status", None)
    refused = status is not None and status >= 400 and status not in _GIVEN_UP
    return refused or any("Connect" in name for name in _kinds(error))


def ran_out(error: BaseException) -> bool:
    """Whether our own time for one answer is over; a server's deadline has a status."""
    if getattr(error, "status", None) is not None:
        return False
    kinds = _kinds(error)
    return any("Timeout" in name for name in kinds) and not any("Connect" in k for k in kinds)


_GIVEN_UP = (408, 504)  # statuses of a server that worked on a request, and gave up


def _kinds(error: BaseException | None) -> list[str]:
    """The names of an error's class and of those of what caused it, and so on."""
    names = []
    while error is not None:
        names.append(type(error).__name__)
        error = error.__cause__
    return names


def _without_keys(text: str) -> str:
    """``text`` with the value of every environment variable that looks like a key blotted out."""
    for name, value in os.environ.items():
        if ("KEY" in name or "TOKEN" in name) and len(value) >= 8:
            text = text.replace(value, "***")
    return text
