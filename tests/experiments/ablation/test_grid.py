"""What a grid may say, and which runs follow from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from stateauditor.experiments.ablation.grid import (
    GridSpec,
    dump_grid,
    load_grid,
    merged,
    plan,
)
from stateauditor.experiments.runs.config_files import shipped
from stateauditor.experiments.runs.spec import Arm
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Policy

BASE = {"data": {"path": "d.json"}, "arm": "strict_vta"}


def grid(cells: dict[str, dict[str, Any]], **settings: Any) -> GridSpec:
    return GridSpec(name="g", base={**BASE, **settings.pop("base", {})}, cells=cells, **settings)


def test_every_shipped_grid_makes_runs() -> None:
    assert set(shipped("ablations")) == {"vta_components", "base_audit", "channels", "baselines"}
    for name in shipped("ablations"):
        planned = plan(load_grid(name), Path("out"))
        assert next(iter(planned.runs)) == "full"
        assert len(planned.runs) > 5


def test_every_ablation_and_baseline_is_in_a_shipped_grid() -> None:
    cells = [cell for name in shipped("ablations") for cell in load_grid(name).cells.values()]
    for wanted in (
        {"labels": "nli"},
        {"rewrite": "untyped"},
        {"validation": False},
        {"verified_only": False},
        {"arm": "predecessor"},
        {"expand_evidence": False},
        {"semantic_gate": True},
        {"skeptic": True},
    ):
        assert wanted in cells
    arms = {cell["arm"] for cell in cells if "arm" in cell}
    assert {arm.value for arm in Arm if arm.is_baseline} <= arms


def test_all_runs_start_from_the_shared_drafts_and_base_audits() -> None:
    planned = plan(grid({"lean": {"arm": "lean"}, "c": {"arm": "control"}}, share="base_audit"),
                   Path("out"))  # fmt: skip
    shared = planned.shared
    assert (shared.arm, shared.policy, shared.judges) == (Arm.PREDECESSOR, Policy.OBSERVE, ())
    assert {spec.drafts_from for spec in planned.runs.values()} == {Path("out/shared")}
    bases = {name: spec.base_audit_from for name, spec in planned.runs.items()}
    assert bases == {"full": Path("out/shared"), "lean": None, "c": Path("out/shared")}


@pytest.mark.parametrize(
    "cell",
    [
        {"labels": "nli"},
        {"memory": "oracle"},
        {"retrieval": {"antecedents": False}},
        {"backend": "other.yaml"},
        {"arm": "cove"},
    ],
)
def test_a_base_audit_that_a_cell_would_not_make_is_not_given_to_it(cell: dict[str, Any]) -> None:
    planned = plan(grid({"cell": cell}, share="base_audit"), Path("out"))
    assert planned.runs["cell"].base_audit_from is None
    assert planned.runs["cell"].drafts_from == Path("out/shared")


def test_without_shared_base_audits_only_drafts_are_made_beforehand() -> None:
    planned = plan(grid({"a": {"arm": "predecessor"}}), Path("out"))
    assert planned.shared.arm is Arm.GENERATOR_ONLY
    assert {spec.base_audit_from for spec in planned.runs.values()} == {None}


def test_given_drafts_stay_the_shared_runs_drafts() -> None:
    planned = plan(grid({"a": {"skeptic": True}}, base={"drafts": "stale_drafts"}), Path("out"))
    assert planned.shared.drafts.value == "stale_drafts"
    assert planned.runs["a"].drafts_from == Path("out/shared")


def test_nested_settings_are_merged() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": {"e": 5}}) == {
        "a": {"b": 1, "c": 4},
        "d": {"e": 5},
    }


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ({"full": {"skeptic": True}}, "no names for a cell"),
        ({"shared": {}}, "no names for a cell"),
        ({"x": {"data": {"limit": 3}}}, "cells.x: a cell on other data"),
        ({"x": {"skeptics": True}}, "did you mean 'skeptic'"),
        ({"x": {"arm": "joint_vta"}}, "scenario_joint go together"),
    ],
)
def test_a_wrong_cell_is_named_before_anything_runs(
    cells: dict[str, dict[str, Any]], why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        plan(grid(cells), Path("out"))


@pytest.mark.parametrize("wrong", [{"cells": {}}, {"share": "nothing"}, {"colour": "red"}])
def test_a_wrong_grid_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(yaml.safe_dump({"base": BASE, "cells": {"a": {}}} | wrong), "utf-8")
    with pytest.raises(ConfigError, match=r"g\.yaml"):
        load_grid(path)


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(ConfigError, match="shipped ones: base_audit, baselines"):
        load_grid("baseline")


def test_settings_are_replaced_and_the_written_grid_reads_back(tmp_path: Path) -> None:
    found = load_grid("channels", ["base.data.limit=3", "max_cost=2"])
    assert (found.base["data"]["limit"], found.max_cost) == (3, 2)
    path = tmp_path / "g.yaml"
    path.write_text(dump_grid(found), "utf-8")
    assert load_grid(path) == found
