"""``stateauditor evaluate`` as a process: killed, interrupted, capped, replayed."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stateauditor.cli.run_progress import RunDisplay, describe
from stateauditor.experiments.runs.loop import Progress
from stateauditor.signatures.models import Totals
from tests.experiments.pipeline import (
    pipeline,
    reply,
    write_backend,
    write_config,
    write_scenarios,
)
from tests.stateauditor.cli.conftest import Run
from tests.support.loopback import Loopback, Reply, loopback

PROGRAM = Path(sysconfig.get_path("scripts")) / "stateauditor"
COUNT = 8


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(pipeline) as running:
        yield running


def slow(body: dict[str, Any], number: int) -> Reply:
    return reply(body, delay=0.02)


def config(folder: Path, server: Loopback, **settings: Any) -> Path:
    backend = write_backend(folder / "loop.yaml", server)
    data = write_scenarios(folder / "data.json", COUNT)
    defaults = {"data": {"path": str(data)}, "backend": str(backend), "judges": [str(backend)]}
    return write_config(folder / "c.yaml", **(defaults | {"concurrency": 2} | settings))


def started(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [str(PROGRAM), "evaluate", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} never had {count} lines")


def totals(folder: Path) -> dict[str, Any]:
    total: dict[str, Any] = json.loads((folder / "summary.json").read_text())["cost"]["total"]
    return {name: value for name, value in total.items() if name != "seconds"}


def test_a_run_leaves_its_folder_and_prints_its_table(
    run: Run, tmp_path: Path, server: Loopback
) -> None:
    out = tmp_path / "run"
    done = run("evaluate", config(tmp_path, server), "--out", out, "--limit", "3")
    assert done.status == 0
    assert {path.name for path in out.iterdir()} == {
        "config.yaml",
        "items.jsonl",
        "manifest.json",
        "plots",
        "report.html",
        "responses",
        "status.json",
        "summary.json",
        "table.md",
    }
    assert done.out.startswith("# c\n")
    assert (out / "table.md").read_text("utf-8").strip() in done.out
    assert done.out.rstrip().endswith(f"report: {out / 'report.html'}")
    assert "3/3 scenarios · 0 failed · 75 calls" in done.err
    assert "limit: 3" in (out / "config.yaml").read_text()


def test_a_killed_run_continues_to_the_table_of_an_undisturbed_one(
    run: Run, tmp_path: Path
) -> None:
    with loopback(slow) as server:
        file = config(tmp_path, server)
        assert run("evaluate", file, "--out", tmp_path / "whole").status == 0
        killed = started(file, "--out", tmp_path / "killed")
        wait_for_lines(tmp_path / "killed" / "items.jsonl", COUNT // 2)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        kept = (tmp_path / "killed" / "items.jsonl").read_bytes()
        assert COUNT // 2 <= kept.count(b"\n") < COUNT
        with (tmp_path / "killed" / "items.jsonl").open("ab") as items:
            items.write(b'{"uid": "u00')  # as if the kill had torn a line
        done = run("evaluate", file, "--out", tmp_path / "killed", "--resume")
    assert done.status == 0
    tables = [(tmp_path / name / "table.md").read_text("utf-8") for name in ("whole", "killed")]
    assert tables[1] == tables[0]
    assert totals(tmp_path / "killed") == totals(tmp_path / "whole")
    # From the recorded responses, with the server gone: the same to the byte, killed or not.
    for name in ("once", "twice"):
        again = run("evaluate", file, "--replay", tmp_path / "killed", "--out", tmp_path / name)
        assert again.status == 0
    replayed = [(tmp_path / name / "table.md").read_bytes() for name in ("once", "twice")]
    assert replayed[0] == replayed[1]
    assert replayed[0].decode() == tables[0]


def test_an_interrupt_says_how_to_go_on_and_that_works(run: Run, tmp_path: Path) -> None:
    with loopback(slow) as server:
        file = config(tmp_path, server)
        running = started(file, "--out", tmp_path / "run", "--set", "seed=7")
        wait_for_lines(tmp_path / "run" / "items.jsonl", 2)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
        assert running.returncode == 1
        assert "Traceback" not in err
        assert "stopping (interrupted)" in err
        assert re.search(r"stopped after \d of 8 scenarios: interrupted", err)
        assert out.startswith("# c\n"), "what there is so far is reported"
        command = err.rpartition("go on with: ")[2].strip()
        done = run(*shlex.split(command)[1:])
    assert done.status == 0
    assert "8/8 scenarios" in done.err


def test_the_cost_cap_ends_with_status_1(run: Run, tmp_path: Path, server: Loopback) -> None:
    file = config(tmp_path, server)
    first = run("evaluate", file, "--out", tmp_path / "one", "--limit", "1", "--json").json()
    cost = first["summary"]["cost"]["total"]["cost"]
    capped = ("evaluate", file, "--out", tmp_path / "run", "--set", f"max_cost={cost * 2.5}")
    done = run(*capped, "--json")
    assert done.status == 1
    assert (done.json()["done"], done.json()["complete"]) == (2, False)
    assert "max_cost" in done.json()["stopped"]
    assert done.json()["summary"]["cost"]["total"]["cost"] <= cost * 2.5
    assert "max_cost" in done.err
    assert "go on with: stateauditor evaluate" in done.err


def test_a_missing_response_is_said(run: Run, tmp_path: Path, server: Loopback) -> None:
    file = config(tmp_path, server)
    assert run("evaluate", file, "--out", tmp_path / "whole", "--limit", "2").status == 0
    responses = sorted((tmp_path / "whole" / "responses").rglob("*.json"))
    next(path for path in responses if "transitions" in path.read_text()).unlink()
    again = ("--replay", tmp_path / "whole", "--out", tmp_path / "again", "--limit", "2")
    done = run("evaluate", file, *again)
    assert done.status == 0
    assert "1 scenario(s) failed and count apart" in done.err
    assert "no recorded response of openai/loop for transition_proposal" in done.err
    assert re.search(r"u00[12], (SR|PR|IPA): no recorded response", done.err)
    assert "1 error(s), counted apart" in done.out


def test_a_tracking_failure_is_reported_and_fails_nothing(
    run: Run, tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'no' / 'such' / 'x.db'}")
    (tmp_path / "no").write_text("a file where a folder should be")
    file = config(tmp_path, server, tracking=True)
    done = run("evaluate", file, "--out", tmp_path / "run", "--limit", "1")
    assert done.status == 0
    assert "not tracked in MLflow: " in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.yaml",), "there is no such config; shipped ones: control, "),
        (("stale_mini_offline", "--set", "armm=lean"), "unknown key; did you mean 'arm'?"),
        (("stale_mini_offline", "--set", "seed"), "expected key=value"),
        (("stale_mini_offline", "--resume"), "--resume needs --out"),
        (("stale_mini_offline", "--backend", "opnai"), "did you mean 'openai'?"),
        (("strict_vta", "--set", "data.path=gone.json", "--backend", "offline",
          "--set", "judges=[]"), "there is no such file"),
    ],
)  # fmt: skip
def test_mistakes_are_one_message_and_status_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("evaluate", *arguments)
    assert done.status == 2
    assert message in done.err
    assert done.out == ""
    assert not list(tmp_path.iterdir())


def test_a_second_run_into_a_folder_is_refused(run: Run, tmp_path: Path, server: Loopback) -> None:
    arguments = ("evaluate", config(tmp_path, server), "--out", tmp_path / "run", "--limit", "1")
    assert run(*arguments).status == 0
    done = run(*arguments)
    assert done.status == 2
    assert "add --resume to go on with it" in done.err


# --- the display ----------------------------------------------------------------------


def test_the_line_has_failures_calls_tokens_cost_rate_and_time_left() -> None:
    spent = Totals(calls=1200, input_tokens=900_000, output_tokens=100_000, cost=3.5)
    state = Progress(total=400, done=100, failed=2, spent=spent, paid=spent)
    assert describe(state, 600.0, 50) == (
        "2 failed · 1,200 calls · 1,000,000 tokens · $3.5000 · 5.0 a minute · 1 h 00 min left"
    )


def test_an_unknown_cost_is_no_zero() -> None:
    paid = Totals(cost=None)
    assert "cost unknown" in describe(Progress(total=1, done=0, paid=paid), 0.0, 0)


def test_lines_come_every_few_seconds_and_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    state = Progress(total=50)
    with RunDisplay() as display:
        for done in range(51):
            state.done = done
            display(state)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["0/50", "50/50"]
