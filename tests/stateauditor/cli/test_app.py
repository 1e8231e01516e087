"""The command line as a process: statuses, streams, and no traceback for mistakes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from stateauditor.cli import app
from stateauditor.cli.demos import EXAMPLES
from tests.stateauditor.cli.conftest import DRAFT, MEMORY, Run
from tests.support.loopback import Reply, loopback

Write = Callable[[str, Any], Path]
PROGRAM = Path(sysconfig.get_path("scripts")) / "stateauditor"
MOVE = EXAMPLES[0].path


def process(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_version(run: Run) -> None:
    assert run("--version").out == f"stateauditor {version('stateauditor')}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command(run: Run, option: str) -> None:
    done = run(option)
    assert done.status == 0
    for command in ("audit", "retrieve", "demo", "backends", "config", "schema", "doctor"):
        assert f"\n  {command} " in done.out


def test_a_wrong_command_is_met_with_a_guess(run: Run) -> None:
    done = run("adit")
    assert done.status == 2
    assert "Did you mean 'audit'?" in done.err


def test_statuses_of_the_real_program(tmp_path: Path) -> None:
    assert process("audit", MOVE, "--fail-on", "stale").returncode == 1
    missing = process("audit", tmp_path / "missing.json")
    assert missing.returncode == 2
    assert missing.stdout == b""
    assert missing.stderr.startswith(b"error: ")
    assert b"Traceback" not in missing.stderr
    assert missing.stderr.count(b"\n") == 1


@pytest.mark.parametrize("environment", [{}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_utf8_comes_out_of_a_c_locale(write: Write, environment: dict[str, str]) -> None:
    draft = "去西雅图 🌲"
    path = write("i.json", {"memory": MEMORY, "question": "周末?", "draft": draft})
    done = process("audit", path, "--json", LC_ALL="C", **environment)
    assert json.loads(done.stdout)["draft"] == draft
    assert draft.encode() in done.stdout
    assert draft.encode() in process("audit", path, LC_ALL="C", **environment).stdout


def test_a_draft_argument_survives_a_c_locale(write: Write) -> None:
    arguments = ("--memory", write("m.json", MEMORY), "--question", "q?", "--draft", "漢字 🌲")
    done = process("audit", *arguments, "--json", LC_ALL="C", PYTHONUTF8="0")
    assert json.loads(done.stdout)["response"] == "漢字 🌲"


def test_a_pipe_has_no_escape_codes() -> None:
    done = process("audit", MOVE, TERM="xterm-256color", FORCE_COLOR="1")
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr


def test_a_closed_pipe_is_quiet() -> None:
    command = f"'{PROGRAM}' schema result | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.returncode in (0, 141)  # 0 where the pipe took it all before head left


def test_an_interrupt_ends_with_130_and_one_line(write: Write, input_file: Path) -> None:
    with loopback([Reply("{}", delay=3)]) as server:
        file = write(
            "b.yaml",
            f"name: slow\nlms:\n  lm:\n    model: openai/t\n    api_base: {server.base}\n",
        )
        command = [str(PROGRAM), "audit", str(input_file), "--backend", str(file)]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 30
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (130, b"")
    assert err.splitlines()[-1] == b"interrupted"
    assert b"Traceback" not in err


def test_an_interrupt_anywhere_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app", interrupted)
    done = run("demo")
    assert (done.status, done.err) == (130, "interrupted\n")


def test_it_runs_as_a_module_too(input_file: Path) -> None:
    code = (
        f"from stateauditor.cli import main; raise SystemExit(main(['audit', {str(input_file)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0
    assert DRAFT.split()[0].encode() in done.stdout
