"""A saved auditor works again with every backend, and holds no key."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import cloudpickle
import dspy
import pytest

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import BackendConfig, LMConfig, LMRole
from stateauditor.program.backends.saving import without_secrets
from stateauditor.program.backends.scripted import scripted_backend
from stateauditor.signatures.errors import MissingKeyError
from tests.support.loopback import json_reply, loopback
from tests.support.worked import DRAFT, MEMORY, QUESTION, REPLY, script

KEY = "dummy-4711-never-to-be-saved"
HERE = "http://user:dummy-4711-login@127.0.0.1:9/v1"
EXTRA = {"extra_headers": {"Authorization": KEY}, "seed": 7}


def configured(address: str = HERE) -> Backend:
    lm = LMConfig(model="openai/m", api_base=address, api_key_env="SAVED_KEY", extra=EXTRA)
    return Backend.load(BackendConfig(name="loop", lms={"a": lm}))


def own(address: str = HERE) -> Backend:
    return Backend.load(dspy.LM("openai/m", api_base=address, api_key=KEY, num_retries=0, **EXTRA))


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAVED_KEY", KEY)


def by_dspy(auditor: StateAuditor, folder: Path) -> StateAuditor:
    auditor.save(folder, save_program=True)
    loaded: StateAuditor = dspy.load(folder, allow_pickle=True)
    return loaded


def by_pickle(auditor: StateAuditor, folder: Path) -> StateAuditor:
    folder.mkdir()
    (folder / "auditor.pkl").write_bytes(pickle.dumps(auditor))
    loaded: StateAuditor = pickle.loads((folder / "auditor.pkl").read_bytes())
    return loaded


def by_cloudpickle(auditor: StateAuditor, folder: Path) -> StateAuditor:
    folder.mkdir()
    (folder / "auditor.pkl").write_bytes(cloudpickle.dumps(auditor))
    loaded: StateAuditor = cloudpickle.loads((folder / "auditor.pkl").read_bytes())
    return loaded


def by_mlflow(auditor: StateAuditor, folder: Path) -> StateAuditor:
    mlflow = pytest.importorskip("mlflow")
    mlflow.dspy.save_model(
        auditor, str(folder), use_dspy_model_save=True, pip_requirements=["dspy"]
    )
    loaded: StateAuditor = mlflow.dspy.load_model(str(folder))
    return loaded


WAYS = [by_dspy, by_pickle, by_cloudpickle, by_mlflow]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("build", [configured, own, lambda: Backend.load("offline")])
def test_a_saved_auditor_comes_back_whole_and_holds_no_key(
    way: Any, build: Any, tmp_path: Path
) -> None:
    auditor = StateAuditor(build(), policy="full", skeptic=True)
    loaded = way(auditor, tmp_path / "saved")
    assert loaded.config == auditor.config
    assert loaded.backend.label == auditor.backend.label
    for file in (tmp_path / "saved").rglob("*"):
        assert not file.is_file() or b"dummy-4711" not in file.read_bytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("build", [configured, own])
def test_a_loaded_auditor_asks_its_server_with_the_key_of_the_environment(
    way: Any, build: Any, tmp_path: Path
) -> None:
    with loopback(lambda body, number: json_reply({"reasoning": "r", "premises": []})) as server:
        loaded = way(StateAuditor(build(server.base), variant="draft_anchored"), tmp_path / "s")
        result = loaded.audit(MEMORY, QUESTION, DRAFT)
        assert (result.failed_open, result.usage.paid.calls) == ((), 2)
        assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
        assert {body["seed"] for body in server.requests} == {7}


def test_a_missing_key_is_named_when_the_auditor_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = pickle.dumps(StateAuditor(configured()))
    monkeypatch.delenv("SAVED_KEY")
    with pytest.raises(MissingKeyError, match="SAVED_KEY"):
        pickle.loads(saved)


def test_a_key_given_by_hand_is_gone_and_no_other_takes_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The provider's usual key is not meant for an address of the user's own."""
    monkeypatch.delenv("SAVED_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "another-key")
    loaded = pickle.loads(pickle.dumps(own("http://127.0.0.1:9/v1")))
    assert loaded.lm(LMRole.AUDITOR).kwargs["api_key"] == "none"


def test_settings_that_carry_secrets_are_known_by_their_names() -> None:
    kept = {"max_tokens": 5, "temperature": 0, "tokens_per_minute": 3, "stop": ["a"]}
    names = "api_key aws_secret_access_key azure_ad_token headers password Authorization"
    secret = dict.fromkeys(names.split(), "x")
    assert without_secrets({**kept, **secret, "deep": [{"token": "x"}]}) == {**kept, "deep": [{}]}


def test_lms_of_one_address_share_a_breaker_again() -> None:
    lm = LMConfig(model="openai/m", api_base="http://127.0.0.1:9/v1", requests_per_minute=5)
    config = BackendConfig(
        name="two", lms={"a": lm, "b": lm}, roles={"auditor": "a", "adapter": "b"}
    )
    loaded = pickle.loads(pickle.dumps(Backend.load(config)))
    one, other = loaded.lm(LMRole.AUDITOR).traffic, loaded.lm(LMRole.ADAPTER).traffic
    assert one.breaker is other.breaker is not None
    assert one.pace.requests == 5


def test_a_copy_of_an_auditor_keeps_its_backend() -> None:
    auditor = StateAuditor(scripted_backend(script()))
    assert auditor.deepcopy().backend is auditor.backend
    assert auditor.deepcopy().audit(MEMORY, QUESTION, DRAFT).response == REPLY
