"""Base audits of an earlier run: the same ones, or an error that names what differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.reports.tables import run_table
from stateauditor.experiments.results.summary import summary_of
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.runner import run
from stateauditor.experiments.runs.spec import RunSpec, load_spec
from stateauditor.signatures.errors import ConfigError
from tests.experiments.pipeline import (
    pipeline,
    reply,
    role_of,
    roles,
    write_backend,
    write_config,
    write_scenarios,
)
from tests.support.loopback import Loopback, Reply, loopback


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(pipeline) as running:
        yield running


def spec(folder: Path, server: Loopback, count: int = 1, **settings: Any) -> RunSpec:
    backend = write_backend(folder / "loop.yaml", server)
    data = write_scenarios(folder / "data.json", count)
    defaults = {"data": {"path": str(data)}, "backend": str(backend), "judges": []}
    return load_spec(write_config(folder / "config.yaml", **(defaults | settings)))


def base_run(folder: Path, server: Loopback, **settings: Any) -> RunFolder:
    return run(spec(folder, server, arm="predecessor", **settings), folder / "base").folder


def sharing(base: RunFolder) -> dict[str, str]:
    return {"drafts_from": str(base.path), "base_audit_from": str(base.path)}


def refused(config: RunSpec, folder: Path) -> str:
    with pytest.raises(ConfigError) as error:
        run(config, folder / "run")
    assert not (folder / "run").exists()
    return str(error.value)


def test_a_base_of_another_arm_is_refused(tmp_path: Path, server: Loopback) -> None:
    other = run(spec(tmp_path, server, arm="generator_only"), tmp_path / "base").folder
    said = refused(spec(tmp_path, server, arm="strict_vta", **sharing(other)), tmp_path)
    assert "no run of the arm predecessor but of generator_only" in said


def test_every_difference_is_named_at_once(tmp_path: Path, server: Loopback) -> None:
    base = base_run(tmp_path, server)
    config = spec(
        tmp_path,
        server,
        arm="strict_vta",
        memory="oracle",
        audit={"retrieval": {"budget_tokens": 1234, "draft_words": False}},
        **sharing(base),
    )
    said = refused(config, tmp_path)
    assert "memory: full there, oracle here" in said
    assert "audit.retrieval.budget_tokens: 5700 there, 1234 here" in said
    assert "audit.retrieval.draft_words: True there, False here" in said


def test_a_base_of_other_data_is_refused(tmp_path: Path, server: Loopback) -> None:
    base = base_run(tmp_path, server)
    said = refused(spec(tmp_path, server, 2, arm="strict_vta", **sharing(base)), tmp_path)
    assert "data: " in said
    assert "no base audit of 1 scenario(s): u002" in said
    assert "allow_missing" in said


def test_new_drafts_do_not_go_with_findings_on_old_ones(tmp_path: Path, server: Loopback) -> None:
    base = base_run(tmp_path, server)
    config = spec(tmp_path, server, arm="strict_vta", base_audit_from=str(base.path))
    assert "drafts: new ones would be written here" in refused(config, tmp_path)


def test_scenarios_that_the_base_lacks_are_audited_afresh_if_that_is_allowed(
    tmp_path: Path, server: Loopback
) -> None:
    drafted = run(spec(tmp_path, server, 2, arm="generator_only"), tmp_path / "drafts").folder
    settings = {"drafts_from": str(drafted.path)}
    one = {"path": str(tmp_path / "data.json"), "limit": 1}
    base = run(
        spec(tmp_path, server, 2, arm="predecessor", data=one, **settings), tmp_path / "base"
    ).folder
    settings["base_audit_from"] = str(base.path)
    said = refused(spec(tmp_path, server, 2, arm="strict_vta", **settings), tmp_path)
    assert "no base audit of 1 scenario(s): u002" in said
    server.requests.clear()
    config = spec(tmp_path, server, 2, arm="strict_vta", allow_missing=True, **settings)
    assert run(config, tmp_path / "run").complete
    assert roles(server.requests)["PremiseExtraction"] == 3


def test_what_the_base_audits_cost_is_said_beside_every_figure(
    tmp_path: Path, server: Loopback
) -> None:
    base = base_run(tmp_path, server)
    finished = run(spec(tmp_path, server, arm="strict_vta", **sharing(base)), tmp_path / "run")
    found = finished.folder.manifest().inherited
    assert found is not None
    asked = [
        call
        for item in base.items()
        for probe in item.probes.values()
        if probe.result is not None
        for call in probe.result.calls
        if call.role != "response_adaptation"
    ]
    assert found.total.calls == len(asked) > 0
    assert found.total.cost == pytest.approx(sum(call.cost or 0.0 for call in asked))
    label = f"base audit inherited: {len(asked)} calls, ${found.total.cost:.4f}"
    assert label in run_table(summary_of(finished.folder))


def test_roles_that_failed_in_the_base_are_said(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Reply:
        broken = role_of(body) == "PremiseExtraction"
        return Reply("broken", status=400) if broken else reply(body)

    with loopback(script) as server:
        base = base_run(tmp_path, server)
        finished = run(spec(tmp_path, server, arm="strict_vta", **sharing(base)), tmp_path / "run")
    found = finished.folder.manifest().inherited
    assert found is not None
    assert found.failed_roles == 3
    assert "3 role(s) failed in it" in found.label
