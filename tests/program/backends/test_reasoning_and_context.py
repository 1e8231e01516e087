"""Reasoning models, and prompts that are longer than the model can read."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig, LMConfig, parse_backend_config
from stateauditor.program.backends.shrinking import shrunk
from stateauditor.signatures.errors import ConfigError, ContextOverflowError
from stateauditor.signatures.models import Readout, RenderedEntry
from tests.program.backends.test_loopback import GOOD, ask, backend
from tests.support.loopback import Reply, json_reply, loopback
from tests.support.worked import DRAFT, MEMORY, QUESTION, REPLY, TRANSITION

# --- reasoning models -------------------------------------------------------------------


@pytest.mark.parametrize("model", ["openai/gpt-5.5", "openai/o3-mini", "openai/my-thinker"])
def test_a_reasoning_model_gets_an_effort_and_no_temperature(model: str) -> None:
    with loopback([json_reply(GOOD)]) as server:
        ask(
            backend(
                server,
                model=model,
                temperature=None,
                max_tokens=16_000,
                reasoning={"effort": "high"},
            )
        )
        (body,) = server.requests
    assert body["reasoning_effort"] == "high"
    assert "temperature" not in body
    limits = {name: body[name] for name in body if name.startswith("max_")}
    assert list(limits.values()) == [16_000]


@pytest.mark.parametrize("settings", [{"temperature": 0.5}, {"max_tokens": 500}])
def test_settings_that_a_reasoning_model_refuses_are_a_clear_error(
    settings: dict[str, Any],
) -> None:
    lm = LMConfig(model="openai/gpt-5.5", api_base="http://127.0.0.1:9/v1", **settings)
    with pytest.raises(ConfigError, match=r"lms\.m: openai/gpt-5\.5 is a reasoning model") as error:
        Backend.load(BackendConfig(name="r", lms={"m": lm}))
    assert "16000" in str(error.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"temperature": 0}, "reasoning models take no temperature"),
        ({"extra": {"reasoning_effort": "low"}}, "in reasoning and in extra"),
    ],
)
def test_what_contradicts_the_effort_is_an_error_with_its_path(
    settings: dict[str, Any], said: str
) -> None:
    lm = {"model": "openai/x", "reasoning": {"effort": "low"}, **settings}
    with pytest.raises(ConfigError, match=said) as error:
        parse_backend_config({"name": "n", "lms": {"m": lm}}, source="n.yaml")
    assert "lms.m" in str(error.value)


def test_a_breaker_can_be_switched_off_as_yaml_reads_it() -> None:
    config = parse_backend_config(
        {"name": "n", "lms": {"m": {"model": "openai/x", "breaker": False}}}, source="n.yaml"
    )
    assert config.lms["m"].breaker is None


def test_addresses_are_told_without_credentials() -> None:
    lm = LMConfig(model="openai/x", api_base="http://user:secret@gateway:8000/v1")
    assert lm.address == "gateway:8000"
    assert LMConfig(model="openai/x").address == "openai"


# --- context overflow -------------------------------------------------------------------

REFUSALS = [
    {"message": "request (9000 tokens) exceeds the available context size (4096 tokens)"},
    {"message": "This model's maximum context length is 4096 tokens, however you requested 9000"},
    {"message": "too long", "code": "context_length_exceeded"},
]


def refusal(error: dict[str, Any]) -> Reply:
    return Reply(body=json.dumps({"error": error}).encode(), status=400)


@pytest.mark.parametrize("error", REFUSALS, ids=["llama.cpp", "vllm", "openai"])
def test_a_prompt_without_a_readout_that_is_too_long_is_a_typed_error(
    error: dict[str, Any],
) -> None:
    with loopback([refusal(error)]) as server:
        with pytest.raises(ContextOverflowError, match="context window of openai/tiny"):
            ask(backend(server))
        assert len(server.requests) == 1


def fits(limit: int) -> Any:
    """A server whose model reads prompts of so many readout lines."""

    def script(body: dict[str, Any], number: int) -> Reply:
        prompt = body["messages"][-1]["content"]
        if prompt.count(' "') - prompt.count('": "') > 0 and prompt.count("\nE") > limit:
            return refusal(REFUSALS[0])
        name = body["response_format"]["json_schema"]["name"]
        if name == "LeanAudit":
            return json_reply({"reasoning": "r", "premises": [], "transitions": [TRANSITION]})
        return json_reply({"reasoning": "r", "response": REPLY})

    return script


def long_memory(count: int) -> list[dict[str, Any]]:
    fillers = [
        {"timestamp": f"2023-{month:02}-11", "text": f"I watched film number {month} outdoors."}
        for month in range(1, count + 1)
    ]
    return [*fillers, *MEMORY]


def test_a_readout_that_is_too_long_is_cut_once_and_the_result_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with loopback(fits(10)) as server, caplog.at_level(logging.WARNING):
        auditor = StateAuditor(backend(server), variant="lean")
        result = auditor.audit(long_memory(12), QUESTION, DRAFT)
        again = auditor.audit(long_memory(12), QUESTION, DRAFT)
    assert result.response == REPLY
    assert not result.failed_open
    refused, answered, _ = result.calls
    assert "readout cut from" in (refused.error or "")
    assert (refused.role, refused.input_tokens, refused.cost) == ("lean_audit", 0, 0.0)
    assert answered.error is None
    assert [call.error for call in again.calls] == [call.error for call in result.calls]
    assert "lean_audit: the prompt does not fit" in caplog.text
    assert "film" not in caplog.text


def test_a_readout_that_is_too_long_even_then_fails_open() -> None:
    with loopback([refusal(REFUSALS[0])]) as server:
        result = StateAuditor(backend(server), variant="lean").audit(MEMORY, QUESTION, DRAFT)
        assert len(server.requests) == 2
    assert result.response == DRAFT
    assert "context window" in result.failed_open[0].reason


def readout(sizes: list[int], pairs: list[tuple[int, int]]) -> Readout:
    entries = tuple(
        RenderedEntry(id=f"E{n}", entry_id=f"m{n}", timestamp=None, text="x" * size)
        for n, size in enumerate(sizes)
    )
    return Readout(
        entries=entries, pairs=tuple((f"E{a}", f"E{b}") for a, b in pairs), tokens=sum(sizes)
    )


def left(cut: Readout | None) -> list[str]:
    assert cut is not None
    return [entry.id for entry in cut.entries]


def test_the_oldest_lines_that_belong_to_no_pair_go_first() -> None:
    assert left(shrunk(readout([10] * 6, [(0, 5)]))) == ["E0", "E4", "E5"]


def test_then_whole_pairs_go_oldest_first() -> None:
    cut = shrunk(readout([10] * 6, [(2, 3), (0, 1), (4, 5)]))
    assert left(cut) == ["E4", "E5"]
    assert cut is not None
    assert cut.pairs == (("E4", "E5"),)


def test_a_line_of_two_pairs_stays_with_the_later_one() -> None:
    cut = shrunk(readout([10, 10, 10, 10], [(0, 1), (1, 2), (2, 3)]))
    assert left(cut) == ["E2", "E3"]


def test_one_line_or_one_pair_cannot_be_cut() -> None:
    assert shrunk(readout([10], [])) is None
    assert shrunk(readout([10, 10], [(0, 1)])) is None
    assert shrunk(Readout()) is None
