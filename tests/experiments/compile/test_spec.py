"""A compile's config: what it may say, and how mistakes are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.compile.optimizers import check_installed
from stateauditor.experiments.compile.spec import (
    load_compile_spec,
    parse_compile_spec,
)
from stateauditor.experiments.runs.config_files import shipped
from stateauditor.program.roles.ensemble import Roles
from stateauditor.program.roles.registry import asked_roles
from stateauditor.signatures.errors import ConfigError

BOOTSTRAP = {"name": "bootstrap_few_shot"}


def spec(optimizer: dict[str, Any] | None = None, **settings: Any) -> Any:
    data = {"set": "stale_mini", "frozen": "stale_mini_dev"}
    whole = {"name": "t", "data": data, "optimizer": optimizer or BOOTSTRAP, **settings}
    return parse_compile_spec(whole, source="t.yaml")


@pytest.mark.parametrize("name", sorted(shipped("compile")))
def test_shipped_configs_are_right(name: str) -> None:
    loaded = load_compile_spec(name)
    assert loaded.name == name
    assert loaded.data.frozen == "stale_mini_dev"


def test_every_mistake_is_told_at_once_with_its_path() -> None:
    with pytest.raises(ConfigError) as told:
        parse_compile_spec(
            {
                "name": "bad name",
                "data": {"set": "stale_mini"},
                "optimizer": {"name": "gepa", "max_metric_cals": 3},
                "weihgts": {},
            },
            source="bad.yaml",
        )
    message = str(told.value)
    assert message.startswith("bad.yaml: 4 problem(s)")
    for part in ("name:", "data.frozen:", "max_metric_cals: unknown key", "did you mean 'weights'"):
        assert part in message


def test_a_frozen_list_is_required() -> None:
    with pytest.raises(ConfigError, match=r"data\.frozen: Field required"):
        spec(data={"set": "stale_mini"})


@pytest.mark.parametrize(
    ("optimizer", "told"),
    [
        ({"name": "gepa"}, "exactly one of auto, max_full_evals and max_metric_calls"),
        ({"name": "gepa", "auto": "light", "max_full_evals": 2}, "exactly one of"),
        ({"name": "mipro_v2"}, "either auto"),
        ({"name": "mipro_v2", "auto": "light", "num_trials": 2}, "either auto"),
        ({"name": "mipro_v2", "num_trials": 2}, "either auto"),
        ({"name": "copro"}, "bootstrap_few_shot"),
        ({"name": "bootstrap_few_shot", "max_labeled_demos": 3}, "unknown key"),
    ],
)
def test_each_optimizer_has_settings_of_its_own(optimizer: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        spec(optimizer)


def test_a_role_must_be_asked_by_the_arm() -> None:
    with pytest.raises(ConfigError, match=r"under arm lean .* lean_audit, response_adaptation"):
        spec(arm="lean", role="premise_extraction")
    with pytest.raises(ConfigError, match="not asked"):
        spec(arm="lean", role="response_adaptation", policy="observe")
    assert spec(arm="lean", role="lean_audit").roles == ("lean_audit",)
    assert spec(arm="control").roles[-2:] == ("draft_consistency", "response_adaptation")


def test_arms_that_audit_no_single_question_cannot_be_compiled() -> None:
    for arm in ("generator_only", "joint_vta", "cove"):
        with pytest.raises(ConfigError, match="cannot be compiled"):
            spec(arm=arm)


def test_either_a_set_or_a_path() -> None:
    with pytest.raises(ConfigError, match="either 'set'"):
        spec(data={"frozen": "stale_mini_dev"})


def test_all_roles_are_roles_of_the_program() -> None:
    config = spec(skeptic=True, semantic_gate=True).audit_config()
    assert set(asked_roles(config)) <= set(vars(Roles()))
    assert {"skeptic", "semantic_gate"} <= set(asked_roles(config))


def test_overrides_reach_the_optimizer(tmp_path: Path) -> None:
    loaded = load_compile_spec("gepa_strict", ["optimizer.max_metric_calls=7", "max_cost=1"])
    assert loaded.optimizer.max_metric_calls == 7
    assert loaded.max_cost == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [("- 1", "expected a mapping"), (": :", "not valid YAML"), (b"\xff\xfe\xff", "cannot be read")],
)
def test_files_that_are_no_config(tmp_path: Path, text: str | bytes, told: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigError, match=told):
        load_compile_spec(path)
    with pytest.raises(ConfigError, match="shipped ones: bootstrap_lean"):
        load_compile_spec("missing")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stateauditor.experiments.compile.optimizers.find_spec", lambda name: None)
    check_installed(spec().optimizer)
    with pytest.raises(ConfigError, match=r"needs the package optuna.*stateauditor\[compile\]"):
        check_installed(spec({"name": "mipro_v2", "auto": "light"}).optimizer)
