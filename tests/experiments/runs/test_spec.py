"""The frozen spec of a run: read strictly, overridden by key, written so that it reads back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from stateauditor.experiments.runs.config_files import locate, shipped
from stateauditor.experiments.runs.folder import dump_spec
from stateauditor.experiments.runs.spec import Arm, RunSpec, load_spec, parse_spec
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Variant

RUNS = [path for path in shipped().values() if "\nkind:" not in f"\n{path.read_text('utf-8')}"]
GOOD: dict[str, Any] = {"name": "run", "data": {"set": "stale_mini"}, "arm": "strict_vta"}


def parsed(**changes: Any) -> RunSpec:
    return parse_spec(GOOD | changes, source="c.yaml")


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_every_shipped_config_is_right_and_reads_back_as_written(path: Path) -> None:
    spec = load_spec(path.stem)
    assert parse_spec(yaml.safe_load(dump_spec(spec)), source="again") == spec


def test_there_is_a_shipped_config_for_every_arm() -> None:
    assert {arm.value for arm in Arm} <= set(shipped())
    assert all(load_spec(arm.value).arm is arm for arm in Arm)


def test_the_name_is_that_of_the_file_unless_given(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("data: {set: stale_mini}\narm: lean\n", "utf-8")
    assert load_spec(path).name == "mine"
    assert load_spec(path, ("name=other",)).name == "other"


def test_settings_are_replaced_by_dotted_key(tmp_path: Path) -> None:
    spec = load_spec(
        "stale_mini_offline",
        ("data.limit=3", "retrieval.budget_tokens=1000", "judges=[key]", "max_cost=2.5"),
    )
    assert (spec.data.limit, spec.retrieval.budget_tokens, spec.max_cost) == (3, 1000, 2.5)


def test_a_path_takes_the_place_of_a_data_set_and_the_reverse() -> None:
    spec = load_spec("strict_vta", ("data.path=my.json",))
    assert (spec.data.set, spec.data.path) == (None, Path("my.json"))
    assert load_spec("strict_vta", ("data.path=my.json", "data.set=stale")).data.path is None


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "expected key=value"),
        ("=1", "expected key=value"),
        ("arm.x=1", "holds a value, not a mapping"),
        ("seed=[1", "not valid YAML"),
    ],
)
def test_a_wrong_override_is_said(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_spec("strict_vta", (override,))


def test_all_mistakes_are_listed_at_once_with_their_paths() -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(arms="lean", concurrency=0, data={"set": "stale_mini", "limit": -1})
    text = str(caught.value)
    assert "3 problem(s)" in text
    assert "arms: unknown key; did you mean 'arm'?" in text
    assert "concurrency: " in text
    assert "data.limit: " in text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": {}}, "give either 'set'"),
        ({"data": {"set": "stale", "path": "x.json"}}, "give either 'set'"),
        ({"arm": "joint_vta"}, "scenario_joint go together"),
        ({"protocol": "scenario_joint"}, "scenario_joint go together"),
        ({"arm": "lean", "base_audit_from": "runs/p"}, "base_audit_from serves the arms control"),
        ({"arm": "cove", "base_audit_from": "runs/p"}, "base_audit_from serves the arms control"),
        ({"labels": "nli", "base_audit_from": "runs/p"}, "another base audit"),
        ({"channels": ["drafts"]}, "scenario_joint go together"),
        ({"arm": "rarr_store", "compiled": "c"}, "rarr_store audits nothing"),
        ({"name": "../up"}, "name"),
        ({"max_cost": 0}, "max_cost"),
    ],
)
def test_what_makes_no_sense_together_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parsed(**changes)


@pytest.mark.parametrize("text", ["- a list\n", "{", "\t"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"c\.yaml"):
        load_spec(tmp_path / "c.yaml")


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(ConfigError, match="shipped ones: control, cove"):
        locate("strictvta")
    assert locate("strict_vta.yaml").stem == "strict_vta"


def test_a_spec_is_frozen() -> None:
    with pytest.raises(ValidationError):
        parsed().seed = 1  # type: ignore[misc]


def test_an_arm_knows_its_variant_and_the_privileged_one_says_so() -> None:
    assert Arm.GENERATOR_ONLY.variant is None
    assert Arm.CONTROL.variant is Variant.CONTROL
    assert Arm.JOINT_VTA.label == "joint_vta (privileged upper bound)"


def test_roles_wait_for_their_turn_as_long_as_it_takes() -> None:
    settings = parsed(skeptic=True).settings()
    assert (settings["role_timeout"], settings["skeptic"]) == (None, True)
