"""``stateauditor backends``, and what ``--backend`` may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateauditor.cli.backend_files import (
    key_variables,
    load_named,
    resolve_backend,
    shipped_backends,
)
from stateauditor.signatures.errors import ConfigError
from tests.stateauditor.cli.conftest import Run

NAMES = ["anthropic", "gemini", "offline", "ollama", "openai", "vllm"]
SECRET = "sk-this-must-never-be-shown"


def test_the_shipped_backends() -> None:
    assert list(shipped_backends()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_file_is_right(name: str) -> None:
    config, path = load_named(name)
    assert config.name == name
    assert path.is_file()


def test_names_files_and_nonsense() -> None:
    assert resolve_backend("offline") == "offline"
    assert resolve_backend("openai") == shipped_backends()["openai"]
    assert resolve_backend("my/openai.yml") == Path("my/openai.yml")
    with pytest.raises(ConfigError, match="did you mean 'openai'") as caught:
        resolve_backend("opneai")
    assert "there are anthropic, gemini, offline" in str(caught.value)


def test_a_variable_is_listed_once() -> None:
    config, _ = load_named("openai")
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
    assert list(listed) == NAMES
    assert listed["openai"]["keys"] == {"OPENAI_API_KEY": True}
    assert listed["offline"]["roles"]["auditor"] == "rules"
    assert Path(listed["vllm"]["file"]).is_file()
    assert SECRET not in done.out
