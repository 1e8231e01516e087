"""The names of a backend mean the same in Python and on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateauditor import Backend, StateAuditor
from stateauditor.program.backends.named import named_config, shipped_backends
from stateauditor.signatures.errors import ConfigError, MissingKeyError
from stateauditor.signatures.step import LMRole


@pytest.mark.parametrize("name", sorted(set(shipped_backends()) - {"offline"}))
def test_python_takes_every_shipped_name(name: str) -> None:
    assert Backend.load(name, need_keys=False).config == named_config(shipped_backends()[name])[0]


def test_one_model_answers_every_role_with_its_providers_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    backend = StateAuditor("openai/gpt-5.5").backend
    assert {backend.lm(role).model for role in LMRole} == {"openai/gpt-5.5"}
    assert backend.label == "openai-gpt-5.5"


def test_one_model_without_its_key_says_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(MissingKeyError, match="ANTHROPIC_API_KEY"):
        StateAuditor("anthropic/claude-sonnet-4-5")


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("opneai", "did you mean 'openai'.*there are anthropic, gemini, .*'openai/<model>'"),
        ("opneai/gpt-5.5", "'opneai' is no provider .did you mean 'openai'"),
        ("openai/", "'openai/<model>'"),
        ("my/openai.yml", "there is no such backend file"),
        ("", r"neither a \.yaml file nor one that ships"),
        (None, "expected a name, a .yaml file, a config or a dspy.LM, not None; 'offline' needs"),
        (7, "not 7"),
    ],
)
def test_what_names_no_backend_is_a_clear_error(spec: Any, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        StateAuditor(spec)


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"neither a \.yaml file nor one that ships"):
        Backend.load(str(tmp_path))
