"""Runs against a model on loopback: whatever ends a run, nothing is lost or paid twice."""

from __future__ import annotations

import json
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
import yaml

from stateauditor.experiments.benchmarks.synthetic import SEALED
from stateauditor.experiments.reports.tables import run_table
from stateauditor.experiments.results.summary import summary_of
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.loop import Progress
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.experiments.runs.runner import Finished, run
from stateauditor.experiments.runs.spec import RunSpec, load_spec
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Totals
from tests.experiments.pipeline import (
    pipeline,
    reply,
    role_of,
    roles,
    text_of,
    write_backend,
    write_config,
    write_scenarios,
)
from tests.support.loopback import Loopback, Reply, json_reply, loopback

# 3 probes: 3 drafts, 7 audit calls each, 1 judgment.
CALLS = 25


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(pipeline) as running:
        yield running


def spec(folder: Path, server: Loopback, count: int = 6, **settings: Any) -> RunSpec:
    """A config over ``count`` scenarios whose backend and judge is the server."""
    lm = {name: settings.pop(name) for name in ("retries", "price") if name in settings}
    backend = write_backend(folder / "loop.yaml", server, **lm)
    data = write_scenarios(folder / "data.json", count)
    defaults = {"data": {"path": str(data)}, "backend": str(backend), "judges": [str(backend)]}
    return load_spec(write_config(folder / "config.yaml", **(defaults | settings)))


def items(finished: Finished) -> dict[str, ItemRecord]:
    return {item.uid: item for item in finished.folder.items()}


def table(folder: RunFolder) -> str:
    return run_table(summary_of(folder))


def without_seconds(totals: Totals) -> Totals:
    return totals.model_copy(update={"seconds": 0.0})


# --- a run that nothing disturbs -------------------------------------------------------


def test_a_run_records_every_scenario_with_its_calls(tmp_path: Path, server: Loopback) -> None:
    traced = len(dspy.settings.trace)
    finished = run(spec(tmp_path, server), tmp_path / "run")
    assert finished.complete
    assert len(server.requests) == 6 * CALLS
    assert len(dspy.settings.trace) == traced, "no readout is kept once its scenario is done"
    assert finished.progress.spent.calls == 6 * CALLS
    record = items(finished)["u001"]
    assert record.probes["IPA"].draft == "Walk around Oldtown1 and enjoy the shops."
    assert record.probes["IPA"].response == "Walk around Newtown1 and enjoy the shops there."
    assert record.judgments["loop"].probes.keys() == {"SR", "PR", "IPA"}
    assert json.loads((tmp_path / "run" / "status.json").read_text()) == {
        "done": 6,
        "stopped": None,
        "total": 6,
    }


def test_judge_only_text_reaches_the_judge_and_nobody_else(
    tmp_path: Path, server: Loopback
) -> None:
    run(spec(tmp_path, server, 2, skeptic=True, semantic_gate=False), tmp_path / "run")
    told = {role_of(b) for b in server.requests if any(s in text_of(b) for s in SEALED)}
    assert told == {"StaleJudgment"}
    asked = [b for b in server.requests if role_of(b) == "StaleJudgment"]
    assert all(all(s in text_of(b) for s in SEALED) for b in asked)
    records = (tmp_path / "run" / "items.jsonl").read_text("utf-8")
    assert not any(sealed in records for sealed in SEALED)


def test_no_more_calls_are_in_flight_than_allowed(tmp_path: Path) -> None:
    arrived: list[float] = []

    def watched(body: dict[str, Any], number: int) -> Reply:
        arrived.append(time.monotonic())
        return reply(body, delay=0.1)

    with loopback(watched) as server:
        assert run(spec(tmp_path, server, 2, concurrency=3), tmp_path / "run").complete
    together = [sum(0 <= other - this < 0.1 for other in arrived) for this in arrived]
    assert max(together) == 3


def test_a_slow_disk_holds_up_no_call(
    tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, writing = RunFolder.append, threading.Lock()

    def slowly(folder: RunFolder, item: ItemRecord) -> None:
        assert threading.current_thread() is not threading.main_thread()  # the loop's
        assert writing.acquire(blocking=False), "two records at a time"
        time.sleep(0.05)
        append(folder, item)
        writing.release()

    monkeypatch.setattr(RunFolder, "append", slowly)
    finished = run(spec(tmp_path, server, concurrency=6), tmp_path / "run")
    assert finished.complete
    assert len(items(finished)) == 6


def test_the_frozen_list_and_the_data_are_on_record(tmp_path: Path, server: Loopback) -> None:
    finished = run(spec(tmp_path, server, 1), tmp_path / "run")
    manifest = finished.folder.manifest()
    assert manifest.data_name == "data.json"
    assert len(manifest.data_sha256) == 64
    assert manifest.versions["dspy"].startswith("3.")
    assert manifest.frozen_sha256 is None


# --- going on ---------------------------------------------------------------------------


def broken_off(whole: RunFolder, folder: Path, kept: int, torn: bytes = b"") -> RunFolder:
    """A copy of a run as a kill leaves it: some records, all responses, a torn line."""
    shutil.copytree(whole.path, folder)
    lines = (folder / "items.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "items.jsonl").write_bytes(b"".join(lines[:kept]) + torn)
    return RunFolder(folder)


@pytest.mark.parametrize(
    "torn", [b"", b'{"uid": "u00', b"\xff\xfe{"], ids=["whole", "torn", "bytes"]
)
def test_a_continued_run_is_that_of_an_undisturbed_one_to_the_byte(
    tmp_path: Path, server: Loopback, torn: bytes
) -> None:
    config = spec(tmp_path, server)
    whole = run(config, tmp_path / "whole").folder
    asked = len(server.requests)
    folder = broken_off(whole, tmp_path / "killed", 3, torn)
    finished = run(config, folder.path, resume=True)
    assert finished.complete
    assert len(server.requests) == asked, "all of it was recorded: nothing is paid for twice"
    assert table(folder) == table(whole)
    one, two = summary_of(folder), summary_of(whole)
    assert one.scores == two.scores
    assert without_seconds(one.cost.total) == without_seconds(two.cost.total)
    assert without_seconds(one.cost.usage.paid) == without_seconds(two.cost.total)


def test_a_continued_replay_is_that_of_an_undisturbed_one_to_the_byte(
    tmp_path: Path, server: Loopback
) -> None:
    config = spec(tmp_path, server)
    source = run(config, tmp_path / "source").folder.path
    whole = run(config, tmp_path / "whole", replay=source).folder
    folder = broken_off(whole, tmp_path / "killed", 3, b'{"uid": "u00')
    assert run(config, folder.path, resume=True, replay=source).complete
    assert table(folder) == table(whole)
    assert summary_of(folder) == summary_of(whole)


def test_one_prompt_has_one_answer_in_a_run(tmp_path: Path) -> None:
    # The three probes of these scenarios have the same readout, and so the same timeline prompt.
    def fickle(body: dict[str, Any], number: int) -> Reply:
        if role_of(body) != "TimelineConstruction":
            return reply(body)
        return json_reply({"reasoning": "r", "timeline": [{"attribute": f"answer {number}",
                           "status": "unchanged"}]}, delay=0.05)  # fmt: skip

    with loopback(fickle) as server:
        config = spec(tmp_path, server, 1)
        whole = items(run(config, tmp_path / "whole"))["u001"]
        again = items(run(config, tmp_path / "again", replay=tmp_path / "whole"))["u001"]
    timelines = [[p.result.timeline for p in i.probes.values() if p.result] for i in (whole, again)]
    assert timelines[0] == timelines[1]


def test_a_folder_is_never_run_over(tmp_path: Path, server: Loopback) -> None:
    config = spec(tmp_path, server, 1)
    run(config, tmp_path / "run")
    with pytest.raises(ConfigError, match="holds a run already; add --resume"):
        run(config, tmp_path / "run")
    other = config.model_copy(update={"seed": 7})
    with pytest.raises(ConfigError, match=r"other settings \(seed\)"):
        run(other, tmp_path / "run", resume=True)


def test_other_data_are_not_the_same_run(tmp_path: Path, server: Loopback) -> None:
    config = spec(tmp_path, server, 2)
    run(config, tmp_path / "run")
    write_scenarios(tmp_path / "data.json", 3)
    with pytest.raises(ConfigError, match="not those that the run began with"):
        run(config, tmp_path / "run", resume=True)


def test_an_interrupt_finishes_what_is_in_flight(tmp_path: Path, server: Loopback) -> None:
    config = spec(tmp_path, server, 8, concurrency=2)

    def interrupt(progress: Progress) -> None:
        if progress.done == 2 and progress.stopped is None:
            signal.raise_signal(signal.SIGINT)

    finished = run(config, tmp_path / "run", watch=interrupt)
    assert finished.progress.stopped == "interrupted"
    assert 2 <= finished.progress.done <= 4
    assert not finished.complete
    assert len(items(finished)) == finished.progress.done
    assert json.loads((tmp_path / "run" / "status.json").read_text())["stopped"] == "interrupted"
    assert run(config, tmp_path / "run", resume=True).complete
    assert len(server.requests) == 8 * CALLS


# --- replay -----------------------------------------------------------------------------


def test_a_run_replays_from_its_responses_when_the_server_is_gone(tmp_path: Path) -> None:
    with loopback(pipeline) as server:
        config = spec(tmp_path, server)
        whole = run(config, tmp_path / "whole").folder
    again = run(config, tmp_path / "again", replay=whole.path)
    assert again.progress.failed == 0
    assert table(again.folder) == table(whole)
    one, two = summary_of(again.folder), summary_of(whole)
    assert one.scores == two.scores
    assert without_seconds(one.cost.total) == without_seconds(two.cost.total)
    assert (one.cost.usage.paid.calls, two.cost.usage.cached.calls) == (0, 0)
    third = run(config, tmp_path / "third", replay=whole.path)
    assert table(third.folder) == table(again.folder)


@pytest.mark.parametrize("role", ["transition_proposal", "response_generation", "stale_judgment"])
def test_a_missing_response_fails_its_scenario_and_names_the_role(
    tmp_path: Path, server: Loopback, role: str
) -> None:
    marks = {
        "transition_proposal": "transitions",
        "response_generation": "Walk around Oldtown2 and",
        "stale_judgment": "It fits.",
    }
    config = spec(tmp_path, server, 3)
    whole = run(config, tmp_path / "whole").folder
    gone = next(p for p in sorted(whole.responses.rglob("*.json")) if marks[role] in p.read_text())
    gone.unlink()
    finished = run(config, tmp_path / "again", replay=whole.path)
    assert finished.progress.failed == 1
    (failed,) = [item for item in items(finished).values() if item.error is not None]
    assert failed.error is not None
    assert failed.error.startswith(f"{failed.uid}, ")
    assert f"no recorded response of openai/loop for {role}" in failed.error
    assert (failed.probes, failed.judgments) == ({}, {})
    assert failed.uid in finished.progress.failures[0]
    summary = summary_of(finished.folder)
    assert (summary.errors, summary.scores[0].table.errors) == (1, 3)


def test_only_a_run_can_be_replayed(tmp_path: Path, server: Loopback) -> None:
    with pytest.raises(ConfigError, match="is no run folder"):
        run(spec(tmp_path, server, 1), tmp_path / "run", replay=tmp_path)
    assert not (tmp_path / "run").exists()


# --- money ------------------------------------------------------------------------------


def test_the_cost_cap_stops_before_it_is_passed(tmp_path: Path, server: Loopback) -> None:
    one = run(spec(tmp_path, server, 1), tmp_path / "one").progress.spent.cost
    assert one is not None
    config = spec(tmp_path, server, 8, max_cost=one * 3.5)
    finished = run(config, tmp_path / "run")
    assert finished.progress.done == 3
    assert finished.progress.spent.cost is not None
    assert finished.progress.spent.cost <= one * 3.5
    assert "max_cost" in str(finished.progress.stopped)
    assert "max_cost" in json.loads((tmp_path / "run" / "status.json").read_text())["stopped"]
    more = config.model_copy(update={"max_cost": 100.0})
    assert run(more, tmp_path / "run", resume=True).complete


def test_what_a_replay_answers_costs_nothing(tmp_path: Path, server: Loopback) -> None:
    config = spec(tmp_path, server, 4, max_cost=100.0)
    whole = run(config, tmp_path / "whole").folder
    capped = config.model_copy(update={"max_cost": 1e-9})
    assert run(capped, tmp_path / "again", replay=whole.path).complete


def test_a_cap_without_a_price_stops_after_the_first_scenario(
    tmp_path: Path, server: Loopback
) -> None:
    finished = run(spec(tmp_path, server, 3, price=None, max_cost=1.0), tmp_path / "run")
    assert finished.progress.done == 1
    assert "give the LM a price" in str(finished.progress.stopped)


# --- trouble ----------------------------------------------------------------------------


def test_a_storm_of_refusals_loses_nothing(tmp_path: Path) -> None:
    def stormy(body: dict[str, Any], number: int) -> Reply:
        if number % 10 in (0, 4):
            return Reply("broken", status=500, headers={"retry-after": "0"})
        if number % 10 == 7:
            return Reply("slow down", status=429, headers={"retry-after": "0"})
        return reply(body)

    with loopback(stormy) as server:
        finished = run(spec(tmp_path, server, 6, retries=8), tmp_path / "run")
    summary = summary_of(finished.folder)
    assert (finished.progress.failed, summary.errors, summary.failed_open.hits) == (0, 0, 0)
    assert summary.cost.total.calls == 6 * CALLS


def test_a_scenario_that_fails_counts_apart_and_can_be_tried_again(tmp_path: Path) -> None:
    broken = True

    def script(body: dict[str, Any], number: int) -> Reply:
        asked = text_of(body)
        if broken and role_of(body) == "ResponseGeneration" and "Oldtown2." in asked:
            return Reply("broken", status=500)
        return reply(body)

    with loopback(script) as server:
        config = spec(tmp_path, server, 4)
        finished = run(config, tmp_path / "run")
        assert (finished.progress.done, finished.progress.failed) == (4, 1)
        record = items(finished)["u002"]
        assert "HTTP 500" in str(record.probes["SR"].error)
        assert record.probes["SR"].response is None
        assert record.judgments["loop"].error == "no reply for SR, PR, IPA"
        scores = summary_of(finished.folder).scores[0].table
        assert (scores.n, scores.errors) == (9, 3)
        broken = False
        assert run(config, tmp_path / "run", resume=True).progress.failed == 1
        assert run(config, tmp_path / "run", resume=True, retry_failed=True).progress.failed == 0
        assert summary_of(finished.folder).scores[0].table.errors == 0


# --- what runs share --------------------------------------------------------------------


def test_arms_share_drafts_and_base_audits(tmp_path: Path, server: Loopback) -> None:
    base = run(spec(tmp_path, server, 2, arm="predecessor"), tmp_path / "base").folder
    server.requests.clear()
    shared = {"drafts_from": str(base.path), "base_audit_from": str(base.path)}
    finished = run(spec(tmp_path, server, 2, arm="strict_vta", **shared), tmp_path / "strict")
    assert roles(server.requests) == {
        "TransitionProposal": 6,
        "ResponseAdaptation": 6,
        "StaleJudgment": 2,
    }
    old, new = ({i.uid: i for i in f.items()} for f in (base, finished.folder))
    for uid, record in new.items():
        for dimension, probe in record.probes.items():
            earlier = old[uid].probes[dimension]
            assert probe.draft == earlier.draft
            assert probe.result is not None
            assert earlier.result is not None
            assert probe.result.premises == earlier.result.premises


def test_a_scenario_without_a_shared_draft_fails_alone(tmp_path: Path, server: Loopback) -> None:
    base = run(spec(tmp_path, server, 1, arm="generator_only"), tmp_path / "base").folder
    finished = run(spec(tmp_path, server, 2, drafts_from=str(base.path)), tmp_path / "run")
    assert finished.progress.failed == 1
    assert items(finished)["u002"].probes["SR"].error == "no draft: none was given"


def test_the_slices_own_drafts_need_no_generator(tmp_path: Path) -> None:
    settings = {
        "data": {"set": "stale_mini", "part": "both", "limit": 1},
        "backend": "offline",
        "drafts": "stale_drafts",
        "judges": ["key"],
    }
    finished = run(load_spec(write_config(tmp_path / "c.yaml", **settings)), tmp_path / "run")
    conflict, control = finished.folder.items()
    assert {conflict.control, control.control} == {True, False}
    drafts = [{d: p.draft for d, p in item.probes.items()} for item in (conflict, control)]
    assert drafts[0] == drafts[1]
    assert all(probe.key is not None for probe in conflict.probes.values())
    assert summary_of(finished.folder).key is not None
    loaded = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text("utf-8"))
    assert loaded["drafts"] == "stale_drafts"
