"""One event loop in a background thread, behind every synchronous entry point.

The pipeline is asynchronous; ``audit()`` is called from scripts, threads,
Jupyter cells and inside running loops. A single long-lived loop serves them all:
HTTP connections are reused, nothing is patched, and the caller's context
variables (DSPy's settings among them) travel with each call.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")

_lock = threading.Lock()
_running: dict[int, _Loop] = {}  # by process: a fork starts its own


@dataclass(frozen=True, slots=True)
class _Loop:
    portal: BlockingPortal
    thread: int


def _loop() -> _Loop:
    with _lock:
        process = os.getpid()
        if process not in _running:
            _running.clear()
            stack = ExitStack()
            portal = stack.enter_context(start_blocking_portal(name="stateauditor-loop"))
            atexit.register(stack.close)
            _running[process] = _Loop(portal, portal.call(threading.get_ident))
        return _running[process]


def run_sync(function: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run an async function to its end from synchronous code, wherever that runs.

    Raises what ``function`` raises. Ctrl-C in the calling thread cancels it.
    """
    loop = _loop()
    if loop.thread == threading.get_ident():
        # Called from inside the loop itself: a loop of its own avoids the deadlock.
        with start_blocking_portal() as nested:
            return nested.call(function, *args)
    running = _submitted(loop, _sheltered, function, *args)
    try:
        outcome: T | _Fatal = running.result()
    except BaseException:  # Ctrl-C in this thread: the call must not be waited out
        running.cancel()
        raise
    if isinstance(outcome, _Fatal):
        raise outcome.error
    return outcome


@dataclass(frozen=True, slots=True)
class _Fatal:
    error: BaseException


async def _sheltered(function: Callable[..., Awaitable[T]], *args: Any) -> T | _Fatal:
    """The call's outcome; what would bring the loop down, and others' calls with it, is a value."""
    try:
        return await function(*args)
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:  # noqa: BLE001  # raised again in the caller's thread
        return _Fatal(error)


def _submitted(loop: _Loop, function: Callable[..., Awaitable[T]], *args: Any) -> Future[T]:
    """The call on its way; a loop that some earlier call has brought down is replaced."""
    try:
        return loop.portal.start_task_soon(function, *args)
    except RuntimeError:
        with _lock:
            if _running.get(os.getpid()) is loop:
                _running.clear()
        return _loop().portal.start_task_soon(function, *args)
