"""Compiling for the right reason: the score rises because the prompt says more, and it is saved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import dspy
import pytest
import yaml

from stateauditor import StateAuditor
from stateauditor.experiments.compile import compiler
from stateauditor.experiments.compile.compiler import Compiled, compile_prompts
from stateauditor.experiments.compile.folder import scrubbed
from stateauditor.experiments.compile.spec import load_compile_spec
from stateauditor.program.roles.compiled import read_index
from stateauditor.signatures.errors import BackendError, ConfigError
from tests.experiments.compile import learner
from tests.experiments.compile.conftest import Made, make
from tests.experiments.compile.learner import BOOTSTRAP, GEPA, LESSON
from tests.support.loopback import Loopback, Reply, loopback


def compiled(
    tmp_path: Path, server: Loopback, optimizer: dict[str, Any], **settings: Any
) -> Compiled:
    return make(tmp_path, server, optimizer, **settings).done


def state(done: Compiled, role: str = "lean_audit") -> dict[str, Any]:
    text = (done.folder.path / "roles" / f"{role}.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)["audit"]
    return found


def rose(done: Compiled) -> None:
    """From nothing to everything on the validation part, with intervals."""
    result = done.result
    assert result.before is not None
    assert result.after is not None
    assert result.difference is not None
    assert result.before.score.estimate == 0.0
    assert result.after.score.estimate == 1.0
    assert result.difference.low == 1.0
    assert result.stopped is None
    assert result.changed == ("lean_audit",)
    assert result.failed_audits == 0


# --- each optimizer ---------------------------------------------------------------------


def test_bootstrapping_raises_the_score_by_the_demonstrations_that_it_saves(
    bootstrapped: Made,
) -> None:
    done = bootstrapped.done
    rose(done)
    demos = state(done)["demos"]
    assert len(demos) == 1
    assert demos[0]["augmented"] is True
    assert demos[0]["readout"].startswith("E01 [")
    assert state(done)["signature"]["instructions"].startswith("Audit a drafted reply")
    taught = [body for body in bootstrapped.requests if body["model"].endswith("teacher")]
    assert taught, "the teacher of the backend file made the demonstration"
    final = bootstrapped.requests[-1]
    quote = demos[0]["transitions"][0]["new_quote"]
    said = [m["content"] for m in final["messages"] if m["role"] == "assistant"]
    assert quote[:40] in said[0], "the prompt that scored holds the demonstration"


def test_random_search_tries_several_sets(tmp_path: Path, server: Loopback) -> None:
    optimizer = {
        "name": "bootstrap_random_search",
        "max_bootstrapped_demos": 1,
        "num_candidate_programs": 1,
    }
    done = compiled(tmp_path, server, optimizer)
    rose(done)
    assert state(done)["demos"]
    assert done.result.candidates >= 2


def test_gepa_raises_the_score_by_the_instruction_that_it_saves(reflected: Made) -> None:
    done = reflected.done
    rose(done)
    assert state(done)["demos"] == []
    assert LESSON in state(done)["signature"]["instructions"]
    assert LESSON in reflected.requests[-1]["messages"][0]["content"]


def test_feedback_names_the_change_of_training_items_only(reflected: Made) -> None:
    done = reflected.done
    written = [body for body in reflected.requests if body["model"].endswith("writer")]
    said = json.dumps([body["messages"] for body in written], ensure_ascii=False)
    parts = json.loads((done.folder.path / "data.json").read_text("utf-8"))
    revealed = {uid: f"'{gold['old_value']}' -> '{gold['new_value']}'" for uid, gold in by_uid()}
    assert any(revealed[uid] in said for uid in parts["train"])
    assert not any(revealed[uid] in said for uid in parts["validation"])


def by_uid() -> list[tuple[str, dict[str, Any]]]:
    from stateauditor.data.slices import load_slice

    uids = list(load_slice("stale_mini").keys)
    return [(uid, change) for uid, (_, _, change) in zip(uids, learner.golds(), strict=True)]


def test_simba_learns_from_the_probes_where_audits_vary(tmp_path: Path, server: Loopback) -> None:
    optimizer = {"name": "simba", "bsize": 3, "num_candidates": 2, "max_steps": 1}
    done = compiled(tmp_path, server, optimizer, concurrency=1)
    rose(done)
    said = state(done)
    assert said["demos"] or LESSON in said["signature"]["instructions"]
    assert said["lm"] is None, "a sampled LM never stays in a predictor"


def test_mipro_tries_instructions_and_demonstrations_together(
    tmp_path: Path, server: Loopback
) -> None:
    pytest.importorskip("optuna")
    optimizer = {
        "name": "mipro_v2",
        "num_candidates": 2,
        "num_trials": 2,
        "max_bootstrapped_demos": 1,
    }
    rose(compiled(tmp_path, server, optimizer))


def test_the_whole_program_compiles_with_every_role_in_a_file_of_its_own(
    tmp_path: Path, server: Loopback
) -> None:
    done = compiled(tmp_path, server, BOOTSTRAP, policy="repair_only")
    files = sorted(path.name for path in (done.folder.path / "roles").iterdir())
    assert files == ["lean_audit.json", "response_adaptation.json"]
    assert done.result.changed == ("lean_audit", "response_adaptation")


def test_a_single_role_leaves_the_others_alone(tmp_path: Path, server: Loopback) -> None:
    done = compiled(tmp_path, server, BOOTSTRAP, policy="repair_only", role="lean_audit")
    assert read_index(done.folder.path).roles == ("lean_audit",)


# --- going on, stopping -----------------------------------------------------------------


def test_gepa_goes_on_from_its_log_folder_and_not_from_zero(
    tmp_path: Path, reflected: Made, server: Loopback
) -> None:
    folder = copied(reflected, tmp_path)
    shutil.rmtree(folder / "work" / "responses")  # nothing but GEPA's own log is left
    spec = load_compile_spec(folder / "config.yaml")
    again = compile_prompts(spec, folder, resume=True)
    assert again.result.after is not None
    assert again.result.after.score.estimate == 1.0
    assert not any(body["model"].endswith("writer") for body in server.requests)
    # Built-in prompts (by GEPA once more) and the result are measured; nothing is searched.
    assert len(server.requests) == 9 < len(reflected.requests)
    assert state(again) == state(reflected.done)


def copied(made: Made, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made.folder, tmp_path / "copy"))


def test_any_compile_goes_on_without_paying_twice(
    tmp_path: Path, bootstrapped: Made, server: Loopback
) -> None:
    spec = bootstrapped.done.folder.spec()
    rose(compile_prompts(spec, copied(bootstrapped, tmp_path), resume=True))
    assert server.requests == []


def test_a_folder_is_neither_overwritten_nor_continued_by_another_compile(
    tmp_path: Path, bootstrapped: Made
) -> None:
    folder, spec = copied(bootstrapped, tmp_path), bootstrapped.done.folder.spec()
    with pytest.raises(ConfigError, match="holds a compile already; add --resume"):
        compile_prompts(spec, folder)
    other = spec.model_copy(update={"seed": 1})
    with pytest.raises(ConfigError, match=r"other settings \(seed\)"):
        compile_prompts(other, folder, resume=True)
    (folder / "data.json").write_text("{}", "utf-8")
    with pytest.raises(ConfigError, match="the data are not those"):
        compile_prompts(spec, folder, resume=True)
    with pytest.raises(ConfigError, match="is not empty and holds no compile"):
        compile_prompts(spec, tmp_path)


def test_the_cost_cap_stops_in_time_and_keeps_the_best_so_far(
    tmp_path: Path, reflected: Made, server: Loopback
) -> None:
    free = reflected.done
    assert free.result.paid_cost is not None
    cap = round(0.9 * free.result.paid_cost, 6)
    spec = free.folder.spec().model_copy(update={"max_cost": cap})
    done = compile_prompts(spec, tmp_path / "capped")
    assert done.result.stopped == f"the next audit could pass max_cost = {cap}"
    assert done.result.paid_cost is not None
    assert done.result.paid_cost <= cap
    assert LESSON in state(done)["signature"]["instructions"]
    assert done.result.after is not None, "its score was known already"


def test_a_cap_without_prices_stops_at_once(tmp_path: Path, server: Loopback) -> None:
    backend = learner.backend_file(tmp_path / "b.yaml", server)
    data = yaml.safe_load(backend.read_text("utf-8"))
    for lm in data["lms"].values():
        del lm["price"]
    backend.write_text(yaml.safe_dump(data), "utf-8")
    path = learner.config(tmp_path / "c.yaml", backend, BOOTSTRAP, max_cost=1, concurrency=1)
    done = compile_prompts(load_compile_spec(path), tmp_path / "out")
    assert done.result.stopped is not None
    assert "max_cost needs the cost of every call" in done.result.stopped
    assert done.result.before is None
    assert done.result.changed == ()


def test_an_interrupt_keeps_the_best_so_far(
    tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = compiler.optimize

    def interrupted(settings: Any, job: Any) -> Any:
        real(settings, job)
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler, "optimize", interrupted)
    done = compiled(tmp_path, server, GEPA)
    assert done.result.stopped == "interrupted"
    assert LESSON in state(done)["signature"]["instructions"]


def test_an_interrupt_before_anything_was_tried_keeps_the_built_in_prompts(
    tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler, "measure", interrupted)
    done = compiled(tmp_path, server, BOOTSTRAP)
    assert (done.result.stopped, done.result.changed) == ("interrupted", ())
    assert done.result.before is None


def test_an_optimizer_that_breaks_keeps_what_it_had(
    tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = compiler.optimize

    def broken(settings: Any, job: Any) -> Any:
        real(settings, job)
        raise RuntimeError("quoting memory text")

    monkeypatch.setattr(compiler, "optimize", broken)
    done = compiled(tmp_path, server, GEPA)
    assert done.result.stopped == "gepa broke: RuntimeError"
    assert done.result.changed == ("lean_audit",)

    def at_once(settings: Any, job: Any) -> Any:
        raise RuntimeError("x")

    monkeypatch.setattr(compiler, "optimize", at_once)
    with pytest.raises(BackendError, match=r"bootstrap_few_shot broke: RuntimeError; see .*log"):
        compile_prompts(
            load_compile_spec(learner.config(tmp_path / "d.yaml", tmp_path / "b.yaml", BOOTSTRAP)),
            tmp_path / "other",
        )


def test_failed_audits_count_apart_and_too_many_end_the_compile(
    tmp_path: Path, serving: Loopback
) -> None:
    with loopback([Reply(status=500)]) as broken:
        done = compiled(tmp_path, broken, BOOTSTRAP, max_errors=2, concurrency=1)
    assert done.result.stopped is not None
    assert done.result.stopped.startswith("3 audits failed, more than max_errors = 2; the first: ")
    assert "lean_audit" in done.result.stopped
    assert done.result.failed_audits == 3
    assert done.result.first_failure is not None
    assert learner.KEY not in done.result.first_failure


def test_a_failed_audit_is_no_right_answer_on_a_control(tmp_path: Path, serving: Loopback) -> None:
    data = {"set": "stale_mini", "frozen": "stale_mini_dev", "limit": 2}
    with loopback([Reply(status=500)]) as broken:
        done = compiled(tmp_path, broken, BOOTSTRAP, max_errors=99, data=data)
    before = done.result.before
    assert before is not None
    assert (before.failed, before.probes, before.score.estimate) == (6, 6, None)


# --- the folder -------------------------------------------------------------------------


def test_neither_key_nor_address_stands_in_the_folder(reflected: Made, serving: Loopback) -> None:
    address = serving.base.removeprefix("http://")
    checked = 0
    for path in reflected.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert learner.KEY.encode() not in content, path
            assert address.encode() not in content, path
            checked += 1
    assert checked > 6
    assert any(learner.KEY in value for value in reflected.headers[0].values()), "it was sent"


def test_what_is_written_down_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret-value-1")
    text = scrubbed("calling https://host.example:8000/v1 with secret-value-1: 3://4 ok")
    assert text == "calling <address> with ***: 3://4 ok"


def test_the_folder_says_what_was_compiled_on_and_what_was_tried(bootstrapped: Made) -> None:
    done, folder = bootstrapped.done, bootstrapped.folder
    data = json.loads((folder / "data.json").read_text("utf-8"))
    assert set(read_index(folder).trained_on) == {*data["train"], *data["validation"]}
    assert data["frozen"] == "stale_mini_dev"
    assert not set(data["train"]) & set(data["validation"])
    tried = json.loads((folder / "candidates.json").read_text("utf-8"))
    assert [c["baseline"] for c in tried] == [True, False]
    assert [c["chosen"] for c in tried] == [False, True]
    assert tried[1]["demonstrations"] == {"lean_audit.audit": 1}
    result = done.folder.result()
    assert result == done.result
    assert result.versions["dspy"] == dspy.__version__


def test_compiled_prompts_say_the_same_before_saving_and_after_loading(
    bootstrapped: Made, server: Loopback
) -> None:
    before = bootstrapped.requests[-1]["messages"][:3]
    auditor = StateAuditor(
        bootstrapped.backend, compiled=bootstrapped.folder, variant="lean", policy="observe"
    )
    memory = [{"timestamp": "2024-01-05", "text": "I live in Seattle, near the ferry."}]
    auditor.audit(memory, "What now?", "Take the ferry.")
    assert server.requests[0]["messages"][:3] == before


def test_nothing_of_dspy_is_configured_afterwards(tmp_path: Path, server: Loopback) -> None:
    before = (dspy.settings.lm, dspy.settings.adapter, dspy.settings.trace)
    compiled(tmp_path, server, BOOTSTRAP)
    assert (dspy.settings.lm, dspy.settings.adapter, dspy.settings.trace) == before


# --- who answers ------------------------------------------------------------------------


def test_an_optimizer_that_writes_needs_an_lm(tmp_path: Path) -> None:
    path = learner.config(tmp_path / "c.yaml", "offline", GEPA)
    with pytest.raises(ConfigError, match=r"gepa needs an LM that writes.*roles\.prompt"):
        compile_prompts(load_compile_spec(path), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_mini_batch_larger_than_the_training_part_is_refused(
    tmp_path: Path, server: Loopback
) -> None:
    with pytest.raises(ConfigError, match=r"bsize is 99, but there are only 3"):
        compiled(tmp_path, server, {"name": "simba", "bsize": 99})


def test_a_judge_scores_replies_to_conflicts_only(tmp_path: Path, server: Loopback) -> None:
    verdict = {"reason": "r", "passed": True, "grounded": True}
    answer = {"reasoning": "r", "sr": verdict, "pr": verdict, "ipa": verdict}
    with loopback([Reply(json.dumps(answer))]) as judging:
        file = learner.backend_file(tmp_path / "judge.yaml", judging)
        data = {"set": "stale_mini", "frozen": "stale_mini_dev", "limit": 2}
        done = compiled(tmp_path, server, BOOTSTRAP, judge=str(file), data=data)
        asked = [body["messages"][-1]["content"] for body in judging.requests]
    assert done.result.after is not None
    assert asked
    conflicts = {case.item.judge.m_new.reveal()[:40] for case in parts_of(done)}
    assert all(any(new in text for new in conflicts) for text in asked)


def parts_of(done: Compiled) -> list[Any]:
    from stateauditor.experiments.compile.parts import load_parts

    cases = load_parts(done.folder.spec()).cases.values()
    return [case for case in cases if not case.gold.control]
