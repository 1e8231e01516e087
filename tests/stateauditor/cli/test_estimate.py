"""``stateauditor estimate``."""

from __future__ import annotations

from pathlib import Path

from tests.stateauditor.cli.conftest import Run

SMALL = ("--set", "data.set=stale_mini", "--set", "data.limit=2", "--set", "judges=[]")


def test_the_table_has_a_line_a_role_and_says_what_it_is(run: Run) -> None:
    done = run("estimate", "lean", *SMALL, "--set", "backend=openai")
    assert done.status == 0
    first = [line.split()[0] for line in done.out.splitlines() if line.strip()]
    assert first[:5] == [
        "role",
        "response_generation",
        "lean_audit",
        "response_adaptation",
        "total",
    ]
    assert "An estimate for 2 scenario(s), and an upper bound" in done.out


def test_json_sums_the_roles(run: Run) -> None:
    found = run(
        "estimate", "lean", *SMALL, "--set", "backend=vllm", "--sample", "1", "--json"
    ).json()
    assert found["upper_bound"] is True
    assert (found["scenarios"], found["looked_at"], found["calls"]) == (2, 1, 18)
    assert found["cost"] == 0
    assert sum(role["input_tokens"] for role in found["roles"]) == found["input_tokens"]


def test_offline_runs_cost_nothing(run: Run) -> None:
    done = run("estimate", "lean", *SMALL, "--set", "backend=offline")
    assert done.out == "2 scenario(s), no LM call: nothing is spent.\n"


def test_an_unknown_price_is_said(run: Run, tmp_path: Path) -> None:
    backend = tmp_path / "mine.yaml"
    backend.write_text(
        "name: mine\nlms: {a: {model: openai/mine, api_base: 'http://localhost:1/v1'}}\n"
        "roles: {default: a}\n"
    )
    done = run("estimate", "generator_only", *SMALL, "--set", f"backend={backend}")
    assert "unknown" in done.out
    assert "give the LM a price" in done.err


def test_a_wrong_config_is_an_error(run: Run) -> None:
    assert run("estimate", "nothing_such").status == 2
