"""``stateauditor audit``, end to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateauditor.cli.audit import is_stale
from stateauditor.cli.demos import EXAMPLES
from stateauditor.signatures.models import AuditResult
from tests.stateauditor.cli.conftest import DRAFT, MEMORY, QUESTION, Run
from tests.support.loopback import Reply, loopback

Write = Callable[[str, Any], Path]
MOVE, _, CONTROL, _ = (example.path for example in EXAMPLES)


def test_a_stale_draft_is_repaired_and_explained(run: Run) -> None:
    done = run("audit", MOVE, "--policy", "repair_only")
    assert done.status == 0
    assert done.out.startswith("Reply (repaired)\n")
    assert "Why\n  repair + correct_and_inform  home" in done.out
    assert "setting up utilities in my new Austin apartment" in done.out
    assert "offline (lexical rules) · repair_only" in done.out
    assert "never meaning" in done.out
    assert done.err == ""


def test_json_is_the_audit_result(run: Run) -> None:
    done = run("audit", MOVE, "--json", "--policy", "repair_only")
    result = AuditResult.model_validate(done.json())
    assert result.model_dump(mode="json") == done.json()
    assert result.changed
    assert "Austin" in result.response
    assert [check.status for check in result.transitions] == ["verified"]


def test_a_control_passes_through_byte_for_byte(run: Run) -> None:
    result = run("audit", CONTROL, "--json").json()
    assert result["response"] == result["draft"]
    assert not result["changed"]
    assert result["directives"] == []


def test_rules_report_only_and_say_how_to_ask_for_the_repair(run: Run) -> None:
    done = run("audit", MOVE)
    assert done.out.startswith("Reply (the draft, unchanged")
    assert "Why\n  repair + correct_and_inform  home" in done.out
    assert "--policy repair_only" in done.out


def test_observe_reports_and_rewrites_nothing(run: Run) -> None:
    result = run("audit", MOVE, "--json", "--policy", "observe").json()
    assert result["response"] == result["draft"]
    assert result["policy"] == "observe"
    assert result["directives"]


@pytest.mark.parametrize("variant", ["predecessor", "lean", "joint_vta"])
def test_the_variant_can_be_chosen(run: Run, variant: str) -> None:
    assert run("audit", MOVE, "--json", "--variant", variant).json()["variant"] == variant


def test_fail_on_stale_tells_stale_from_sound(run: Run) -> None:
    assert run("audit", MOVE, "--json", "--fail-on", "stale").status == 1
    assert run("audit", MOVE, "--fail-on", "stale", "--policy", "observe").status == 1
    assert run("audit", CONTROL, "--fail-on", "stale").status == 0


def test_a_stale_premise_counts_even_where_nothing_was_directed() -> None:
    premise = {"text": "t", "verdict": "STALE", "material": True, "origin": "draft"}
    base = {
        "response": "r",
        "draft": "r",
        "changed": False,
        "backend": "b",
        "policy": "observe",
        "variant": "predecessor",
    }
    assert is_stale(AuditResult.model_validate(base | {"premises": [premise]}))
    assert not is_stale(
        AuditResult.model_validate(base | {"premises": [premise | {"material": False}]})
    )


def test_parts_and_stdin(run: Run, write: Write) -> None:
    memory = write("m.json", MEMORY)
    done = run(
        "audit", "--memory", memory, "--question", QUESTION, "--draft", "-", "--json", stdin=DRAFT
    )
    assert done.json()["draft"] == DRAFT


def test_several_pairs_give_several_results(run: Run, write: Write) -> None:
    pairs = [{"question": QUESTION, "draft": DRAFT}, {"question": "Who?", "draft": "You."}]
    path = write("i.json", {"memory": MEMORY, "pairs": pairs})
    drafts = [result["draft"] for result in run("audit", path, "--json").json()["results"]]
    assert drafts == [DRAFT, "You."]
    text = run("audit", path).out
    assert "pair 1" in text
    assert "pair 2" in text


def test_the_budget_bounds_the_readout(run: Run, input_file: Path) -> None:
    small = run("audit", input_file, "--json", "--budget", "32", "--variant", "predecessor")
    assert len(small.json()["readout"]) < 2


def test_an_empty_memory_passes_the_draft_through(run: Run, write: Write) -> None:
    path = write("i.json", {"memory": [], "question": QUESTION, "draft": DRAFT})
    done = run("audit", path, "--json")
    assert done.json()["response"] == DRAFT
    assert done.json()["calls"] == []
    assert "holds nothing that the user said" in done.err


def test_undated_entries_are_mentioned(run: Run, write: Write) -> None:
    memory = [*MEMORY, {"text": "I like jazz."}]
    path = write("i.json", {"memory": memory, "question": QUESTION, "draft": DRAFT})
    assert run("audit", path).status == 2
    done = run("audit", path, "--allow-undated", "--json")
    assert done.status == 0
    assert "entries without a known time: 1" in done.err


def test_verbose_shows_premises_and_timeline(run: Run) -> None:
    out = run("audit", MOVE, "-v").out
    for heading in ("Rejected transitions (", "Premises (", "Timeline ("):
        assert heading in out


def test_any_script_survives(run: Run, write: Write) -> None:
    draft = "去西雅图坐渡轮 🌲 مرحبا"
    path = write("i.json", {"memory": MEMORY, "question": "周末?", "draft": draft})
    done = run("audit", path, "--json")
    assert f'"draft": "{draft}"' in done.out


# --- a backend over HTTP --------------------------------------------------------


def backend_file(write: Write, base: str) -> Path:
    return write(
        "backend.yaml",
        "name: loop\nlms:\n  lm:\n    model: openai/test\n"
        f"    api_base: {base}\n    retries: 0\n    structured_output: none\n",
    )


def test_a_backend_file_drives_an_lm(run: Run, write: Write, input_file: Path) -> None:
    with loopback([Reply("{}")]) as server:
        file = backend_file(write, server.base)
        done = run("audit", input_file, "--backend", file, "--variant", "lean", "--json")
    assert done.status == 3, done.err  # its one role found no answer in the reply
    assert done.json()["backend"] == "loop"
    assert len(server.requests) >= 1


def test_a_broken_lm_fails_open(run: Run, write: Write, input_file: Path) -> None:
    with loopback([Reply("down", status=500)]) as server:
        file = backend_file(write, server.base)
        arguments = ("audit", input_file, "--backend", file, "--variant", "lean")
        text = run(*arguments)
        gated = run(*arguments, "--json", "--fail-on", "failed-open")
    assert text.status == 3
    assert "Nothing was checked: every role failed" in text.out
    assert "safe to send" not in text.out
    assert "nothing was checked: LMServerError: HTTP 500" in text.err
    assert f"Reply (unchanged, byte for byte the draft)\n{DRAFT}\n" in text.out
    assert "Failed open\n  lean_audit: " in text.out
    assert gated.status == 1
    assert gated.json()["failed_open"][0]["role"] == "lean_audit"


# --- mistakes -------------------------------------------------------------------


def test_a_missing_key_names_variable_and_file(run: Run, input_file: Path) -> None:
    done = run("audit", input_file, "--backend", "openai")
    assert done.status == 2
    assert done.out == ""
    assert "OPENAI_API_KEY" in done.err
    assert "openai.yaml" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--backend", "opnai"], "did you mean 'openai'?"),
        (["--backend", "gone.yaml"], "gone.yaml: there is no such backend file"),
        (["--policy", "repair"], "'repair' is not one of"),
        (["--variant", "x"], "'x' is not one of"),
        (["--budget", "3"], "--budget"),
        (["--fail-on", "x"], "--fail-on"),
        (["--question", " "], "'question': is blank"),
    ],
)
def test_wrong_options_are_one_clear_message(
    run: Run, input_file: Path, arguments: list[str], part: str
) -> None:
    done = run("audit", input_file, *arguments)
    assert done.status == 2
    assert done.out == ""
    assert part in done.err
    assert "Traceback" not in done.err


def test_no_input_says_what_to_give(run: Run) -> None:
    done = run("audit")
    assert done.status == 2
    assert done.err.startswith("error: no memory: give INPUT.json, or --memory FILE")
