"""Retries, rate limits and the breaker against a real HTTP server on loopback."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from anyio import CapacityLimiter
from dspy.utils.exceptions import LMRateLimitError, LMServerError

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends import traffic
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig, LMConfig
from stateauditor.program.backends.store import CacheMode
from stateauditor.signatures.errors import BackendDownError
from stateauditor.signatures.step import LMRole
from tests.program.backends.test_loopback import GOOD, ask, backend
from tests.support.loopback import Reply, json_reply, loopback
from tests.support.worked import DRAFT, MEMORY, QUESTION

BROKEN = Reply("broken", status=500)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backoff without the waiting."""
    monkeypatch.setattr(traffic, "FIRST_WAIT", 0.01)


def test_a_server_error_is_tried_again_as_often_as_configured() -> None:
    with loopback([BROKEN, BROKEN, json_reply(GOOD)]) as server:
        assert ask(backend(server, retries=2))[0] == ["The user lives in Oslo."]
    with loopback([BROKEN]) as server:
        with pytest.raises(LMServerError):
            ask(backend(server, retries=2))
        assert len(server.requests) == 3


def test_a_success_without_a_readable_body_is_tried_again() -> None:
    page = Reply(body=b"<html>please wait</html>", content_type="text/html")
    torn = Reply(body=b'{"choices": [')
    with loopback([page, torn, json_reply(GOOD)]) as server:
        assert ask(backend(server, retries=2))[0] == ["The user lives in Oslo."]


def test_a_refused_request_is_not_tried_again() -> None:
    with loopback([Reply("no", status=403)]) as server:
        with pytest.raises(Exception):  # noqa: B017, PT011
            ask(backend(server, retries=3))
        assert len(server.requests) == 1


def test_a_rate_limit_holds_back_all_calls_of_the_lm() -> None:
    limited = Reply("slow down", status=429, headers={"retry-after": "1"})
    with loopback([limited, json_reply(GOOD)]) as server:
        used = backend(server, retries=1)
        started = time.monotonic()
        ask(used)
        assert time.monotonic() - started >= 1.0


def test_a_longer_wait_than_a_minute_is_not_sat_out() -> None:
    with loopback([Reply("tomorrow", status=429, headers={"retry-after": "3600"})]) as server:
        with pytest.raises(LMRateLimitError):
            ask(backend(server, retries=3))
        assert len(server.requests) == 1


def test_backoff_grows_is_jittered_and_bounded() -> None:
    wait = traffic.Traffic()._wait
    error = LMServerError("x")
    waits = [[wait(error, number) or 0.0 for _ in range(50)] for number in (0, 3, 20)]
    assert all(0.005 <= w <= 0.01 for w in waits[0])
    assert all(0.04 <= w <= 0.08 for w in waits[1])
    assert all(30 <= w <= 60 for w in waits[2])
    assert len({*waits[0]}) > 1


def test_requests_per_minute_are_kept_by_all_copies_of_an_lm(tmp_path: Path) -> None:
    with loopback([json_reply(GOOD)]) as server:
        used = backend(server, requests_per_minute=3)
        bound = used.bound(tmp_path, CacheMode.OFF, "run", CapacityLimiter(8))
        for name in "ab":
            ask(used, name)
        ask(bound, "c")
        pace = used.lm(LMRole.AUDITOR).traffic.pace
        assert pace is bound.lm(LMRole.AUDITOR).traffic.pace
        assert pace.reserve(1).when - time.monotonic() > 50


def test_tokens_are_estimated_before_and_corrected_after() -> None:
    with loopback([json_reply(GOOD, usage=(40, 2))]) as server:
        used = backend(server, tokens_per_minute=100_000, max_tokens=500)
        ask(used)
        (slot,) = used.lm(LMRole.AUDITOR).traffic.pace._slots
    assert slot.tokens == 42


# --- the breaker --------------------------------------------------------------------


def test_a_backend_that_is_down_fails_open_at_once_and_says_so() -> None:
    with loopback([BROKEN]) as server:
        used = backend(server, breaker={"failures": 3, "cooldown": 60})
        auditor = StateAuditor(used, variant="lean")
        results = [auditor.audit(MEMORY, QUESTION, DRAFT) for _ in range(6)]
        assert len(server.requests) == 3
    assert all(result.response == DRAFT for result in results)
    reason = results[-1].failed_open[0].reason
    assert reason.startswith("backend 127.0.0.1:")
    assert "is down (3 failures); next try in" in reason


def test_a_dead_address_trips_it_too() -> None:
    lm = LMConfig(
        model="openai/gone",
        api_base="http://127.0.0.1:9/v1",
        retries=0,
        breaker={"failures": 1, "cooldown": 60},  # type: ignore[arg-type]
    )
    used = Backend.load(BackendConfig(name="gone", lms={"m": lm}))
    for expected in (Exception, BackendDownError):
        with pytest.raises(expected):
            ask(used)


def test_it_closes_again_when_the_backend_is_back() -> None:
    with loopback([BROKEN, BROKEN, json_reply(GOOD)]) as server:
        used = backend(server, breaker={"failures": 2, "cooldown": 0.2})
        for _ in range(2):
            with pytest.raises(LMServerError):
                ask(used)
        with pytest.raises(BackendDownError):
            ask(used)
        time.sleep(0.25)
        assert ask(used)[0] == ["The user lives in Oslo."]


def test_answers_of_any_kind_keep_it_closed() -> None:
    replies = [BROKEN, Reply("no", status=403), BROKEN, json_reply(GOOD)]
    with loopback(replies) as server:
        used = backend(server, breaker={"failures": 2, "cooldown": 60})
        for _ in range(3):
            with pytest.raises(Exception):  # noqa: B017, PT011
                ask(used)
        assert ask(used)[0] == ["The user lives in Oslo."]


def test_lms_of_one_address_share_it_and_others_do_not() -> None:
    def lm(base: str) -> dict[str, Any]:
        return {"model": "openai/x", "api_base": base}

    here, there = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"
    config = BackendConfig.model_validate(
        {
            "name": "three",
            "lms": {
                "a": lm(here),
                "b": lm(here),
                "c": lm(there),
                "d": {**lm(here), "breaker": None},
            },
            "roles": {"default": "a", "judge": "b", "adapter": "c", "proposer": "d"},
        }
    )
    used = Backend.load(config)
    roles = (LMRole.AUDITOR, LMRole.JUDGE, LMRole.ADAPTER, LMRole.PROPOSER)
    auditor, judge, adapter, proposer = (used.lm(role).traffic.breaker for role in roles)
    assert auditor is judge
    assert adapter is not auditor
    assert proposer is None


def test_a_run_waits_for_the_next_try_instead_of_failing(tmp_path: Path) -> None:
    with loopback([BROKEN, json_reply(GOOD)]) as server:
        used = backend(server, retries=2, breaker={"failures": 1, "cooldown": 0.3})
        bound = used.bound(tmp_path, CacheMode.OFF, "run", CapacityLimiter(8))
        assert ask(bound)[0] == ["The user lives in Oslo."]


def test_a_call_that_is_cancelled_frees_the_probe() -> None:
    with loopback([BROKEN, json_reply(GOOD, delay=0.5), json_reply(GOOD)]) as server:
        used = backend(server, breaker={"failures": 1, "cooldown": 0.05})
        lm = used.lm(LMRole.AUDITOR)

        async def main() -> list[Any]:
            with pytest.raises(LMServerError):
                await lm.acall("one")
            await asyncio.sleep(0.1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(lm.acall("two"), 0.1)
            return list(await lm.acall("three"))

        assert len(asyncio.run(main())) == 1


def test_optimizers_that_copy_an_lm_deeply_share_its_traffic() -> None:
    from copy import deepcopy

    one = traffic.Traffic()
    assert deepcopy({"traffic": one})["traffic"] is one


def test_an_lm_can_be_asked_synchronously_and_is_recorded(tmp_path: Path) -> None:
    with loopback([Reply("hello")]) as server:
        used = backend(server, folder=tmp_path, cache=CacheMode.READ_WRITE)
        lm = used.lm(LMRole.AUDITOR)
        assert lm("say hello") == lm("say hello") == ["hello"]
        assert len(server.requests) == 1
