"""Rate limits: how many requests and tokens may go to an LM in any minute.

A sliding window, kept exactly: each request reserves the earliest moment at which
neither limit is passed, in the order of asking. No event loop is involved in the
reckoning, so one pace serves threads and loops together.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 60.0


@dataclass(slots=True)
class Slot:
    """One request's place in the window."""

    when: float
    tokens: int


class Pace:
    """Reserves moments for requests; without limits every moment is free.

    ``tokens`` of a slot are an estimate until :meth:`correct` replaces them by what
    the reply says. A request larger than the whole minute's tokens goes alone.
    """

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.requests = requests_per_minute
        self.tokens = tokens_per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._slots: deque[Slot] = deque()
        self._not_before = 0.0

    def reserve(self, tokens: int) -> Slot:
        """The earliest moment at which a request of so many tokens fits."""
        with self._lock:
            now = self._clock()
            while self._slots and self._slots[0].when <= now - WINDOW:
                self._slots.popleft()
            when = max(now, self._not_before)
            if self.requests is None and self.tokens is None:
                return Slot(when, tokens)
            if self._slots:
                when = max(when, self._slots[-1].when)
            recent = [slot for slot in self._slots if slot.when > when - WINDOW]
            count, total = len(recent), sum(slot.tokens for slot in recent)
            for oldest in recent:
                if self._fits(count, total, tokens):
                    break
                when = oldest.when + WINDOW
                count, total = count - 1, total - oldest.tokens
            slot = Slot(when, tokens)
            self._slots.append(slot)
            return slot

    def _fits(self, count: int, total: int, tokens: int) -> bool:
        few = self.requests is None or count < self.requests
        small = self.tokens is None or total + tokens <= self.tokens
        return few and small

    def pause(self, seconds: float) -> None:
        """Let nothing out for so long: the server has asked for it."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)

    async def turn(self, tokens: int) -> Slot:
        """Wait until a request of so many tokens may go out; its slot."""
        slot = self.reserve(tokens)
        try:
            while (wait := max(slot.when, self._not_before) - self._clock()) > 0:
                await asyncio.sleep(wait)
        except BaseException:
            self.cancel(slot)
            raise
        return slot

    def correct(self, slot: Slot, tokens: int) -> None:
        """Put what the request really took in place of the estimate."""
        with self._lock:
            slot.tokens = tokens

    def cancel(self, slot: Slot) -> None:
        """Give back the place of a request that will not go out."""
        with self._lock:
            if slot in self._slots:
                self._slots.remove(slot)
