"""``prompts show``: the exact messages, for any role and input."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateauditor.program.roles.compiled import predictors_of, role_state, save_compiled
from stateauditor.program.roles.ensemble import Roles
from tests.stateauditor.cli.conftest import Run
from tests.support.loopback import Reply, loopback

LESSON = "Look at every later line twice."


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """The proposer with one more sentence in its instructions."""
    roles = Roles()
    ((_, predictor),) = predictors_of(roles, "transition_proposal")
    text = f"{predictor.signature.instructions}\n{LESSON}"
    predictor.signature = predictor.signature.with_instructions(text)
    state = role_state(roles, "transition_proposal")
    save_compiled(tmp_path / "c", "c", {"transition_proposal": state}, [])
    return tmp_path / "c"


def test_a_worked_example_is_the_default_input(run: Run) -> None:
    done = run("prompts", "show")
    assert done.status == 0
    for role in ("premise_extraction", "transition_proposal", "response_adaptation"):
        assert f" {role} " in done.out
    assert "--- system ---" in done.out
    assert "E01 [" in done.out
    assert "Seattle" in done.out


@pytest.mark.parametrize(
    "role", ["lean_audit", "evidence_review", "skeptic", "semantic_gate", "timeline_construction"]
)
def test_any_role_is_reached_under_a_variant_that_asks_it(run: Run, role: str) -> None:
    done = run("prompts", "show", "--role", role, "--json")
    assert done.status == 0
    shown, silent = done.json()["prompts"], done.json()["not_reached"]
    assert [p["role"] for p in shown] + silent == [role]


def test_roles_that_an_input_does_not_reach_are_named(run: Run, input_file: Path) -> None:
    text = input_file.read_text("utf-8").replace("Austin", "nice").replace("Take the", "See a")
    input_file.write_text(text, "utf-8")
    done = run("prompts", "show", input_file, "--role", "response_adaptation")
    assert done.status == 0
    assert done.out == ""
    assert "this input does not reach: response_adaptation" in done.err


def test_the_messages_are_the_ones_that_are_sent(
    run: Run, input_file: Path, tmp_path: Path, compiled: Path
) -> None:
    shown = run(
        "prompts", "show", input_file, "--role", "transition_proposal", "--compiled", compiled,
        "--json",
    ).json()["prompts"]  # fmt: skip
    with loopback([Reply('{"reasoning": "r", "transitions": [], "premises": []}')]) as server:
        file = tmp_path / "b.yaml"
        file.write_text(
            f"name: b\nlms:\n  lm:\n    model: openai/t\n    api_base: {server.base}\n", "utf-8"
        )
        run("audit", input_file, "--backend", file, "--compiled", compiled)
        sent = [
            body["messages"]
            for body in server.requests
            if body["response_format"]["json_schema"]["name"] == "TransitionProposal"
            or LESSON in body["messages"][0]["content"]
        ]
    assert sent
    assert shown[0]["messages"] == sent[0]


def test_a_diff_shows_what_was_added(run: Run, compiled: Path) -> None:
    done = run("prompts", "show", "--compiled", compiled, "--diff")
    assert done.status == 0
    added = [line for line in done.out.splitlines() if line.startswith("+")]
    assert [line.lstrip("+ ") for line in added] == [LESSON]
    assert done.out.count("unchanged") >= 3
    listed = run("prompts", "show", "--compiled", compiled, "--diff", "--json").json()["prompts"]
    changed = {item["role"] for item in listed if item["diff"]}
    assert changed == {"transition_proposal"}


def test_mistakes(run: Run, tmp_path: Path) -> None:
    alone = run("prompts", "show", "--diff")
    assert alone.status == 2
    assert "add --compiled DIR" in alone.err
    unknown = run("prompts", "show", "--role", "nobody")
    assert unknown.status == 2
    assert "role 'nobody' is not asked; there are " in unknown.err
    other = run("prompts", "show", "--role", "lean_audit", "--variant", "strict_vta")
    assert other.status == 2
    folder = run("prompts", "show", "--compiled", tmp_path)
    assert folder.status == 2
    assert "holds no compiled prompts" in folder.err
