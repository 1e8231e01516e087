"""``stateauditor suite``: tables and JSON, statuses, going on, and mistakes in one message."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.suites import registry
from stateauditor.data.suites.registry import Suite
from stateauditor.experiments.suites import injection as injection_module
from stateauditor.experiments.suites import runner
from stateauditor.experiments.suites.injection import CaseResult
from stateauditor.signatures.errors import InputError
from tests.data.suites.builders import hard_items, suite_items
from tests.stateauditor.cli.conftest import Run


@pytest.fixture(autouse=True)
def few_items(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The suites with a few items each, and a folder of its own."""
    made = {"safety": suite_items(), "lifecycle_hard": hard_items()}

    def few(name: str, seed: int = 42) -> Suite:
        return Suite(name=name, seed=seed, sha256=f"{seed:064d}", items=made[name])

    for module in (runner, injection_module, registry):
        monkeypatch.setattr(module, "load_suite", few)
    monkeypatch.chdir(tmp_path)


def test_safety_runs_under_every_policy_and_prints_its_table(run: Run, tmp_path: Path) -> None:
    done = run("suite", "safety", "--backend", "scripted:right", "--out", "run")
    assert done.status == 0
    assert done.out.startswith("# safety, seed 42\n")
    assert [line for line in done.out.splitlines() if line.startswith("## ")] == [
        "## Policy observe",
        "## Policy repair_only",
        "## Policy full",
    ]
    assert "scripted LM (right by construction): no model" in done.out
    assert "True-change recall 1.000" in done.out
    assert "4/4 scenarios · 0 failed" in done.err
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "config.yaml",
        "items.jsonl",
        "manifest.json",
        "responses",
        "status.json",
        "summary.json",
        "table.md",
    }
    assert (tmp_path / "run" / "table.md").read_text("utf-8").strip() in done.out


def test_the_offline_floor_is_labelled_and_the_default(run: Run) -> None:
    done = run("suite", "safety", "--policy", "observe", "--policy", "full")
    assert done.status == 0
    assert "> - offline lexical rules: a floor, no model" in done.out
    assert "## Policy repair_only" not in done.out
    assert "folder: runs/suite-safety-" in done.out


def test_lifecycle_hard_runs_under_repair_only(run: Run) -> None:
    done = run("suite", "lifecycle_hard", "--backend", "scripted:right", "--out", "run", "--json")
    assert done.status == 0
    found = done.json()
    assert found["complete"]
    (rates,) = found["summary"]["lifecycle"]
    assert rates["policy"] == "repair_only"
    assert rates["pooled"]["solved"]["hits"] == rates["pooled"]["solved"]["n"] == 2


def test_a_limit_and_a_seed_are_part_of_the_run(run: Run) -> None:
    done = run("suite", "safety", "--limit", "2", "--seed", "7", "--out", "run", "--json")
    assert done.json()["total"] == 2
    assert done.json()["summary"]["seed"] == 7
    assert "2 items only, taken from the groups in turn" in done.json()["summary"]["labels"]


def test_a_capped_run_says_how_to_go_on_and_does(run: Run) -> None:
    stopped = run(
        "suite", "safety", "--backend", "scripted:silent", "--out", "run", "--max-cost", "1"
    )
    assert stopped.status == 1
    assert "stopped after 1 of 4 scenarios" in stopped.err
    (line,) = [line for line in stopped.err.splitlines() if line.startswith("go on with: ")]
    again = run(*shlex.split(line.removeprefix("go on with: "))[1:])
    assert again.status == 0
    shutil.rmtree("run")
    whole = run("suite", "safety", "--backend", "scripted:silent", "--out", "run")
    assert whole.out == again.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["safety", "--backend", "scripted:wise"], "there is no such scripted LM"),
        (["safety", "--backend", "nobody"], "neither a .yaml file nor one that ships"),
        (["safety", "--resume"], "--resume needs --out"),
        (
            ["safety", "--variant", "state_anchored", "--backend", "scripted:right"],
            "state_anchored",
        ),
    ],
)
def test_a_mistake_is_one_message_and_status_2(
    run: Run, arguments: list[str], message: str
) -> None:
    done = run("suite", *arguments)
    assert done.status == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_an_existing_run_is_not_run_over(run: Run) -> None:
    command = ("suite", "safety", "--backend", "scripted:silent", "--out", "run")
    assert run(*command).status == 0
    assert run(*command).status == 2
    assert run(*command, "--resume").status == 0


def test_a_suite_that_is_not_the_frozen_one_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drifted(name: str, seed: int = 42) -> Suite:
        raise InputError(f"suite {name!r} is not the frozen one: 1 changed")

    monkeypatch.setattr(runner, "load_suite", drifted)
    done = run("suite", "lifecycle_hard", "--out", "run")
    assert done.status == 2
    assert "is not the frozen one" in done.err
    assert not Path("run").exists()


def test_injection_prints_one_table_with_the_limit_last(run: Run) -> None:
    done = run("suite", "injection", "--out", "run")
    assert done.status == 0
    rows = [line for line in done.out.splitlines() if line.startswith("| ")]
    assert "provenance and chronology, not meaning" in rows[-2]
    assert {path.name for path in Path("run").iterdir()} == {
        "cases.jsonl",
        "manifest.json",
        "summary.json",
        "table.md",
    }
    assert "Denver" not in Path("run", "cases.jsonl").read_text()


def test_injection_ends_with_1_where_a_case_goes_the_wrong_way(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = injection_module.run_injection

    def one_wrong(items: Any) -> list[CaseResult]:
        first, *rest = right(items)
        return [first.model_copy(update={"right": False}), *rest]

    monkeypatch.setattr(injection_module, "run_injection", one_wrong)
    done = run("suite", "injection", "--json")
    assert done.status == 1
    assert done.json()["passed"] is False
    assert len(done.json()["wrong"]) == 1


def test_the_list_names_every_suite_with_its_groups_and_digest(run: Run) -> None:
    done = run("suite", "list")
    assert done.status == 0
    for name in ("safety", "lifecycle_hard", "injection"):
        assert f"{name}: " in done.out
    assert "other_person 1" in done.out
    assert f"{42:064d} (not frozen)" in done.out


@pytest.mark.parametrize("command", [(), ("safety",), ("lifecycle_hard",), ("injection",)])
def test_help_ends_with_examples(run: Run, command: tuple[str, ...]) -> None:
    done = run("suite", *command, "--help")
    assert done.status == 0
    assert "Examples:" in done.out


def test_settings_of_the_audit_are_passed_on_and_named(run: Run) -> None:
    done = run(
        "suite", "safety", "--set", "semantic_gate=true", "--policy", "observe", "--out", "gated"
    )
    assert done.status == 0
    assert "audit setting: semantic_gate=True" in done.out
    wrong = run("suite", "safety", "--set", "semantic_gat=true", "--out", "wrong")
    assert wrong.status == 2
    assert "did you mean 'semantic_gate'" in wrong.err
