"""The audit's settings have one place, every one of them acts, and older configs are still read."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import yaml

from stateauditor.experiments.runs.audited import Arm, as_it_ran
from stateauditor.experiments.runs.config_files import read_mapping
from stateauditor.experiments.runs.folder import RunFolder, dump_spec
from stateauditor.experiments.runs.spec import RunSpec, load_spec, parse_spec
from stateauditor.experiments.suites.spec import SuiteSpec
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Channel, Policy, Variant

GOOD: dict[str, Any] = {"name": "run", "data": {"set": "stale_mini"}, "arm": "strict_vta"}
FLAT = "name: old\narm: lean\ndata: {set: stale_mini}\npolicy: full\nretrieval: {change_slots: 3}\n"


def parsed(**changes: Any) -> RunSpec:
    return parse_spec(GOOD | changes, source="c.yaml")


@pytest.mark.parametrize("arm", Arm)
def test_the_arm_names_the_variant_and_the_written_config_does_not(arm: Arm) -> None:
    protocol = "scenario_joint" if arm is Arm.JOINT_VTA else "strict"
    spec = parsed(arm=arm.value, protocol=protocol)
    assert spec.audit.variant == (arm.variant or Variant.STRICT_VTA)
    written = yaml.safe_load(dump_spec(spec))
    assert "variant" not in written["audit"]
    assert parse_spec(written, source="again") == spec


def test_a_variant_beside_the_arm_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"audit\.variant is the arm's"):
        parsed(audit={"variant": "lean"})


def test_channels_are_written_in_one_order() -> None:
    given = ["evidence", "questions", "drafts"]
    spec = parsed(protocol="scenario_joint", audit={"channels": given})
    written = yaml.safe_load(dump_spec(spec))["audit"]["channels"]
    assert written == [channel.value for channel in Channel]


@pytest.mark.parametrize(
    ("arm", "setting", "message"),
    [
        ("cove", {"policy": "full"}, r"arm cove audits nothing: audit\.policy"),
        ("generator_only", {"role_timeout": 3}, r"audits nothing: audit\.role_timeout"),
        ("predecessor", {"validation": False}, "validation changes nothing under variant"),
        ("lean", {"expand_evidence": False}, "expand_evidence changes nothing under variant lean"),
        ("strict_vta", {"expand_evidence": False, "expansion_tokens": 1}, "expansion_tokens"),
        ("strict_vta", {"retrieval": {"expansion_tokens": 5}}, "unknown key"),
    ],
)
def test_a_setting_that_would_change_nothing_is_refused(
    arm: str, setting: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        parsed(arm=arm, audit=setting)


def test_what_the_joint_arm_always_does_cannot_be_switched_off() -> None:
    with pytest.raises(ConfigError, match="expand_evidence cannot be off"):
        parsed(arm="joint_vta", protocol="scenario_joint", audit={"expand_evidence": False})


def test_older_keys_are_read_with_one_line_that_says_the_new_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(FLAT, "utf-8")
    with caplog.at_level(logging.WARNING):
        spec = load_spec(path, ("audit.policy=observe", "retrieval.budget_tokens=900"))
    assert (spec.audit.policy, spec.audit.retrieval.change_slots) == (Policy.OBSERVE, 3)
    assert spec.audit.retrieval.budget_tokens == 900
    first, second = caplog.messages
    assert "policy, retrieval" in first
    assert "audit.policy, audit.retrieval" in first
    assert "--set retrieval.budget_tokens" in second


def test_a_setting_in_both_places_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(FLAT + "audit: {policy: observe}\n", "utf-8")
    with pytest.raises(ConfigError, match=r"policy and audit\.policy are one setting"):
        read_mapping(path)


def test_the_folder_of_an_older_run_is_read_without_what_changed_nothing(tmp_path: Path) -> None:
    old = {
        **GOOD,
        "arm": "predecessor",
        "policy": "full",
        "validation": False,
        "expand_evidence": False,
        "retrieval": {"budget_tokens": 900, "expansion_tokens": 9000},
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(old), "utf-8")
    spec = RunFolder(tmp_path).spec()
    assert (spec.audit.policy, spec.audit.retrieval.budget_tokens) == (Policy.FULL, 900)
    assert spec.audit.validation
    assert as_it_ran(yaml.safe_load(dump_spec(spec))) == yaml.safe_load(dump_spec(spec))


def test_a_suite_takes_its_policies_and_its_variant_in_one_place() -> None:
    spec = SuiteSpec.model_validate({"suite": "safety", "variant": "lean"})
    assert spec.audit.variant is Variant.LEAN
    assert spec.under(Policy.FULL).policy is Policy.FULL
    with pytest.raises(ValueError, match="give policies"):
        SuiteSpec.model_validate({"suite": "safety", "audit": {"policy": "full"}})
