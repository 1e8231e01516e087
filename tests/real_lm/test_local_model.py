"""A real model behind the real server: SmolLM2-135M-Instruct on llama.cpp.

A model this small writes nonsense. What is tested is that everything around it
holds: typed output, fail-open, accounts, records, timeouts, concurrency. ``make
real-lm`` installs what it needs; elsewhere it is skipped.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import dspy
import pytest

from stateauditor.experiments.runs.runner import run
from stateauditor.experiments.runs.spec import load_spec
from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import load_backend_config
from stateauditor.program.backends.local import find_gguf
from stateauditor.program.backends.portal import run_sync
from stateauditor.program.backends.recording import recording
from stateauditor.program.backends.store import CacheMode
from stateauditor.signatures.errors import ConfigError, ContextOverflowError
from stateauditor.signatures.models import AuditResult, CallRecord
from stateauditor.signatures.premises import PremiseExtraction
from stateauditor.signatures.step import LMRole
from tests.support.worked import DRAFT, MEMORY, QUESTION

ROOT = Path(__file__).parents[2]
PLACE = Path(os.environ.get("STATEAUDITOR_GGUF", ROOT / ".cache" / "gguf"))
CONTEXT = 4096
STARTS_WITHIN = 60  # seconds


@pytest.fixture(scope="module")
def model() -> Path:
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed (make real-lm installs it)")
    try:
        return find_gguf(PLACE if PLACE.exists() else None, unpacked=ROOT / ".cache" / "gguf")
    except ConfigError as error:
        pytest.skip(f"no GGUF model: {error} (make real-lm fetches one)")


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    """A server started as a user starts it; Ctrl-C must stop it."""
    code = "import sys; from stateauditor.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "backends", "serve-local", "--gguf", str(model)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--ctx", str(CONTEXT)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first, second = process.stdout.readline(), process.stdout.readline()
    assert second.startswith("ready"), first + second
    yield first.split()[-1]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=STARTS_WITHIN)
    assert process.returncode == 0
    assert errors.endswith("stopped\n")


def backend(address: str, folder: Path | None = None, **settings: Any) -> Backend:
    """The shipped backend ``local`` at the server's port."""
    shipped = ROOT / "program" / "backends" / "shipped" / "local.yaml"
    config = load_backend_config(shipped)
    lm = config.lms["gguf"].model_copy(update={"api_base": address, "max_tokens": 64, **settings})
    cache = CacheMode.OFF if folder is None else CacheMode.READ_WRITE
    changed = {"lms": {"gguf": lm}, "cache": cache, "cache_folder": folder}
    return Backend.load(config.model_copy(update=changed))


class Vote(dspy.Signature):
    """Answer the question with yes or no."""

    question: str = dspy.InputField()
    vote: Literal["yes", "no"] = dspy.OutputField()
    certain: bool = dspy.OutputField()


async def vote(used: Backend, question: str) -> tuple[Any, list[CallRecord]]:
    with recording("vote") as scope, used.use(LMRole.AUDITOR):
        answer = await dspy.Predict(Vote).acall(question=question)
    return answer, scope.calls


def test_typed_output_through_the_json_schema(address: str) -> None:
    answer, (call,) = run_sync(vote, backend(address), "Is rain wet?")
    assert answer.vote in {"yes", "no"}
    assert isinstance(answer.certain, bool)
    assert call.input_tokens > 50
    assert 0 < call.output_tokens <= 64
    assert (call.cost, call.cached) == (0.0, False)
    assert call.seconds > 0


def test_concurrent_calls_are_typed_and_keep_their_own_accounts(address: str) -> None:
    questions = [f"Is {'very ' * number}cold ice warm?" for number in range(6)]
    used = backend(address)

    async def every() -> list[tuple[Any, list[CallRecord]]]:
        return list(await asyncio.gather(*(vote(used, question) for question in questions)))

    found = run_sync(every)
    assert all(answer.vote in {"yes", "no"} for answer, _ in found)
    tokens = [call.input_tokens for _, (call,) in found]
    assert [later - first for first, later in pairwise(tokens)] == [1] * 5


def test_a_recorded_call_is_free_and_the_same(address: str, tmp_path: Path) -> None:
    live, (paid,) = run_sync(vote, backend(address, tmp_path), "Is snow black?")
    again, (free,) = run_sync(vote, backend(address, tmp_path), "Is snow black?")
    assert again.vote == live.vote
    assert (paid.cached, free.cached) == (False, True)
    assert free.output_tokens == paid.output_tokens


@pytest.mark.parametrize("variant", ["lean", "strict_vta"])
def test_an_audit_ends_with_a_reply_and_every_failure_on_record(
    address: str, tmp_path: Path, variant: str
) -> None:
    auditor = StateAuditor(backend(address, tmp_path), variant=variant)
    result = auditor.audit(MEMORY, QUESTION, DRAFT)
    assert result.backend == "local"
    holds(result)
    assert result.usage.paid.calls == len(result.calls) >= (1 if variant == "lean" else 4)
    assert all(call.input_tokens > 0 for call in result.calls)
    replay = StateAuditor(backend("http://127.0.0.1:9/v1", tmp_path), variant=variant)
    assert replay.audit(MEMORY, QUESTION, DRAFT).usage.cached.calls == 0  # another address
    auditor.backend.lm(LMRole.AUDITOR).store.mode = CacheMode.READ_ONLY
    again = auditor.audit(MEMORY, QUESTION, DRAFT)
    assert again.response == result.response
    assert again.failed_open == result.failed_open
    assert (again.usage.paid.calls, again.usage.cached.calls) == (0, len(result.calls))


def holds(result: AuditResult) -> None:
    """The draft byte for byte, or a repair with its directive; no failure without a reason."""
    assert result.response == DRAFT or (result.changed and result.directives)
    assert all(failure.reason for failure in result.failed_open)
    failed = {failure.role for failure in result.failed_open}
    unread = {call.role for call in result.calls if call.error and not call.dropped}
    assert failed <= {call.role for call in result.calls}
    assert unread or not failed


def test_a_timeout_fails_open(address: str) -> None:
    used = backend(address, timeout=0.05, retries=0)
    started = time.monotonic()
    result = StateAuditor(used, variant="lean").audit(MEMORY, QUESTION, DRAFT)
    assert time.monotonic() - started < 30
    assert result.response == DRAFT
    assert [failure.role for failure in result.failed_open] == ["lean_audit"]


def test_a_prompt_longer_than_the_context_is_a_typed_error(address: str) -> None:
    async def ask() -> None:
        with backend(address).use(LMRole.AUDITOR):
            await dspy.Predict(PremiseExtraction).acall(question="q?", draft="long " * 2 * CONTEXT)

    with pytest.raises(ContextOverflowError):
        run_sync(ask)


def test_an_evaluation_runs_on_it_by_changing_one_word(address: str, tmp_path: Path) -> None:
    text = (ROOT / "program" / "backends" / "shipped" / "local.yaml").read_text("utf-8")
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        text.replace("http://127.0.0.1:8080/v1", address)
        .replace("name: local", "name: mine")
        .replace("max_tokens: 700", "max_tokens: 48"),
        "utf-8",
    )
    config = tmp_path / "swap.yaml"
    labels = []
    for word in ("offline", str(mine)):
        config.write_text(
            "data: {set: stale_mini, limit: 1}\narm: state_anchored\ndrafts: stale_drafts\n"
            "judges: [key]\ntracking: false\nretrieval: {budget_tokens: 200}\n"
            f"backend: {word}\n",
            "utf-8",
        )
        finished = run(load_spec(config), tmp_path / f"run-{len(labels)}")
        assert finished.complete
        labels.append(finished.manifest.backend)
        responses = list(finished.folder.responses.rglob("*.json"))
        assert bool(responses) is (word != "offline")
    assert labels == ["offline (lexical rules)", "mine"]
