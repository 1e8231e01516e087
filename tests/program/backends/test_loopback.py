"""The LM layer against a real HTTP server on loopback that speaks the OpenAI chat API."""

import asyncio
import json
import time
import warnings
from pathlib import Path
from typing import Any

import dspy
import pytest

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig, LMConfig
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.backends.recording import recording
from stateauditor.program.backends.store import CacheMode
from stateauditor.program.roles.audit_run import describe
from stateauditor.signatures.errors import (
    EmptyOutputError,
    MissingKeyError,
    ModelOutputError,
    ReplayMissError,
    TruncatedOutputError,
)
from stateauditor.signatures.models import CallRecord
from stateauditor.signatures.premises import PremiseExtraction
from stateauditor.signatures.step import LMRole
from tests.support.loopback import Loopback, Reply, json_reply, loopback

GOOD = {"reasoning": "r", "premises": [{"text": "The user lives in Oslo.", "stated": True}]}


def backend(
    server: Loopback,
    *,
    name: str = "loop",
    folder: Path | None = None,
    cache: CacheMode = CacheMode.OFF,
    **settings: Any,
) -> Backend:
    lm: dict[str, Any] = {
        "model": "openai/tiny",
        "api_base": server.base,
        "temperature": 0,
        "retries": 0,
        **settings,
    }
    return Backend.load(
        BackendConfig(
            name=name,
            lms={"m": LMConfig(**lm)},
            cache=cache,
            cache_folder=folder,
        )
    )


def ask(used: Backend, question: str = "q?") -> tuple[list[str], list[CallRecord]]:
    """One typed call: the premises' texts and what it was recorded as."""
    predict = dspy.Predict(PremiseExtraction)

    async def work() -> tuple[list[str], list[CallRecord]]:
        with recording("premise_extraction") as scope, used.use(LMRole.AUDITOR):
            try:
                answer = await predict.acall(question=question, draft="d")
            except Exception as error:
                error.calls = scope.calls  # type: ignore[attr-defined]
                raise
        return [p.text for p in answer.premises], scope.calls

    return run_sync(work)


def test_a_good_reply_is_typed_and_accounted_for() -> None:
    with loopback([json_reply(GOOD, usage=(120, 30))]) as server:
        texts, (call,) = ask(
            backend(server, price={"input_per_million": 1.0, "output_per_million": 2.0})
        )
    assert texts == ["The user lives in Oslo."]
    assert (call.role, call.model) == ("premise_extraction", "openai/tiny")
    assert (call.input_tokens, call.output_tokens, call.cached) == (120, 30, False)
    assert call.cost == pytest.approx((120 + 2 * 30) / 1e6)
    assert call.seconds > 0
    assert call.error is None


def test_the_request_asks_for_the_signatures_schema_and_carries_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOP_KEY", "sk-loopback-secret")
    with loopback([json_reply(GOOD)]) as server:
        ask(backend(server, api_key_env="LOOP_KEY"))
        (body,), (headers,) = server.requests, server.headers
    schema = body["response_format"]["json_schema"]["schema"]
    assert body["response_format"]["type"] == "json_schema"
    assert not body.get("stream")
    assert schema["required"] == ["reasoning", "premises"]
    assert schema["$defs"]["ExtractedPremise"]["additionalProperties"] is False
    assert headers["authorization"] == "Bearer sk-loopback-secret"
    assert "sk-loopback-secret" not in json.dumps(body)


def test_prompts_hold_no_ascii_escapes() -> None:
    with loopback([json_reply(GOOD)]) as server:
        ask(backend(server), question="Où est le café 東京?")
        assert "Où est le café 東京?" in server.requests[0]["messages"][-1]["content"]


def test_a_rate_limit_is_waited_out_as_the_server_asks() -> None:
    limited = Reply("slow down", status=429, headers={"retry-after": "0"})
    with loopback([limited, limited, json_reply(GOOD)]) as server:
        texts, calls = ask(backend(server, retries=3))
        assert len(server.requests) == 3
    assert texts == ["The user lives in Oslo."]
    assert len(calls) == 1


def test_a_server_error_that_persists_is_an_error_with_its_status() -> None:
    with loopback([Reply("broken", status=500)]) as server, pytest.raises(Exception) as caught:  # noqa: PT011
        ask(backend(server))
    assert "HTTP 500" in describe(caught.value)


def test_a_slow_server_times_out() -> None:
    with loopback([json_reply(GOOD, delay=5)]) as server:
        started = time.monotonic()
        with pytest.raises(Exception) as caught:  # noqa: PT011
            ask(backend(server, timeout=0.3))
        assert time.monotonic() - started < 4
    assert "timed out" in describe(caught.value)


@pytest.mark.parametrize(
    ("first", "error"),
    [
        (Reply("no json here"), None),
        (Reply(""), None),
        (json_reply({"type": "object", "properties": {}}), None),
    ],
    ids=["prose", "empty", "schema echoed"],
)
def test_an_unreadable_reply_is_asked_for_once_more_as_a_new_rollout(
    first: Reply, error: None
) -> None:
    with loopback([first, json_reply(GOOD)]) as server:
        texts, calls = ask(backend(server))
        assert [body["temperature"] for body in server.requests] == [0.0, 0.7]
    assert texts == ["The user lives in Oslo."]
    assert [call.error is None for call in calls] == [False, True]


@pytest.mark.parametrize(
    ("reply", "kind"), [(Reply("no json"), ModelOutputError), (Reply(""), EmptyOutputError)]
)
def test_a_reply_that_stays_unreadable_is_an_error_after_two_calls(
    reply: Reply, kind: type[Exception]
) -> None:
    with loopback([reply]) as server:
        with pytest.raises(kind) as caught:
            ask(backend(server))
        assert len(server.requests) == 2
    assert len(caught.value.calls) == 2  # type: ignore[attr-defined]


def test_a_cut_reply_keeps_its_whole_items_and_says_so() -> None:
    cut = Reply(json.dumps(GOOD)[:-2] + ', {"text": "Half a', finish_reason="length")
    with loopback([cut]) as server:
        texts, (call,) = ask(backend(server))
    assert texts == ["The user lives in Oslo."]
    assert call.dropped == 1
    assert "token limit" in (call.error or "")


def test_a_reply_cut_before_its_answer_is_not_asked_for_again() -> None:
    with loopback([Reply('{"reasoning": "so long', finish_reason="length")]) as server:
        with pytest.raises(TruncatedOutputError):
            ask(backend(server))
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html>502 Bad Gateway</html>", content_type="text/html"),
        Reply(body=b'{"choices": [', content_type="application/json"),
        Reply(body=b""),
    ],
    ids=["html page", "torn json", "no body"],
)
def test_a_malformed_http_body_is_an_error_and_nothing_else(reply: Reply) -> None:
    with loopback([reply]) as server, pytest.raises(Exception) as caught:  # noqa: PT011
        ask(backend(server))
    assert "Bad Gateway" not in describe(caught.value)


def test_a_refused_response_format_falls_back_once_and_is_remembered() -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        kind = body.get("response_format", {}).get("type")
        if kind == "json_schema":
            return Reply("response_format json_schema is not supported", status=400)
        return json_reply(GOOD)

    with loopback(script) as server:
        used = backend(server)
        assert ask(used)[0] == ask(used, "another?")[0] == ["The user lives in Oslo."]
        kinds = [body.get("response_format", {}).get("type") for body in server.requests]
    assert kinds == ["json_schema", "json_object", "json_object"]


def test_plain_chat_is_the_last_resort() -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        if "response_format" in body:
            return Reply("unknown field response_format", status=400)
        return json_reply(GOOD)

    with loopback(script) as server:
        assert ask(backend(server))[0] == ["The user lives in Oslo."]
        assert len(server.requests) == 3


def test_a_request_that_is_wrong_in_itself_stays_an_error() -> None:
    with loopback([Reply("no such model", status=400)]) as server:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            ask(backend(server, structured_output="none"))
        assert len(server.requests) == 1
    assert "HTTP 400" in describe(caught.value)


def test_two_backends_with_one_model_name_never_share_a_record(tmp_path: Path) -> None:
    one = {"premises": [{"text": "From one."}]}
    two = {"premises": [{"text": "From two."}]}
    with loopback([json_reply(one)]) as first, loopback([json_reply(two)]) as second:
        settings: dict[str, Any] = {"folder": tmp_path, "cache": CacheMode.READ_WRITE}
        for _ in range(2):
            assert ask(backend(first, **settings))[0] == ["From one."]
            assert ask(backend(second, **settings))[0] == ["From two."]
        assert (len(first.requests), len(second.requests)) == (1, 1)


def test_a_recorded_call_replays_with_its_tokens_and_no_request(tmp_path: Path) -> None:
    with loopback([json_reply(GOOD, usage=(7, 3))]) as server:
        live = ask(backend(server, folder=tmp_path, cache=CacheMode.READ_WRITE))
        replayed = ask(backend(server, folder=tmp_path, cache=CacheMode.READ_ONLY))
        assert len(server.requests) == 1
        assert replayed[0] == live[0]
        assert replayed[1] == [live[1][0].model_copy(update={"cached": True})]
        assert replayed[1][0].input_tokens == 7
        with pytest.raises(ReplayMissError, match="premise_extraction"):
            ask(backend(server, folder=tmp_path, cache=CacheMode.READ_ONLY), "never asked?")


def test_records_hold_neither_key_nor_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOP_KEY", "sk-loopback-secret")
    with loopback([json_reply(GOOD)]) as server:
        used = backend(server, folder=tmp_path, cache=CacheMode.READ_WRITE, api_key_env="LOOP_KEY")
        ask(used, "a private question")
    (record,) = tmp_path.rglob("*.json")
    text = record.read_text("utf-8")
    assert "sk-loopback-secret" not in text
    assert "a private question" not in text


def test_a_bad_recorded_reply_is_asked_for_again_later(tmp_path: Path) -> None:
    replies = [Reply("nonsense"), Reply("nonsense"), json_reply(GOOD)]
    with loopback(replies) as server:
        settings: dict[str, Any] = {"folder": tmp_path, "cache": CacheMode.READ_WRITE}
        with pytest.raises(ModelOutputError):
            ask(backend(server, **settings))
        assert ask(backend(server, **settings))[0] == ["The user lives in Oslo."]


def test_concurrent_calls_keep_their_own_accounts() -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        asked = body["messages"][-1]["content"]
        name = asked.split("person ")[1].split("?")[0]
        return json_reply(
            {"premises": [{"text": f"About {name}."}]},
            usage=(int(name), 1),
            delay=0.05 if int(name) % 2 else 0.0,
        )

    predict = dspy.Predict(PremiseExtraction)

    async def one(used: Backend, number: int) -> tuple[str, int]:
        with recording(f"role {number}") as scope, used.use(LMRole.AUDITOR):
            answer = await predict.acall(question=f"Who is person {number}?", draft="d")
        return answer.premises[0].text, scope.calls[0].input_tokens

    async def many(used: Backend) -> list[tuple[str, int]]:
        return await asyncio.gather(*(one(used, n) for n in range(1, 21)))

    with loopback(script) as server:
        assert run_sync(many, backend(server)) == [(f"About {n}.", n) for n in range(1, 21)]


def test_nothing_deprecated_is_used_and_nothing_is_kept_in_global_history() -> None:
    from dspy.clients.base_lm import GLOBAL_HISTORY

    before = len(GLOBAL_HISTORY)
    with loopback([json_reply(GOOD)]) as server, warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        ask(backend(server))
    assert len(GLOBAL_HISTORY) == before


def test_a_dspy_lm_of_the_callers_own_can_answer_every_role() -> None:
    with loopback([json_reply(GOOD)]) as server:
        own = dspy.LM("openai/own", api_base=server.base, api_key="k", num_retries=0)
        texts, (call,) = ask(Backend.load(own))
    assert texts == ["The user lives in Oslo."]
    assert call.model == "openai/own"


def test_the_adapter_also_answers_synchronous_modules() -> None:
    with loopback([json_reply(GOOD)]) as server, backend(server).use(LMRole.AUDITOR):
        answer = dspy.Predict(PremiseExtraction)(question="q?", draft="d")
    assert answer.premises[0].text == "The user lives in Oslo."


def test_the_adapter_refuses_an_lm_that_it_cannot_account_for() -> None:
    adapter = backend_adapter()
    with pytest.raises(TypeError, match="BackendLM"):
        run_sync(adapter.acall, dspy.LM("openai/x", api_key="k"), {}, PremiseExtraction, [], {})


def backend_adapter() -> Any:
    from stateauditor.program.backends.typed_adapter import TypedAdapter

    return TypedAdapter()


def test_a_replay_passes_over_the_modes_that_were_refused_when_it_was_recorded(
    tmp_path: Path,
) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        if body.get("response_format", {}).get("type") == "json_schema":
            return Reply("json_schema is not supported", status=400)
        return json_reply(GOOD)

    with loopback(script) as server:
        live = ask(backend(server, folder=tmp_path, cache=CacheMode.READ_WRITE))
        replayed = ask(backend(server, folder=tmp_path, cache=CacheMode.READ_ONLY))
        assert len(server.requests) == 2
    assert replayed[0] == live[0]


def test_a_replay_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOP_KEY", raising=False)
    lm = LMConfig(model="openai/tiny", api_base="http://127.0.0.1:9/v1", api_key_env="LOOP_KEY")
    config = BackendConfig(name="loop", lms={"m": lm}, cache=CacheMode.READ_ONLY,
                           cache_folder=tmp_path)  # fmt: skip
    with pytest.raises(MissingKeyError):
        Backend.load(config)
    with pytest.raises(ReplayMissError):
        ask(Backend.load(config, need_keys=False))
