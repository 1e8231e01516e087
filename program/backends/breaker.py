"""A circuit breaker: an address that keeps failing is left alone for a while.

Closed, it counts failures in a row. Open, it lets nothing through, so that roles
fail open at once instead of waiting for one timeout each. After the cooldown one
request goes out as a probe: its success closes the breaker, its failure opens it
for another cooldown.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from stateauditor.signatures.errors import BackendDownError


class CircuitBreaker:
    """Shared by all LMs of one address; safe for threads and event loops."""

    def __init__(
        self,
        name: str,
        *,
        failures: int,
        cooldown: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.limit = failures
        self.cooldown = cooldown
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened: float | None = None
        self._probing = False

    def check(self) -> None:
        """Raise :class:`BackendDownError` where a request would be refused now."""
        with self._lock:
            self._refuse()

    def admit(self) -> bool:
        """Let one request through; True where it is the probe of an open breaker.

        The caller reports how it went: :meth:`succeeded`, :meth:`failed`, or
        :meth:`abandoned`. Raises :class:`BackendDownError` where it may not go out.
        """
        with self._lock:
            self._refuse()
            self._probing = self._opened is not None
            return self._probing

    def succeeded(self) -> None:
        """The address answered; whatever it said, it is alive."""
        with self._lock:
            self._failures = 0
            self._opened = None
            self._probing = False

    def failed(self, *, probe: bool) -> None:
        """The address did not answer, or answered with a server error."""
        with self._lock:
            self._failures += 1
            # Requests sent before it opened may still fail; they do not prolong the cooldown.
            if probe or (self._opened is None and self._failures >= self.limit):
                self._opened = self._clock()
            if probe:
                self._probing = False

    def abandoned(self, *, probe: bool) -> None:
        """The request was cancelled: nothing is known; another may be the probe."""
        if probe:
            with self._lock:
                self._probing = False

    def _refuse(self) -> None:
        if self._opened is None:
            return
        left = self._opened + self.cooldown - self._clock()
        if left > 0:
            raise BackendDownError(self.name, self._failures, left)
        if self._probing:
            raise BackendDownError(self.name, self._failures, self.cooldown)
