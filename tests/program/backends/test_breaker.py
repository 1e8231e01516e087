"""The circuit breaker: when requests are refused, and when they go out again."""

from __future__ import annotations

import pytest

from stateauditor.program.backends.breaker import CircuitBreaker
from stateauditor.signatures.errors import BackendDownError


class Clock:
    """The time, as the test sets it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fail(breaker: CircuitBreaker) -> None:
    breaker.failed(probe=breaker.admit())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("api.example:443", failures=3, cooldown=10, clock=clock)


def test_it_opens_after_so_many_failures_in_a_row_and_says_how_long(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now = 4
    expected = r"backend api.example:443 is down \(3 failures\); next try in 6 s"
    with pytest.raises(BackendDownError, match=expected) as caught:
        breaker.check()
    assert caught.value.seconds == 6
    with pytest.raises(BackendDownError):
        breaker.admit()


def test_a_success_in_between_starts_the_count_again(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        fail(breaker)
        fail(breaker)
        breaker.admit()
        breaker.succeeded()
    breaker.check()


def test_after_the_cooldown_one_probe_goes_out_and_its_success_closes(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now = 10
    assert breaker.admit() is True
    with pytest.raises(BackendDownError):
        breaker.admit()
    breaker.succeeded()
    assert breaker.admit() is False


def test_a_probe_that_fails_opens_it_for_another_cooldown(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now = 10
    fail(breaker)
    clock.now = 19
    with pytest.raises(BackendDownError, match="next try in 1 s"):
        breaker.admit()


def test_a_cancelled_probe_lets_another_one_out(breaker: CircuitBreaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now = 10
    breaker.abandoned(probe=breaker.admit())
    assert breaker.admit() is True


def test_failures_of_requests_sent_before_it_opened_do_not_prolong_the_cooldown(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    early = [breaker.admit() for _ in range(6)]
    for probe in early[:3]:
        breaker.failed(probe=probe)
    clock.now = 9
    for probe in early[3:]:
        breaker.failed(probe=probe)
        breaker.abandoned(probe=False)
    clock.now = 10
    assert breaker.admit() is True
