"""Backend files: unknown keys refused, every problem at once, keys named and never stored."""

from pathlib import Path

import pytest

from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.config import (
    BackendConfig,
    load_backend_config,
    parse_backend_config,
)
from stateauditor.program.backends.named import shipped_backends
from stateauditor.program.backends.store import CacheMode
from stateauditor.signatures.errors import ConfigError, MissingKeyError
from stateauditor.signatures.step import LMRole

SHIPPED = list(shipped_backends().values())


def write(folder: Path, text: str) -> Path:
    path = folder / "backend.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_file_is_valid_and_builds_once_its_key_is_set(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_backend_config(path)
    for lm in config.lms.values():
        if lm.key_variable:
            monkeypatch.setenv(lm.key_variable, "sk-test")
    backend = Backend.load(path)
    assert config.name == path.stem
    assert all(backend.lm(role) is not None for role in LMRole)


def test_the_shipped_files_cover_the_backends_that_the_documentation_names() -> None:
    assert {path.stem for path in SHIPPED} >= {
        "offline",
        "openai",
        "anthropic",
        "gemini",
        "ollama",
        "vllm",
    }


def test_a_missing_key_names_the_variable_and_the_file_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    monkeypatch.setenv("OTHER_KEY", "  ")
    path = write(
        tmp_path,
        "lms:\n  a: {model: openai/x, api_key_env: MY_KEY}\n"
        "  b: {model: openai/y, api_key_env: OTHER_KEY}\n",
    )
    with pytest.raises(MissingKeyError) as caught:
        Backend.load(path)
    for part in ("MY_KEY", "OTHER_KEY", str(path), "lms.a"):
        assert part in str(caught.value)


def test_a_hosted_model_without_a_named_variable_uses_the_usual_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    config = parse_backend_config(
        {"name": "a", "lms": {"m": {"model": "anthropic/claude"}}}, source="here"
    )
    with pytest.raises(MissingKeyError, match="ANTHROPIC_API_KEY"):
        Backend.load(config)


def test_all_problems_are_reported_at_once_with_their_paths_and_guesses() -> None:
    data = {
        "name": "x",
        "lms": {"m": {"model": "openai/x", "temprature": 0, "timeout": -1}},
        "roles": {"auditor": "n", "auditer": "m"},
        "cach": "off",
    }
    with pytest.raises(ConfigError) as caught:
        parse_backend_config(data, source="file.yaml")
    message = str(caught.value)
    for part in (
        "file.yaml: 5 problem(s)",
        "lms.m.temprature: unknown key; did you mean 'temperature'?",
        "lms.m.timeout:",
        "roles.auditer: unknown key; did you mean 'auditor'?",
        "cach: unknown key; did you mean 'cache'?",
        "roles.auditor: no LM is named 'n'; there are m",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("lms: [", "not valid YAML"),
        ("- a\n- b\n", "expected a mapping"),
        ("lms: {}\n", "lms"),
        ("name: 'a/b'\nlms: {m: {model: openai/x}}\n", "name"),
    ],
)
def test_a_file_of_another_shape_is_one_clear_error(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        load_backend_config(write(tmp_path, text))


def test_a_file_that_is_not_there_or_not_text_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such backend file"):
        load_backend_config(tmp_path / "none.yaml")
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_backend_config(path)


def test_a_name_that_is_neither_offline_nor_a_file_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"neither a \.yaml file nor one that ships"):
        Backend.load("gpt-5")


def test_a_bare_off_is_the_word_off_although_yaml_reads_false(tmp_path: Path) -> None:
    path = write(tmp_path, "lms: {m: {model: offline/lexical-rules}}\ncache: off\n")
    assert load_backend_config(path).cache is CacheMode.OFF


def test_each_role_falls_back_to_the_default_and_then_to_the_first_lm() -> None:
    lms = {"a": {"model": "openai/a"}, "b": {"model": "openai/b"}}
    plain = BackendConfig.model_validate({"name": "x", "lms": lms})
    mapped = BackendConfig.model_validate(
        {"name": "x", "lms": lms, "roles": {"default": "b", "judge": "a"}}
    )
    assert plain.lm_for(LMRole.ADAPTER) == "a"
    assert mapped.lm_for(LMRole.ADAPTER) == "b"
    assert mapped.lm_for(LMRole.JUDGE) == "a"


def test_a_setting_that_the_model_refuses_is_a_config_error() -> None:
    config = parse_backend_config(
        {
            "name": "x",
            "lms": {
                "m": {"model": "openai/o3", "api_base": "http://127.0.0.1:1/v1", "temperature": 0.2}
            },
        },
        source="x",
    )
    with pytest.raises(ConfigError, match="openai/o3"):
        Backend.load(config)


def test_the_label_says_when_lexical_rules_answer_everything() -> None:
    assert Backend.load("offline").label == "offline (lexical rules)"
