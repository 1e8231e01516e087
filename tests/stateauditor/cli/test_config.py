"""``stateauditor config check``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.stateauditor.cli.conftest import Run

Write = Callable[[str, Any], Path]


def test_a_right_file_says_who_answers_what(run: Run) -> None:
    done = run("config", "check", "openai")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].endswith("openai.yaml: ok")
    assert "  generator  small: openai/gpt-5.4-mini" in lines
    assert "  key variable OPENAI_API_KEY: not set" in lines


def test_all_problems_come_at_once_with_their_paths(run: Run, write: Write) -> None:
    text = """
name: mine
lms:
  strong:
    modle: openai/x
    temperature: 9
roles:
  auditor: weak
colour: red
"""
    path = write("mine.yaml", text)
    done = run("config", "check", path)
    assert done.status == 2
    assert done.out == ""
    for part in (
        f"{path}: 5 problem(s)",
        "lms.strong.model: Field required",
        "lms.strong.modle: unknown key; did you mean 'model'?",
        "lms.strong.temperature",
        "colour: unknown key",
        "roles.auditor: no LM is named 'weak'",
    ):
        assert part in done.err


def test_files_that_cannot_be_read(run: Run, write: Write) -> None:
    assert "there is no such backend file" in run("config", "check", "gone.yaml").err
    assert "not valid YAML" in run("config", "check", write("x.yaml", "a: [")).err
