"""Evaluating compiled prompts on what they were compiled on: refused, left out, or marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.results.summary import labels
from stateauditor.experiments.runs.held_out import open_held_out
from stateauditor.experiments.runs.scenarios import open_source
from stateauditor.experiments.runs.spec import RunSpec, parse_spec
from stateauditor.program.roles.compiled import role_state, save_compiled
from stateauditor.program.roles.ensemble import Roles
from stateauditor.signatures.errors import ConfigError, InputError
from tests.experiments.compile.learner import IDS


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A folder that was compiled on the first four ids."""
    folder = tmp_path / "mine"
    states = {"lean_audit": role_state(Roles(), "lean_audit")}
    save_compiled(folder, "mine", states, IDS[:4])
    return folder


def run_spec(compiled: Path | None, limit: int | None = None, **settings: Any) -> RunSpec:
    data = {"set": "stale_mini", "limit": limit, **settings.pop("data", {})}
    whole = {"name": "e", "arm": "lean", "data": data, **settings}
    if compiled is not None:
        whole["compiled"] = str(compiled)
    return parse_spec(whole, source="e.yaml")


def opened(spec: RunSpec) -> tuple[RunSpec, tuple[str, ...]]:
    found, source = open_held_out(spec)
    return found, source.uids


def test_training_ids_are_refused_by_name(compiled: Path) -> None:
    with pytest.raises(InputError) as told:
        opened(run_spec(compiled))
    message = str(told.value)
    assert "was compiled on 4 of the 28 chosen ids" in message
    assert all(uid in message for uid in IDS[:4])
    assert IDS[4] not in message
    assert "--allow-train" in message


def test_allowing_training_ids_marks_every_table(compiled: Path) -> None:
    spec, uids = opened(run_spec(compiled, allow_train=True))
    assert len(uids) == 28
    assert "contains training ids" in labels(spec, "b")
    assert "compiled prompts: mine" in labels(spec, "b")


def test_a_table_without_training_ids_is_not_marked(compiled: Path) -> None:
    spec, uids = opened(run_spec(compiled, data={"held_back": True}, allow_train=True))
    assert len(uids) == 24
    assert not set(uids) & set(IDS[:4])
    assert "contains training ids" not in labels(spec, "b")


def test_a_limit_counts_what_is_held_back(compiled: Path) -> None:
    data = {"held_back": True, "part": "both"}
    _, uids = opened(run_spec(compiled, data=data, limit=3))
    assert len(uids) == 6
    assert not set(uids) & set(IDS[:4])


def test_nothing_held_back_is_an_error(compiled: Path) -> None:
    save_compiled(compiled, "mine", {}, IDS)
    with pytest.raises(InputError, match="none is held back"):
        opened(run_spec(compiled, data={"held_back": True}))


def test_a_run_without_compiled_prompts_is_left_alone() -> None:
    spec = run_spec(None)
    assert opened(spec) == (spec, open_source(spec.data).uids)


@pytest.mark.parametrize("settings", [{"allow_train": True}, {"data": {"held_back": True}}])
def test_settings_about_compiled_prompts_need_some(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="about a 'compiled' program"):
        run_spec(None, **settings)


def test_the_generator_uses_no_compiled_prompts(compiled: Path) -> None:
    with pytest.raises(ConfigError, match="audits nothing"):
        run_spec(compiled, arm="generator_only")
