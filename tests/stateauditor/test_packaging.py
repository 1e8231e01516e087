"""What the wheel is made of, and what tools see of the mapped parts in a plain checkout."""

from __future__ import annotations

import os
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("signatures", "program", "metrics", "data", "experiments")


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [Path(line) for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def test_every_folder_with_code_is_a_package_of_the_wheel() -> None:
    packages = set(runpy.run_path(str(ROOT / "setup.py"))["packages"]())
    folders = {path.parent for path in tracked("*.py") if path.parts[0] in (*PARTS, "stateauditor")}
    names = {
        ".".join(f.parts) if f.parts[0] == "stateauditor" else ".".join(("stateauditor", *f.parts))
        for f in folders
    }
    assert names - {"stateauditor.experiments.benchmarks"} == packages


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_linked_where_editors_and_type_checkers_look_for_it(part: str) -> None:
    link = ROOT / "stateauditor" / part
    if not link.is_symlink():
        pytest.skip("this checkout has no links")
    assert os.readlink(link) == f"../{part}"
    assert (link / "__init__.py").samefile(ROOT / part / "__init__.py")
