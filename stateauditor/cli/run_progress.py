"""How far a run is, on stderr: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Protocol, Self

from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from stateauditor.cli.console import note, printable, show, stderr
from stateauditor.signatures.models import Totals

SECONDS_BETWEEN_LINES = 5.0


class RunState(Protocol):
    """What the display reads of :class:`stateauditor.experiments.runs.loop.Progress`."""

    total: int
    done: int
    failed: int
    in_flight: int
    spent: Totals
    paid: Totals
    stopped: str | None
    failures: list[str]


class RunDisplay:
    """Call it with the run's progress whenever that changes."""

    def __init__(self) -> None:
        self._console = stderr()
        self._bar: Bar | None = None
        self._task = TaskID(0)
        self._first: tuple[float, int] | None = None
        self._said = float("-inf")
        self._stopped = False

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar = Bar(
                TextColumn("{task.completed}/{task.total} scenarios"),
                BarColumn(bar_width=20),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=self._console,
            )
            self._task = self._bar.add_task("starting", total=None)
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, state: RunState) -> None:
        """Show where the run is."""
        now = time.monotonic()
        if self._first is None:
            self._first = (now, state.done)
        line = describe(state, now - self._first[0], state.done - self._first[1])
        if self._bar is not None:
            self._bar.update(self._task, total=state.total, completed=state.done, description=line)
        elif now - self._said >= SECONDS_BETWEEN_LINES or state.done == state.total:
            self._said = now
            show(self._console, f"{state.done}/{state.total} scenarios · {line}")
        if state.stopped is not None and not self._stopped:
            self._stopped = True
            self._announce(state)

    def _announce(self, state: RunState) -> None:
        """Said at once: somebody who pressed Ctrl-C is waiting for an answer."""
        text = f"stopping ({printable(state.stopped or '')})"
        if state.in_flight:
            text += f"; {state.in_flight} in flight will be finished, Ctrl-C again breaks them off"
        show(self._console, text, style="yellow")


def tell_end(state: RunState) -> None:
    """What failed, with the first reasons, and where the run stopped if it did."""
    if state.failed:
        note(f"{state.failed} scenario(s) failed and count apart; the first:")
        for failure in state.failures:
            show(stderr(), f"  {printable(failure)}")
    if state.done < state.total:
        note(f"stopped after {state.done} of {state.total} scenarios: {state.stopped}")


def describe(state: RunState, seconds: float, since: int) -> str:
    """Failures, calls, tokens, cost, rate and time left, in one line.

    ``since`` scenarios ended in the ``seconds`` of this session.
    """
    tokens = state.spent.input_tokens + state.spent.output_tokens
    parts = [f"{state.failed} failed", f"{state.spent.calls:,} calls", f"{tokens:,} tokens"]
    cost = state.paid.cost
    parts.append("cost unknown" if cost is None else f"${cost:,.4f}")
    if since and seconds > 0:
        rate = since / seconds
        parts.append(f"{60 * rate:,.1f} a minute")
        if state.done < state.total:
            parts.append(f"{_duration((state.total - state.done) / rate)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
