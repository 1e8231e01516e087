"""``stateauditor doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateauditor.cli import doctor
from tests.stateauditor.cli.conftest import Run

SECRET = "sk-this-must-never-be-shown"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STATEAUDITOR_CACHE", str(tmp_path))
    return tmp_path


def test_a_sound_installation(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    done = run("doctor")
    assert done.status == 0
    assert "All is well." in done.out
    assert "4 worked examples came out right" in done.out
    assert SECRET not in done.out


def test_json_lists_every_check(run: Run) -> None:
    report = run("doctor", "--json").json()
    assert report["ok"] is True
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["Python"]["ok"] is True
    assert checks["OPENAI_API_KEY"] == {"name": "OPENAI_API_KEY", "ok": None, "detail": "not set"}
    assert checks["dspy"]["detail"].startswith("3.4.")


def test_a_missing_package_is_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("no-such-package",))
    done = run("doctor")
    assert done.status == 1
    assert "FAIL  no-such-package" in done.out
    assert "Something is broken" in done.out


def test_a_wrong_self_test_is_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [doctor.WORKED_EXAMPLES[2].__class__("control", "t", repaired=True)]
    monkeypatch.setattr(doctor, "WORKED_EXAMPLES", wrong)
    assert "the example 'control' came out wrong" in run("doctor").out


def test_a_crashing_self_test_is_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*arguments: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("stateauditor.program.auditor.StateAuditor.audit", crash)
    done = run("doctor")
    assert done.status == 1
    assert "RuntimeError: no" in done.out


def test_a_cache_folder_that_is_a_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("STATEAUDITOR_CACHE", str(file / "responses"))
    done = run("doctor")
    assert done.status == 1
    assert "not writable; set STATEAUDITOR_CACHE" in " ".join(done.out.split())


def test_nothing_is_created(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STATEAUDITOR_CACHE", str(tmp_path / "new"))
    assert run("doctor").status == 0
    assert not (tmp_path / "new").exists()
