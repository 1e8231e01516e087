"""Rate limits as a sliding window; the clock is a number that the tests move."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.backends.pace import WINDOW, Pace


class Clock:
    """The time, as the test sets it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def waits(pace: Pace, *tokens: int) -> list[float]:
    """How long each of some requests, asked for at once, has to wait."""
    return [pace.reserve(count).when - 1000.0 for count in tokens]


def test_without_limits_nothing_waits() -> None:
    assert waits(Pace(clock=Clock()), *[10**6] * 50) == [0.0] * 50


def test_requests_beyond_the_limit_wait_for_the_next_minute() -> None:
    assert waits(Pace(2, clock=Clock()), 1, 1, 1, 1, 1) == [0, 0, 60, 60, 120]


def test_tokens_beyond_the_limit_wait_for_the_next_minute() -> None:
    assert waits(Pace(None, 100, clock=Clock()), 60, 40, 1, 100) == [0, 0, 60, 120]


def test_a_request_larger_than_a_minutes_tokens_goes_alone() -> None:
    assert waits(Pace(None, 100, clock=Clock()), 500, 1) == [0, 60]


def test_what_a_request_really_took_replaces_its_estimate() -> None:
    clock = Clock()
    pace = Pace(None, 100, clock=clock)
    slot = pace.reserve(100)
    pace.correct(slot, 10)
    assert waits(pace, 90) == [0]


def test_a_request_that_will_not_go_out_gives_its_place_back() -> None:
    pace = Pace(1, clock=Clock())
    pace.cancel(pace.reserve(1))
    assert waits(pace, 1) == [0]


def test_a_pause_holds_everything_back() -> None:
    pace = Pace(clock=Clock())
    pace.pause(5)
    pace.pause(2)
    assert waits(pace, 1) == [5]


def test_a_cancelled_wait_gives_its_place_back() -> None:
    pace = Pace(1)

    async def main() -> None:
        await pace.turn(1)
        waiting = asyncio.create_task(pace.turn(1))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert pace.reserve(1).when - time.monotonic() == pytest.approx(WINDOW, abs=2)


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 60)), max_size=40),
    st.integers(1, 5),
    st.integers(1, 100),
)
def test_no_window_of_a_minute_ever_holds_more_than_the_limits(
    asked: list[tuple[int, int]], requests: int, tokens: int
) -> None:
    clock = Clock()
    pace = Pace(requests, tokens, clock=clock)
    slots = []
    for later, count in asked:
        clock.now += later
        slots.append(pace.reserve(count))
    assert [slot.when for slot in slots] == sorted(slot.when for slot in slots)
    for end in slots:
        inside = [s for s in slots if end.when - WINDOW < s.when <= end.when]
        assert len(inside) <= requests
        assert len(inside) == 1 or sum(s.tokens for s in inside) <= tokens
