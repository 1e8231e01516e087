"""How requests to one LM go out: in pace, again after faults, not at all while it is down.

DSPy's own retries are off. They have neither jitter (so that calls refused together
come back together) nor a bound on the Retry-After that they sit out, and they know
nothing of a breaker.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from anyio import CapacityLimiter
from dspy.utils.exceptions import (
    LMProviderError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
    is_retryable_lm_error,
)

from stateauditor.program.backends.breaker import CircuitBreaker
from stateauditor.program.backends.pace import Pace
from stateauditor.signatures.errors import BackendDownError

T = TypeVar("T")

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0  # seconds; who asks for more is not waited for
# What tells that an address is down. A rate limit or a refused request is an answer.
_DOWN = (LMTransportError, LMTimeoutError, LMServerError)


@dataclass(frozen=True)
class Traffic:
    """Pace, breaker and retries of one LM, shared by all its copies.

    A ``patient`` one waits for a breaker's next try instead of failing at once: an
    evaluation has time, and a reply that is sent to a user has not.
    """

    pace: Pace = field(default_factory=Pace)
    breaker: CircuitBreaker | None = None
    patient: bool = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Traffic:
        return self

    async def send(
        self,
        request: Callable[[], Awaitable[T]],
        *,
        tokens: int,
        used: Callable[[T], int],
        retries: int,
        limiter: CapacityLimiter | None = None,
    ) -> T:
        """Send until it succeeds, fails for good, or ``retries`` further tries are used up.

        ``tokens`` estimates the request, ``used`` reads the truth off its answer.
        """
        for number in range(retries + 1):
            try:
                return await self._once(request, tokens, used, limiter)
            except Exception as error:
                wait = self._wait(error, number)
                if wait is None or number == retries:
                    raise
                if isinstance(error, LMRateLimitError):
                    self.pace.pause(wait)
                await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _once(
        self,
        request: Callable[[], Awaitable[T]],
        tokens: int,
        used: Callable[[T], int],
        limiter: CapacityLimiter | None,
    ) -> T:
        if self.breaker is not None:
            self.breaker.check()
        slot = await self.pace.turn(tokens)
        async with limiter or nullcontext():
            answer = await (request() if self.breaker is None else _guarded(self.breaker, request))
        self.pace.correct(slot, used(answer))
        return answer

    def _wait(self, error: Exception, number: int) -> float | None:
        """Seconds until the next try, or None where there should be none."""
        if isinstance(error, BackendDownError):
            return error.seconds if self.patient else None
        if not (is_retryable_lm_error(error) or _garbled(error)):
            return None
        asked = getattr(error, "retry_after", None)
        if asked is None:
            return float(min(FIRST_WAIT * 2**number, LONGEST_WAIT) * random.uniform(0.5, 1.0))
        if asked > LONGEST_WAIT:
            return None
        return float(asked + random.uniform(0.0, min(1.0, asked / 4)))


def _garbled(error: Exception) -> bool:
    """Whether the answer came with success and a body that is none: a torn one, an HTML page."""
    return type(error) is LMProviderError and getattr(error, "status", None) == 200


async def _guarded(breaker: CircuitBreaker, request: Callable[[], Awaitable[T]]) -> T:
    """One request through a breaker, and its outcome reported."""
    probe = breaker.admit()
    try:
        answer = await request()
    except _DOWN:
        breaker.failed(probe=probe)
        raise
    except Exception:
        breaker.succeeded()
        raise
    except BaseException:  # cancelled
        breaker.abandoned(probe=probe)
        raise
    breaker.succeeded()
    return answer
