"""Work through many items at once: bounded, capped, interruptible, told to whoever watches.

Ctrl-C lets what is in flight finish; a cost cap stops before it is passed. Who gives
the work writes each record as it ends, so that whatever ends the work can be continued.
"""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import dspy

from stateauditor.signatures.models import CallRecord, Totals, Usage

FAILURES_SHOWN = 3

ItemT = TypeVar("ItemT")
RecordT = TypeVar("RecordT", bound="Countable")


class Countable(Protocol):
    """What progress reads of a record."""

    @property
    def uid(self) -> str:
        """The item's id."""

    @property
    def failure(self) -> str | None:
        """Why the item went wrong; None where it did not."""

    def all_calls(self) -> Iterator[CallRecord]:
        """Every LM call that the item took."""


@dataclass(slots=True)
class Progress:
    """How far the work is; ``stopped`` says why it ended early.

    ``spent`` sums all calls, ``paid`` those that were not replayed from another run;
    ``dearest`` is what the dearest item was paid. ``failures`` keeps the first few
    reasons, each with its item's uid.
    """

    total: int
    done: int = 0
    failed: int = 0
    in_flight: int = 0
    spent: Totals = field(default_factory=Totals)
    paid: Totals = field(default_factory=Totals)
    dearest: float = 0.0
    stopped: str | None = None
    failures: list[str] = field(default_factory=list)

    def add(self, record: Countable) -> None:
        """Count one finished item."""
        usage = Usage.of(record.all_calls())
        self.done += 1
        failure = record.failure
        if failure is not None:
            self.failed += 1
            named = failure if failure.startswith(record.uid) else f"{record.uid}: {failure}"
            self.failures = [*self.failures, named][:FAILURES_SHOWN]
        self.paid = _sum(self.paid, usage.paid)
        self.spent = _sum(self.spent, _sum(usage.paid, usage.cached))
        self.dearest = max(self.dearest, usage.paid.cost or 0.0)


Watcher = Callable[[Progress], None]


@dataclass(slots=True)
class Work(Generic[ItemT, RecordT]):
    """Items waiting to be done, and the rules under which one may start.

    ``one`` makes an item's record and never raises for the item's own failure;
    ``keep`` writes it, off the event loop and one at a time. ``max_cost`` is in US dollars.
    """

    waiting: Iterator[ItemT]
    one: Callable[[ItemT], Awaitable[RecordT]]
    keep: Callable[[RecordT], None]
    progress: Progress
    concurrency: int
    max_cost: float | None = None
    watch: Watcher = lambda progress: None
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self) -> None:
        """Keep as many items in flight as allowed until none is left or a stop."""
        self.watch(self.progress)
        with _on_interrupt(self._stop), _lean_collections():
            flight: set[asyncio.Task[None]] = set()
            while True:
                while len(flight) < self.concurrency and self._may_start():
                    item = next(self.waiting, None)
                    if item is None:
                        break
                    self.progress.in_flight += 1
                    flight.add(asyncio.create_task(self._one(item)))
                    await asyncio.sleep(0)  # its first calls go out before the next one starts
                if not flight:
                    return
                ended, flight = await asyncio.wait(flight, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()

    async def _one(self, item: ItemT) -> None:
        record = await self.one(item)
        async with self._writing:  # a disk may be slow; other items' calls go on
            await asyncio.to_thread(self.keep, record)
        self.progress.in_flight -= 1
        self.progress.add(record)
        self.watch(self.progress)

    def _may_start(self) -> bool:
        """Whether another item fits under the cap, should it be the dearest so far."""
        progress, cap = self.progress, self.max_cost
        if progress.stopped is not None:
            return False
        if cap is None:
            return True
        if progress.paid.cost is None:
            self._stop("max_cost needs the cost of every call: give the LM a price in its file")
            return False
        if progress.done == 0:
            return progress.in_flight == 0  # the first one shows what an item costs
        if progress.paid.cost + (progress.in_flight + 1) * progress.dearest > cap:
            if progress.in_flight == 0:
                self._stop(f"the next scenario could pass max_cost = {cap}")
            return False
        return True

    def _stop(self, why: str) -> None:
        if self.progress.stopped is None:
            self.progress.stopped = why
            self.watch(self.progress)


class Kept(Protocol[RecordT]):
    """Where records are, and where they are written; a run's folder is one."""

    def items(self) -> Iterator[RecordT]:
        """The records that are there, in the order in which items ended."""

    def append(self, item: RecordT, /) -> None:
        """Add one record."""

    def write_json(self, name: str, value: Any, /) -> Any:
        """Write one JSON file beside the records."""


def work_through(
    items: Iterable[tuple[str, ItemT]],
    one: Callable[[ItemT], Awaitable[RecordT]],
    kept: Kept[RecordT],
    *,
    total: int,
    concurrency: int,
    max_cost: float | None = None,
    watch: Watcher = lambda progress: None,
) -> Progress:
    """Do the items that have no record yet, and write status.json however that ends.

    ``items`` come with their uids and are read as they are needed; ``one`` and the
    other settings are those of :class:`Work`.
    """
    progress = Progress(total=total)
    done = set()
    for record in kept.items():
        progress.add(record)
        done.add(record.uid)
    work = Work(
        waiting=(item for uid, item in items if uid not in done),
        one=one,
        keep=kept.append,
        progress=progress,
        concurrency=concurrency,
        max_cost=max_cost,
        watch=watch,
    )
    try:
        # DSPy would keep the inputs of the last 10,000 calls, and with them whole readouts.
        with dspy.context(trace=None):
            asyncio.run(work.run())
    finally:
        kept.write_json("status.json", _status(progress))
    return progress


def _status(progress: Progress) -> dict[str, int | str | None]:
    """How far the work got, and why it ended there; None where it is complete."""
    stopped = None
    if progress.done < progress.total:
        stopped = progress.stopped or "broken off"
    return {"done": progress.done, "total": progress.total, "stopped": stopped}


@contextmanager
def _lean_collections() -> Iterator[None]:
    """Keep what is loaded already out of garbage collections.

    A full one would read all objects of the libraries again, and every call waits for it.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _on_interrupt(stop: Callable[[str], None]) -> Iterator[None]:
    """First Ctrl-C: finish what is in flight. A second one interrupts at once."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, _interrupted, loop, stop)
    except (NotImplementedError, RuntimeError, ValueError):
        yield  # not the main thread, or a platform without signal handlers
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _interrupted(loop: asyncio.AbstractEventLoop, stop: Callable[[str], None]) -> None:
    loop.remove_signal_handler(signal.SIGINT)
    stop("interrupted")


def _sum(one: Totals, other: Totals) -> Totals:
    costs = (one.cost, other.cost)
    return Totals(
        calls=one.calls + other.calls,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
        seconds=one.seconds + other.seconds,
    )
