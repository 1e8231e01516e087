"""The three commands: compile, evaluate on what was held back, see what changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from stateauditor.cli.compile import describe
from stateauditor.experiments.compile.compiler import CompileProgress
from tests.experiments.compile import learner
from tests.stateauditor.cli.conftest import Run
from tests.support.loopback import Loopback, loopback


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with pytest.MonkeyPatch.context() as patch, loopback(learner.answer) as found:
        patch.setenv("LEARNER_API_KEY", learner.KEY)
        yield found


@pytest.fixture
def config(tmp_path: Path, server: Loopback) -> Path:
    backend = learner.backend_file(tmp_path / "b.yaml", server, teacher="teacher")
    return learner.config(tmp_path / "c.yaml", backend, learner.BOOTSTRAP)


def test_compile_then_evaluate_on_held_back_ids_then_see_what_changed(
    run: Run, tmp_path: Path, config: Path
) -> None:
    pytest.importorskip("statsmodels")
    out = tmp_path / "compiled"
    done = run("compile", config, "--out", out)
    assert done.status == 0, done.err
    assert "compiled 1.000 1.000 to 1.000 1 0 of 3" in " ".join(done.out.split())
    assert "no Stale accuracy" in done.out
    assert "changed: lean_audit" in done.out
    assert "measuring the compiled prompts" in done.err

    backend = str(tmp_path / "b.yaml")
    data = {"set": "stale_mini", "frozen": "stale_mini_dev", "held_back": True, "limit": 4}
    evaluated = {
        "data": data,
        "arm": "lean",
        "backend": backend,
        "drafts": "stale_drafts",
        "judges": ["key"],
        "draws": 200,
        "tracking": False,
    }
    for name, settings in {"with": {"compiled": str(out)}, "without": {}}.items():
        whole = evaluated | settings
        if name == "without":
            whole["data"] = {k: v for k, v in data.items() if k != "held_back"}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(whole), "utf-8")
    held = run("evaluate", tmp_path / "with.yaml", "--out", tmp_path / "r1", "--json")
    assert held.status == 0, held.err
    summary = held.json()["summary"]
    assert summary["scenarios"] == 4
    assert summary["key"]["verified_recall"]["value"] == 1.0
    assert "compiled prompts: compiled" in summary["labels"]
    plain = run("evaluate", tmp_path / "without.yaml", "--out", tmp_path / "r2", "--json")
    assert plain.json()["summary"]["key"]["verified_recall"]["value"] == 0.0

    shown = run("prompts", "show", "--compiled", out, "--role", "lean_audit", "--diff")
    assert shown.status == 0, shown.err
    assert "+--- assistant ---" in shown.out
    changed = [line for line in shown.out.splitlines() if line.startswith("-")]
    assert changed == [], "a demonstration only adds"


def test_evaluating_on_training_ids_is_refused_unless_allowed(
    run: Run, tmp_path: Path, config: Path
) -> None:
    pytest.importorskip("statsmodels")
    out = tmp_path / "compiled"
    assert run("compile", config, "--out", out).status == 0
    evaluated = {
        "data": {"set": "stale_mini", "limit": 3},
        "arm": "lean",
        "drafts": "stale_drafts",
        "judges": ["key"],
        "draws": 200,
        "tracking": False,
    }
    path = tmp_path / "e.yaml"
    path.write_text(yaml.safe_dump(evaluated), "utf-8")
    using = ("--compiled", out)
    refused = run("evaluate", path, *using, "--out", tmp_path / "r")
    assert refused.status == 2
    assert learner.IDS[0] in refused.err
    assert "--allow-train" in refused.err
    assert not (tmp_path / "r").exists()
    allowed = run("evaluate", path, *using, "--allow-train", "--out", tmp_path / "r", "--json")
    assert allowed.status == 0, allowed.err
    assert "contains training ids" in allowed.json()["summary"]["labels"]
    assert "contains training ids" in (tmp_path / "r" / "table.md").read_text("utf-8")


def test_a_result_as_json(run: Run, tmp_path: Path, config: Path) -> None:
    done = run("compile", config, "--out", tmp_path / "out", "--json", "--set", "draws=100")
    assert done.json()["after"]["score"]["estimate"] == 1.0
    assert done.json()["folder"] == str(tmp_path / "out")


def test_stopping_early_says_what_is_kept_and_how_to_go_on(
    run: Run, tmp_path: Path, config: Path
) -> None:
    done = run("compile", config, "--out", tmp_path / "out", "--set", "max_cost=0.000001")
    assert done.status == 1
    assert "stopped early (the next audit could pass max_cost" in done.err
    assert "nothing better had been found" in done.err
    assert f"go on with: stateauditor compile {tmp_path}/out/config.yaml" in done.err
    assert "compiled not measured" in " ".join(done.out.split())


def test_an_interrupt_keeps_and_ends_with_130(
    run: Run, tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stateauditor.experiments.compile.compiler.optimize", interrupted)
    done = run("compile", config, "--out", tmp_path / "out")
    assert done.status == 130
    assert "stopped early (interrupted)" in done.err
    assert (tmp_path / "out" / "compiled.json").exists()


def test_failures_and_lower_scores_are_said(run: Run, tmp_path: Path, config: Path) -> None:
    settings = ("--set", "weights.judge=1", "--set", "max_errors=99")
    text = config.read_text("utf-8").replace(str(tmp_path / "b.yaml"), str(tmp_path / "down.yaml"))
    config.write_text(text, "utf-8")
    backend = yaml.safe_load((tmp_path / "b.yaml").read_text("utf-8"))
    for lm in backend["lms"].values():
        lm["api_base"] = "http://127.0.0.1:9/v1"
    (tmp_path / "down.yaml").write_text(yaml.safe_dump(backend), "utf-8")
    done = run("compile", config, "--out", tmp_path / "out", *settings)
    assert done.status == 0
    assert "audit(s) failed and count apart; the first: lean_audit" in done.err
    assert "built-in    –" in done.out


def test_mistakes_are_one_message_and_status_2(run: Run, tmp_path: Path) -> None:
    for arguments in (("missing.yaml",), ("bootstrap_lean", "--set", "data.frozen=nope")):
        done = run("compile", *arguments, "--out", tmp_path / "o")
        assert done.status == 2
        assert done.err.startswith("error: ")
        assert "Traceback" not in done.err


def test_tracking_trouble_is_a_note(
    run: Run, tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "stateauditor.experiments.compile.logged.track_compile", lambda *_: "no such server"
    )
    done = run("compile", config, "--out", tmp_path / "out", "--set", "tracking=true")
    assert done.status == 0
    assert "note: not tracked in MLflow: no such server" in done.err


def test_progress_in_one_line() -> None:
    state = CompileProgress("optimizing", 1234, 2, 3, 0.5, None)
    line = describe(state)
    assert line == "optimizing · 1,234 audits · 2 failed · 3 candidates · best 0.500 · cost unknown"


def test_compiled_prompts_serve_single_audits(run: Run, tmp_path: Path, config: Path) -> None:
    out = tmp_path / "compiled"
    assert run("compile", config, "--out", out).status == 0
    memory = [{"timestamp": "2024-01-05", "text": "I live in Seattle."}]
    path = tmp_path / "i.json"
    path.write_text(json.dumps({"memory": memory, "question": "q?", "draft": "d"}), "utf-8")
    assert run("audit", path, "--variant", "lean", "--compiled", out).status == 0
    missing = run("audit", path, "--compiled", tmp_path)
    assert missing.status == 2
    assert "holds no compiled prompts" in missing.err
