"""What a compile has spent and how often audits failed; it ends the compile when it must.

DSPy's optimizers swallow every exception and score it 0. What ends a compile is
therefore no ``Exception``: like Ctrl-C it passes through them, and what is good so
far is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from stateauditor.signatures.models import CallRecord, Failure, Totals


class CompileStopped(BaseException):  # no error: a decision to stop
    """Ends an optimizer from inside; the message says why."""


@dataclass
class Meter:
    """Counts calls, money and failures over all threads of a compile.

    ``prompt_calls`` are those of the LM that writes instructions, filled elsewhere.
    """

    max_cost: float | None = None
    max_errors: int = 10
    audits: int = 0
    failed: int = 0
    first_failure: str | None = None
    prompt_calls: list[CallRecord] = field(default_factory=list)
    stopped: str | None = None
    on_end: Callable[[], None] | None = field(default=None, repr=False)
    _calls: list[CallRecord] = field(default_factory=list, repr=False)
    _in_flight: int = 0
    _dearest: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def totals(self) -> Totals:
        """All calls so far, the prompt LM's among them."""
        with self._lock:
            return Totals.of([*self._calls, *self.prompt_calls])

    @property
    def paid(self) -> float | None:
        """US dollars spent on calls that were not replayed; None as soon as one is unknown."""
        with self._lock:
            return self._paid()

    def begin(self) -> None:
        """Before each audit: raises :class:`CompileStopped` where none may begin any more."""
        with self._lock:
            if self.stopped is None:
                self.stopped = self._reason()
            if self.stopped is not None:
                raise CompileStopped(self.stopped)
            self._in_flight += 1

    def end(self, calls: Sequence[CallRecord], failures: Iterable[Failure] = ()) -> None:
        """After each audit, with its calls and the roles that failed open."""
        found = list(failures)
        with self._lock:
            self._in_flight -= 1
            self.audits += 1
            self._calls.extend(calls)
            paid = [call for call in calls if not call.cached]
            self._dearest = max(self._dearest, Totals.of(paid).cost or 0.0)
            if found:
                self.failed += 1
                self.first_failure = self.first_failure or f"{found[0].role}: {found[0].reason}"
        if self.on_end is not None:
            self.on_end()

    def stop(self, why: str) -> None:
        """Let no further audit begin."""
        with self._lock:
            self.stopped = self.stopped or why

    def _paid(self) -> float | None:
        calls = [*self._calls, *self.prompt_calls]
        return Totals.of(call for call in calls if not call.cached).cost

    def _reason(self) -> str | None:
        if self.failed > self.max_errors:
            return (
                f"{self.failed} audits failed, more than max_errors = {self.max_errors}; "
                f"the first: {self.first_failure}"
            )
        if self.max_cost is None:
            return None
        paid = self._paid()
        if paid is None:
            return "max_cost needs the cost of every call: give the LM a price in its file"
        if paid + (self._in_flight + 1) * self._dearest > self.max_cost:
            return f"the next audit could pass max_cost = {self.max_cost}"
        return None
