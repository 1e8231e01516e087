"""The project's own foundations: pinned versions, the Makefile, CI, the tree."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "requirements" / "constraints.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def pins() -> dict[str, str]:
    lines = CONSTRAINTS.read_text("utf-8").splitlines()
    found = (line.partition("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): pin for name, _, pin in found}


def requirements() -> list[str]:
    extras = PROJECT["optional-dependencies"]
    return [*PROJECT["dependencies"], *extras["dev"], *extras["experiments"]]


def test_every_line_of_the_constraints_is_a_pin() -> None:
    for line in CONSTRAINTS.read_text("utf-8").splitlines():
        assert not line or line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.+!]+", line), line


@pytest.mark.parametrize("requirement", requirements())
def test_every_requirement_is_pinned_within_its_range(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert wanted.specifier.contains(pins()[canonicalize_name(wanted.name)])


@pytest.mark.parametrize("name", ["mlflow", "pandas", "matplotlib", "scipy", "statsmodels"])
def test_experiments_stay_out_of_the_core(name: str) -> None:
    core = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    extra = PROJECT["optional-dependencies"]["experiments"]
    assert name not in core
    assert name in {Requirement(line).name for line in extra}


@pytest.mark.parametrize("name", ["Makefile", ".ci/run", "requirements/constraints.txt"])
def test_no_index_and_no_host_is_named(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"--(extra-)?index-url|--find-links|--trusted-host|--hash", text)


def test_the_makefile_documents_its_targets() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    phony = set(re.findall(r"^\.PHONY: (\S+)$", text, re.MULTILINE))
    documented = set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))
    assert phony == documented
    assert {"demo", "test", "lint", "types", "wheel", "bench", "clean", "help"} <= documented


def test_ci_is_an_executable_bash_script() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    assert "set -euo pipefail" in script.read_text("utf-8")
