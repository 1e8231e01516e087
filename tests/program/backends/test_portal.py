"""The synchronous entry point works wherever it is called from."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from stateauditor.program.backends import portal
from stateauditor.program.backends.portal import run_sync

word: ContextVar[str] = ContextVar("word", default="unset")


async def read_word() -> str:
    await asyncio.sleep(0)
    return word.get()


def test_the_callers_context_variables_travel_with_the_call() -> None:
    token = word.set("mine")
    try:
        assert run_sync(read_word) == "mine"
    finally:
        word.reset(token)
    assert run_sync(read_word) == "unset"


def test_it_works_inside_a_running_event_loop() -> None:
    async def main() -> str:
        return run_sync(read_word)

    assert asyncio.run(main()) == "unset"


def test_it_works_from_inside_its_own_loop() -> None:
    async def outer() -> str:
        return run_sync(read_word)

    assert run_sync(outer) == "unset"


def test_threads_share_one_loop_and_keep_their_contexts() -> None:
    seen: dict[int, str] = {}
    idents: set[int] = set()

    async def remember() -> str:
        idents.add(threading.get_ident())
        return await read_word()

    def work(number: int) -> None:
        word.set(f"thread {number}")
        seen[number] = run_sync(remember)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {n: f"thread {n}" for n in range(8)}
    assert len(idents) == 1


def test_what_the_function_raises_reaches_the_caller() -> None:
    async def fail() -> None:
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        run_sync(fail)


class Fatal(BaseException):
    """What no handler of errors catches."""


async def fatal() -> None:
    raise Fatal


def test_a_fatal_error_reaches_its_caller_and_no_other_call() -> None:
    async def slow() -> str:
        await asyncio.sleep(0.1)
        return "done"

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(run_sync, slow)
        for _ in range(20):
            with pytest.raises(Fatal):
                run_sync(fatal)
            assert run_sync(read_word) == "unset"
        assert other.result() == "done"


def test_a_loop_that_is_gone_is_replaced() -> None:
    portal._loop().portal.call(portal._loop().portal.stop)
    assert run_sync(read_word) == "unset"
