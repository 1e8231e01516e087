"""``stateauditor backends``, and what ``--backend`` may name."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stateauditor.cli.backend_files import key_variables
from stateauditor.program.backends import local
from stateauditor.program.backends.named import named_config, shipped_backends
from tests.stateauditor.cli.conftest import Run
from tests.support.loopback import Reply, json_reply, loopback

NAMES = ["anthropic", "gemini", "local", "offline", "ollama", "openai", "vllm"]
SECRET = "sk-this-must-never-be-shown"


def test_the_shipped_backends() -> None:
    assert set(NAMES) <= set(shipped_backends())


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_file_is_right(name: str) -> None:
    config, source = named_config(name)
    assert config.name == name
    assert name == "offline" or source == str(shipped_backends()[name])


def test_a_variable_is_listed_once() -> None:
    config, _ = named_config("openai")
    assert [key.name for key in key_variables(config)] == ["OPENAI_API_KEY"]


def test_the_table_tells_whether_keys_are_set(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", SECRET)
    done = run("backends")
    assert done.status == 0
    assert "GEMINI_API_KEY (set)" in done.out
    assert "OPENAI_API_KEY (not set)" in done.out
    assert SECRET not in done.out


def test_json_lists_models_roles_and_keys(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    done = run("backends", "--json")
    listed = {backend["name"]: backend for backend in done.json()["backends"]}
    assert set(NAMES) <= set(listed)
    assert listed["openai"]["keys"] == {"OPENAI_API_KEY": True}
    assert listed["offline"]["roles"]["auditor"] == "rules"
    assert Path(listed["vllm"]["file"]).is_file()
    assert SECRET not in done.out


# --- backends test ----------------------------------------------------------------------

ANSWERS: dict[str, dict[str, Any]] = {
    "ResponseGeneration": {"response": "Zilker Park."},
    "PremiseExtraction": {"premises": []},
    "TransitionProposal": {"transitions": []},
    "ResponseAdaptation": {"response": "Walk in Zilker Park."},
    "StaleJudgment": {name: {"passed": True, "grounded": True} for name in ("sr", "pr", "ipa")},
}


def good(body: dict[str, Any], number: int) -> Reply:
    if "response_format" not in body:
        return Reply("plain talk")
    if body["response_format"]["type"] != "json_schema":
        return Reply("unsupported", status=400)
    return json_reply({"reasoning": "r", **ANSWERS[body["response_format"]["json_schema"]["name"]]})


def backend_file(folder: Path, base: str) -> Path:
    path = folder / "mine.yaml"
    lm = f"{{model: openai/tiny, api_base: '{base}', retries: 0}}"
    path.write_text(f"name: mine\nlms: {{m: {lm}}}\ncache: read_write\n", "utf-8")
    return path


def test_test_asks_every_role_once_and_gives_a_verdict(run: Run, tmp_path: Path) -> None:
    with loopback(good) as server:
        done = run("backends", "test", backend_file(tmp_path, server.base))
        assert len(server.requests) == 6
    assert done.status == 0, done.out
    assert "mine: every role answers." in done.out
    assert done.out.count("json_schema") == 6


def test_test_finds_a_server_that_cuts_long_prompts(run: Run, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        size = sum(len(message["content"]) for message in body["messages"]) // 4
        reply = good(body, number)
        reply.usage = (min(size, 2_050), 9)
        return reply

    with loopback(script) as server:
        done = run("backends", "test", backend_file(tmp_path, server.base), "--json")
    assert done.status == 1
    assert all(role["ok"] for role in done.json()["roles"])
    (long,) = done.json()["long_prompts"]
    assert "num_ctx" in long["reason"]


def test_test_says_which_role_failed_and_why(run: Run, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        name = body.get("response_format", {}).get("json_schema", {}).get("name")
        return Reply("who are you", status=401) if name == "StaleJudgment" else good(body, number)

    with loopback(script) as server:
        done = run("backends", "test", backend_file(tmp_path, server.base), "--json")
    assert done.status == 1
    found = done.json()
    assert found["ok"] is False
    judged = found["roles"][-1]
    assert (judged["role"], judged["ok"]) == ("judge", False)
    assert "HTTP 401" in judged["reason"]
    assert [role["ok"] for role in found["roles"]] == [True, True, True, True, False]
    assert found["roles"][0]["structured_output"] == "json_schema"


def test_test_shows_the_mode_that_was_found(run: Run, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        if "response_format" in body:
            return Reply("no response_format", status=400)
        return json_reply({"reasoning": "r", "premises": [], "transitions": []})

    with loopback(script) as server:
        done = run("backends", "test", backend_file(tmp_path, server.base))
    assert done.status == 1
    assert "3 of 5 roles got no usable answer." in done.out
    assert "none" in done.out


def test_test_of_the_offline_rules(run: Run) -> None:
    done = run("backends", "test", "offline")
    assert done.status == 0
    assert "offline (lexical rules): every role answers." in done.out


def test_test_of_a_backend_without_its_key_is_an_error(run: Run) -> None:
    done = run("backends", "test", "openai")
    assert done.status == 2
    assert "OPENAI_API_KEY" in done.err


# --- backends serve-local ---------------------------------------------------------------


def test_serve_local_serves_until_it_is_stopped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "tiny.gguf"
    model.write_bytes(b"GGUF")
    asked: dict[str, Any] = {}

    @contextmanager
    def serving(gguf: Path, **settings: Any) -> Iterator[str]:
        asked.update(settings, gguf=gguf)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        yield "http://127.0.0.1:9/v1"

    monkeypatch.setattr(local, "serving", serving)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        done = run("backends", "serve-local", "--gguf", model, "--port", "9", "--ctx", "512")
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    assert done.status == 0
    assert "serving tiny.gguf at http://127.0.0.1:9/v1\nready; Ctrl-C stops" in done.out
    assert "stopped" in done.err
    assert asked == {"gguf": model, "port": 9, "context": 512, "threads": None, "parallel": 2}


def test_serve_local_without_a_model_says_what_to_do(run: Run, tmp_path: Path) -> None:
    done = run("backends", "serve-local", "--gguf", tmp_path / "none.gguf")
    assert done.status == 2
    assert "there is no such file" in done.err
