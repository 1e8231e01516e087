"""What a call used and cost, however the server tells it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.config import Price
from stateauditor.program.backends.usage import (
    Used,
    cost_of,
    fewest_tokens,
    told_cost,
    used,
    was_cut,
)
from stateauditor.program.retrieval.tokens import count_tokens
from stateauditor.signatures.errors import PromptCutError
from stateauditor.signatures.models import CallRecord, Totals
from tests.program.backends.test_loopback import GOOD, ask, backend
from tests.support.loopback import Reply, chat_body, loopback
from tests.support.worked import DRAFT, MEMORY, QUESTION

PRICE = {"input_per_million": 1.0, "output_per_million": 2.0}
SENT, RECEIVED = "a prompt of some words " * 20, "a reply of some words " * 5


def reply(usage: Any, **settings: Any) -> Reply:
    told = chat_body(Reply(json.dumps(GOOD)), "tiny")
    told["usage"] = usage
    return Reply(body=json.dumps(told).encode(), **settings)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}]
)
def test_usage_that_is_missing_is_counted_marked_and_charged(usage: Any) -> None:
    with loopback([reply(usage)]) as server:
        _, (call,) = ask(backend(server, price=PRICE))
    assert call.estimated
    assert call.input_tokens > 300
    assert call.output_tokens > 10
    assert call.cost == pytest.approx((call.input_tokens + 2 * call.output_tokens) / 1e6)
    assert Totals.of([call]).estimated == 1


@given(st.text(max_size=300), st.text(max_size=300))
def test_what_is_not_told_is_the_texts_own_count(sent: str, received: str) -> None:
    found = used([{}], sent, received)
    assert (found.input_tokens, found.output_tokens) == (count_tokens(sent), count_tokens(received))
    assert found.estimated == bool(sent or received)


def test_only_the_count_that_is_missing_is_estimated() -> None:
    found = used([{"prompt_tokens": 77}], SENT, RECEIVED)
    assert (found.input_tokens, found.output_tokens) == (77, count_tokens(RECEIVED))
    assert found.estimated


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 5}, (9, 5, 0, 0)),
        ({"input_tokens": 9, "output_tokens": 5}, (9, 5, 0, 0)),
        ({"prompt_eval_count": 9, "eval_count": 5}, (9, 5, 0, 0)),
        (
            {"prompt_tokens": 9, "completion_tokens": 50,
             "completion_tokens_details": {"reasoning_tokens": 45}},
            (9, 50, 45, 0),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 514,
             "completion_tokens_details": {"reasoning_tokens": 500}},
            (9, 505, 500, 0),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 50, "total_tokens": 79,
             "completion_tokens_details": {"reasoning_tokens": 20}},
            (9, 70, 20, 0),
        ),
        (
            {"prompt_tokens": 90, "completion_tokens": 5,
             "prompt_tokens_details": {"cached_tokens": 64}},
            (90, 5, 0, 64),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "cache_read_input_tokens": 64},
            (73, 5, 0, 64),
        ),
    ],
)  # fmt: skip
def test_usage_is_read_by_the_names_and_habits_of_many_servers(
    usage: dict[str, Any], expected: tuple[int, ...]
) -> None:
    found = used([usage], SENT, RECEIVED)
    counts = (found.input_tokens, found.output_tokens, found.reasoning_tokens, found.cached_tokens)
    assert counts == expected
    assert not found.estimated


@pytest.mark.parametrize(
    ("usage", "headers", "expected"),
    [
        ({"cost": 0.25}, {}, 0.25),
        ({"cost": {"total_cost": 0.25}}, {}, 0.25),
        ({"estimated_cost": "0.25"}, {}, 0.25),
        ({}, {"x-litellm-response-cost": "0.25"}, 0.25),
        (
            {"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.24}},
            {},
            0.25,
        ),
        ({"cost": "None"}, {"x-litellm-response-cost": "None"}, None),
        ({"cost": -1}, {}, None),
        ({"cost": float("nan")}, {}, None),
        ({}, {}, None),
    ],
)  # fmt: skip
def test_a_gateways_own_cost_is_read(
    usage: dict[str, Any], headers: dict[str, str], expected: float | None
) -> None:
    assert told_cost(usage, headers) == expected


def test_the_best_word_about_the_cost_counts() -> None:
    price = Price(input_per_million=1, output_per_million=0)
    tokens = Used(1_000_000, 0)
    assert cost_of(tokens, told=5.0, price=price, listed=3.0) == 5.0
    assert cost_of(tokens, told=0.0, price=price, listed=3.0) == 1.0
    assert cost_of(tokens, told=0.0, price=None, listed=3.0) == 3.0
    assert cost_of(tokens, told=0.0, price=None, listed=None) == 0.0
    assert cost_of(tokens, told=None, price=None, listed=None) is None


@pytest.mark.parametrize(
    ("usage", "headers"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 5, "cost": 0.125}, {}),
        ({"prompt_tokens": 9, "completion_tokens": 5}, {"x-litellm-response-cost": "0.125"}),
    ],
)
def test_a_gateways_cost_stands_in_the_call(usage: Any, headers: dict[str, str]) -> None:
    with loopback([reply(usage, headers=headers)]) as server:
        _, (call,) = ask(backend(server, price=PRICE))
    assert call.cost == 0.125


# --- prompts that were cut ----------------------------------------------------------------

PROSE = "We moved to a small house by the canal and the children like it there. "


def told(tokens: int, cached: int = 0) -> Used:
    return Used(tokens, 5, told_input=tokens, cached_tokens=cached)


@pytest.mark.parametrize(
    ("words", "read", "cut"),
    [(560, 2_050, True), (560, 7_600, False), (360, 4_096, True), (700, 8_192, True)],
)
def test_a_prompt_of_which_too_little_was_read_was_cut(words: int, read: int, cut: bool) -> None:
    assert was_cut(told(read), PROSE * words) is cut


def test_what_came_from_the_servers_cache_was_read() -> None:
    assert not was_cut(told(600, cached=9_400), PROSE * 560)


def test_a_count_below_any_window_is_what_was_left_after_a_cache() -> None:
    assert not was_cut(told(26), PROSE * 560)


def test_nothing_is_known_where_nothing_was_told() -> None:
    assert not was_cut(used([{}], PROSE * 560, "x"), PROSE * 560)


@given(st.text(max_size=2_000))
def test_the_fewest_tokens_are_never_more_than_the_usual_count(text: str) -> None:
    assert fewest_tokens(text) <= count_tokens(text)


def test_a_cut_prompt_fails_open_with_the_key_to_set() -> None:
    memory = [{"timestamp": "2023-01-11", "text": PROSE * 200}, *MEMORY]

    def script(sent: dict[str, Any], number: int) -> Reply:
        size = sum(len(message["content"]) for message in sent["messages"])
        found = {"reasoning": "r", "premises": [], "transitions": []}
        return Reply(json.dumps(found), usage=(min(size // 4, 2_050), 9))

    with loopback(script) as server:
        result = StateAuditor(backend(server), variant="lean").audit(memory, QUESTION, DRAFT)
        assert len(server.requests) == 1
    assert (result.response, result.nothing_checked) == (DRAFT, True)
    assert "read 2,050 of about" in result.failed_open[0].reason
    assert "num_ctx" in result.failed_open[0].reason
    assert [call.error is None for call in result.calls] == [False]


def test_a_cut_prompt_is_not_replayed_as_an_answer(tmp_path: Any) -> None:
    from stateauditor.program.backends.store import CacheMode

    with loopback([Reply(json.dumps(GOOD), usage=(600, 9))]) as server:
        for mode in (CacheMode.READ_WRITE, CacheMode.READ_ONLY):
            with pytest.raises(PromptCutError, match="read 600 of"):
                ask(backend(server, folder=tmp_path, cache=mode), PROSE * 200)
        assert len(server.requests) == 1


def test_totals_add_up() -> None:
    calls = [
        CallRecord(role="a", model="m", input_tokens=3, cost=0.5, estimated=True),
        CallRecord(role="b", model="m", output_tokens=4, reasoning_tokens=2, cost=0.0, error="x"),
    ]
    one, other = (Totals.of([call]) for call in calls)
    assert one + other == Totals.of(calls)
    assert (Totals.of(calls).failed, Totals.of(calls).estimated) == (1, 1)
