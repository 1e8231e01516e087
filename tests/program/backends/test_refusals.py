"""What a server's refusal means, by status, code and the words of many servers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from dspy.utils.exceptions import LMServerError

from stateauditor.program.backends.asking import Accepted
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import (
    BackendConfig,
    LMConfig,
    LMRole,
    StructuredOutput,
)
from stateauditor.program.backends.structured import SECOND_THOUGHT, StructuredMode
from stateauditor.signatures.errors import ContextOverflowError, TimedOutError
from tests.program.backends.test_loopback import GOOD, ask, backend
from tests.support.loopback import Loopback, Reply, json_reply, loopback

SCHEMA, OBJECT, NONE = StructuredMode._LADDER


def body(told: Any, status: int) -> Reply:
    return Reply(body=json.dumps(told).encode(), status=status)


def kinds(server: Loopback) -> list[str | None]:
    return [sent.get("response_format", {}).get("type") for sent in server.requests]


def refusing(refused: tuple[str, ...], status: int) -> Any:
    def script(sent: dict[str, Any], number: int) -> Reply:
        asked = sent.get("response_format", {}).get("type")
        return Reply("no such thing here", status=status) if asked in refused else json_reply(GOOD)

    return script


# --- output modes -----------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 405, 415, 422, 500, 501, 502, 503])
def test_a_refusal_by_any_status_steps_down_once_and_is_remembered(status: int) -> None:
    with loopback(refusing(("json_schema",), status)) as server:
        used = backend(server)
        for question in "abc":
            assert ask(used, question)[0] == ["The user lives in Oslo."]
        assert kinds(server) == ["json_schema", *["json_object"] * 3]


@pytest.mark.parametrize("status", [400, 500])
def test_a_server_that_knows_no_response_format_is_asked_without(status: int) -> None:
    with loopback(refusing(("json_schema", "json_object"), status)) as server:
        used = backend(server, breaker={"failures": 1, "cooldown": 60})
        _, calls = ask(used)
        ask(used, "another?")
        assert kinds(server) == ["json_schema", "json_object", None, None]
    assert [call.error is None for call in calls] == [False, False, True]
    assert all(f"HTTP {status}" in (call.error or "") for call in calls[:2])
    assert {call.cost for call in calls[:2]} == {0.0}


def test_an_outage_is_no_refusal_and_the_breaker_counts_a_try_once() -> None:
    down = True

    def script(sent: dict[str, Any], number: int) -> Reply:
        return Reply("broken", status=500) if down else json_reply(GOOD)

    with loopback(script) as server:
        used = backend(server, breaker={"failures": 2, "cooldown": 60})
        with pytest.raises(LMServerError) as caught:
            ask(used)
        assert kinds(server) == ["json_schema", "json_object", None]
        (call,) = caught.value.calls
        assert (call.error, call.cost) == ("LMServerError: HTTP 500", 0.0)
        down = False
        assert ask(used)[0] == ["The user lives in Oslo."]  # the breaker has counted one of two
        assert kinds(server)[-1] == "json_schema"


def test_a_format_that_was_answered_before_is_not_refused_by_a_later_fault() -> None:
    with loopback([json_reply(GOOD), Reply("broken", status=500), json_reply(GOOD)]) as server:
        used = backend(server)
        ask(used)
        with pytest.raises(LMServerError):
            ask(used, "second?")
        ask(used, "third?")
        assert kinds(server) == ["json_schema"] * 3


def test_a_server_that_is_down_is_asked_in_every_form_once_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("stateauditor.program.backends.traffic.FIRST_WAIT", 0.01)
    with loopback([Reply("broken", status=500)]) as server:
        with pytest.raises(LMServerError):
            ask(backend(server, retries=2))
        assert kinds(server) == ["json_schema", "json_object", None, "json_schema", "json_schema"]


def test_what_is_refused_is_remembered_for_all_lms_of_the_address_and_model() -> None:
    with loopback(refusing(("json_schema",), 500)) as server:
        lm = LMConfig(model="openai/tiny", api_base=server.base, retries=0)
        config = BackendConfig(
            name="two",
            lms={"a": lm, "b": lm.model_copy(update={"temperature": 0.5})},
            roles={"auditor": "a", "proposer": "b"},  # type: ignore[arg-type]
        )
        used = Backend.load(config)
        ask(used)
        assert used.lm(LMRole.PROPOSER).structured.candidates == (OBJECT, NONE)


def test_a_refusal_by_a_server_error_gets_a_second_thought_and_no_third() -> None:
    mode = StructuredMode(StructuredOutput.AUTO)
    mode.accept(OBJECT, doubtful=True)
    assert mode.candidates == (OBJECT, NONE)
    for _ in range(SECOND_THOUGHT):
        mode.accept(OBJECT)
    assert (mode.candidates[0], mode.proven) == (SCHEMA, False)
    mode.accept(OBJECT, doubtful=True)
    for _ in range(3 * SECOND_THOUGHT):
        mode.accept(OBJECT)
    assert mode.candidates[0] is OBJECT


def test_an_answer_in_a_stricter_mode_that_was_on_its_way_restores_it() -> None:
    mode = StructuredMode(StructuredOutput.AUTO)
    mode.accept(OBJECT, doubtful=True)
    mode.accept(SCHEMA)
    assert mode.candidates[0] is SCHEMA


# --- settings ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("temperature", {"error": {"message": "bad", "param": "temperature"}}),
        ("temperature", {"error": {"message": "Unsupported parameter: 'temperature'"}}),
        ("temperature", {"message": "temperature is not supported by this model"}),
        ("top_p", {"detail": [{"loc": ["body", "top_p"], "msg": "Extra inputs"}]}),
        ("reasoning_effort", {"error": "unknown field reasoning_effort"}),
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_setting_that_a_refusal_names_is_left_out_from_then_on(
    name: str, told: Any, status: int
) -> None:
    def script(sent: dict[str, Any], number: int) -> Reply:
        return body(told, status) if name in sent else json_reply(GOOD)

    extra = {"top_p": 0.5, "reasoning_effort": "low"}
    with loopback(script) as server:
        used = backend(server, extra=extra)
        for question in "ab":
            assert ask(used, question)[0] == ["The user lives in Oslo."]
        assert [name in sent for sent in server.requests] == [True, False, False]
        assert {*kinds(server)} == {"json_schema"}


def test_a_limit_goes_by_the_name_that_the_server_asks_for() -> None:
    def script(sent: dict[str, Any], number: int) -> Reply:
        if "max_tokens" in sent:
            return Reply("'max_tokens' is unsupported: use 'max_completion_tokens'", status=400)
        return json_reply(GOOD)

    with loopback(script) as server:
        ask(backend(server, max_tokens=300))
        assert server.requests[-1]["max_completion_tokens"] == 300


# --- prompts that are too long ------------------------------------------------------------

TOO_LONG: list[tuple[int, Any]] = [
    (400, {"error": {"message": "The input token count (33000) exceeds the maximum number of "
                                "tokens allowed (32768).", "status": "INVALID_ARGUMENT"}}),
    (500, [{"error": {"message": "The input token count exceeds the maximum number of tokens "
                                 "allowed 32768", "code": 500}}]),
    (400, {"object": "error", "message": "This model's maximum context length is 4096 tokens."}),
    (400, {"error": {"message": "The decoder prompt (length 5000) is longer than the maximum "
                                "model length of 4096."}}),
    (500, {"error": {"message": "the request exceeds the available context size", "code": 500}}),
    (400, {"error": {"message": "no", "type": "exceed_context_size_error"}}),
    (400, {"error": "input length exceeds maximum context length"}),
    (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
                    "Given: 5000", "error_type": "validation"}),
    (422, {"error": "Input validation error: `inputs` must have less than 1024 tokens."}),
    (413, {"error": {"message": "Request too large for model", "code": "rate_limit_exceeded"}}),
    (413, {}),
    (400, {"detail": "Prompt is too long: 9000 tokens, maximum 4096"}),
    (400, {"code": "context_length_exceeded"}),
    (503, {"message": "The prompt length 9000 exceeds the max length of 4096 tokens"}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "told"), TOO_LONG)
def test_a_prompt_that_is_too_long_is_told_from_other_errors(status: int, told: Any) -> None:
    with loopback([body(told, status)]) as server:
        with pytest.raises(ContextOverflowError) as caught:
            ask(backend(server, retries=3))
        assert len(server.requests) == 1
    (call,) = caught.value.calls  # type: ignore[attr-defined]
    assert (call.cost, call.estimated) == (0.0, False)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (500, {"error": {"message": "CUDA error: out of memory"}}),
        (503, {"error": {"message": "Loading model"}}),
        (429, {"error": {"message": "tokens per minute limit exceeded, reduce your prompt"}}),
        (401, {"error": {"message": "the key is too long"}}),
        (404, {"error": {"message": "model not found"}}),
    ],
)
def test_other_errors_are_not_taken_for_it(status: int, told: Any) -> None:
    with loopback([body(told, status)]) as server, pytest.raises(Exception) as caught:  # noqa: PT011
        ask(backend(server))
    assert not isinstance(caught.value, ContextOverflowError)


# --- reasons ------------------------------------------------------------------------------


def test_a_timeout_names_our_key_and_counts_as_a_call() -> None:
    price = {"input_per_million": 1.0, "output_per_million": 1.0}
    with (
        loopback([json_reply(GOOD, delay=3)]) as server,
        pytest.raises(TimedOutError, match=r"within 0\.3 s; raise timeout") as caught,
    ):
        ask(backend(server, timeout=0.3, price=price))
    (call,) = caught.value.calls  # type: ignore[attr-defined]
    assert "lm15" not in (call.error or "")
    assert call.estimated
    assert call.cost > 0


def test_settings_are_learnt_for_one_address_only() -> None:
    assert Accepted(StructuredOutput.AUTO).instead is not Accepted(StructuredOutput.AUTO).instead
