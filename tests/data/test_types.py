"""A leak is a type error: a checker refuses code that hands on what is the judge's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LEAKS = """
from stateauditor.data.scenario import BenchmarkItem, JudgeKey, Scenario

def program(scenario: Scenario, question: str) -> None: ...
def judge(key: JudgeKey) -> None: ...

def run(item: BenchmarkItem) -> None:
    program(item.scenario, item.scenario.probes.ipa)
    judge(item.judge)
    program(item, item.scenario.probes.ipa)  # leak
    program(item.scenario, item.judge.m_new)  # leak
    program(item.judge, "x")  # leak
    "prompt: " + item.judge.explanation  # leak
    "".join([item.judge.m_old])  # leak
    item.scenario.judge  # leak
    item.scenario.type  # leak
    item.scenario.oracle  # leak
    text: str = item.oracle  # leak
"""


def test_every_leak_is_a_type_error_and_nothing_else_is(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    package = tmp_path / "stateauditor"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("__init__.py", "scenario.py", "sealed.py"):
        shutil.copy(ROOT / "data" / name, package / "data" / name)
    (tmp_path / "leaks.py").write_text(LEAKS)
    options = ["--no-incremental", "--follow-imports=silent", "--hide-error-context"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--config-file", os.devnull, "leaks.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    reported = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    expected = {n for n, line in enumerate(LEAKS.splitlines(), start=1) if "# leak" in line}
    assert reported == expected, done.stdout + done.stderr
