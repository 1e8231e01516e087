"""A suite through the auditor: known figures, one payment a call, failures apart, going on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.suites.items import Due, SuiteItem
from stateauditor.data.suites.registry import Suite
from stateauditor.experiments.suites.records import SuiteFolder
from stateauditor.experiments.suites.runner import FinishedSuite, chosen, open_backend, run_suite
from stateauditor.experiments.suites.scripted import MANNERS, KeyScript, manner
from stateauditor.experiments.suites.spec import SuiteSpec
from stateauditor.experiments.suites.summary import SuiteSummary, summary_of, write_summary
from stateauditor.metrics.records import Rate
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.scripted import ScriptedRequest, scripted_backend
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Policy, Reason, Variant
from tests.data.suites.builders import hard_items, item, probe, suite_items


def suite(items: tuple[SuiteItem, ...], name: str = "safety") -> Suite:
    return Suite(name=name, seed=42, sha256="0" * 64, items=items)


def ran(
    out: Path,
    backend: str = "scripted:right",
    items: tuple[SuiteItem, ...] | None = None,
    *,
    made: Backend | None = None,
    resume: bool = False,
    **settings: Any,
) -> FinishedSuite:
    items = suite_items() if items is None else items
    spec = SuiteSpec.model_validate(
        {"suite": items[0].suite, "backend": backend, "concurrency": 2} | settings
    )
    return run_suite(spec, out, backend=made, suite=suite(items, items[0].suite), resume=resume)


def counts(rate: Rate) -> tuple[int, int]:
    return rate.hits, rate.n


def safety(summary: SuiteSummary, policy: Policy) -> dict[str, tuple[int, int]]:
    (rates,) = [r for r in summary.safety if r.policy is policy]
    return {
        "recall": counts(rates.true_change_recall),
        "invalidated": counts(rates.false_invalidation),
        "stale": counts(rates.conflict_free.false_stale),
        "verify": counts(rates.conflict_free.verify),
        "rewritten": counts(rates.conflict_free.rewritten),
    }


# --- the known figures of the scripted LMs --------------------------------------------


def test_the_right_lm_repairs_every_change_and_nothing_else(tmp_path: Path) -> None:
    summary = summary_of(ran(tmp_path / "run").folder)
    for policy in Policy:
        assert safety(summary, policy) == {
            "recall": (2, 2),
            "invalidated": (0, 2),
            "stale": (0, 2),
            "verify": (0, 2),
            "rewritten": (0, 2),
        }
    assert summary.errors == 0
    assert summary.failed_roles == {}


def test_the_gate_stops_none_of_the_gullible_lms_changes(tmp_path: Path) -> None:
    finished = ran(tmp_path / "run", "scripted:gullible")
    found = safety(summary_of(finished.folder), Policy.REPAIR_ONLY)
    assert found == {
        "recall": (2, 2),
        "invalidated": (2, 2),
        "stale": (2, 2),
        "verify": (0, 2),
        "rewritten": (2, 2),
    }
    results = [
        probe.results[Policy.REPAIR_ONLY]
        for record in finished.folder.items()
        for probe in record.probes.values()
    ]
    assert all(r.directives[0].authority == "transition:T01" for r in results)


def test_the_anxious_lm_asks_under_full_and_is_silenced_under_repair_only(tmp_path: Path) -> None:
    summary = summary_of(ran(tmp_path / "run", "scripted:anxious").folder)
    assert safety(summary, Policy.FULL) == {
        "recall": (0, 2),
        "invalidated": (0, 2),
        "stale": (0, 2),
        "verify": (2, 2),
        "rewritten": (2, 2),
    }
    assert safety(summary, Policy.REPAIR_ONLY)["verify"] == (0, 2)
    assert safety(summary, Policy.REPAIR_ONLY)["rewritten"] == (0, 2)
    assert safety(summary, Policy.OBSERVE)["verify"] == (2, 2)
    assert safety(summary, Policy.OBSERVE)["rewritten"] == (0, 2)


def test_the_silent_lm_finds_nothing(tmp_path: Path) -> None:
    summary = summary_of(ran(tmp_path / "run", "scripted:silent").folder)
    for policy in Policy:
        assert set(safety(summary, policy).values()) == {(0, 2)}


@pytest.mark.parametrize(
    ("backend", "due", "trap", "solved"),
    [
        ("scripted:right", 2, 2, 2),
        ("scripted:gullible", 2, 0, 0),
        ("scripted:silent", 0, 2, 0),
    ],
)
def test_hard_scenarios_need_both_probes(
    tmp_path: Path, backend: str, due: int, trap: int, solved: int
) -> None:
    finished = ran(tmp_path / "run", backend, hard_items(), policies=("repair_only",))
    (rates,) = summary_of(finished.folder).lifecycle
    assert counts(rates.pooled.due_solved) == (due, 2)
    assert counts(rates.pooled.trap_kept) == (trap, 2)
    assert counts(rates.pooled.solved) == (solved, 2)
    assert [c.category for c in rates.categories] == ["chain", "partial_scope"]


@pytest.mark.parametrize("variant", [Variant.PREDECESSOR, Variant.LEAN, Variant.CONTROL])
def test_the_right_lm_is_right_under_other_variants(tmp_path: Path, variant: Variant) -> None:
    summary = summary_of(ran(tmp_path / "run", variant=variant).folder)
    found = safety(summary, Policy.REPAIR_ONLY)
    assert (found["recall"], found["invalidated"]) == ((2, 2), (0, 2))


# --- the scripted LMs themselves ------------------------------------------------------


def test_items_that_share_question_and_draft_are_told_apart_by_their_statements() -> None:
    items = suite_items()
    script = KeyScript.of(MANNERS["right"], items)
    moved, sister = items[0].probes[0], items[2].probes[0]
    assert (moved.question, moved.draft) == (sister.question, sister.draft)

    def proposed(told: str) -> int:
        prompt = f"{moved.question}\n{moved.draft}\n{told}"
        return len(script(ScriptedRequest("transition_proposal", prompt)).get("transitions", ()))

    assert proposed(moved.key.m_new.reveal()) == 1
    assert proposed(sister.key.m_new.reveal()) == 0
    assert proposed("") == 0  # who has not read the statements judges nothing
    extracted = script(ScriptedRequest("premise_extraction", f"{moved.question}\n{moved.draft}"))
    assert extracted["premises"]


def test_an_unknown_scripted_lm_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no such scripted LM; there are scripted:right"):
        manner("scripted:wise")


def test_a_scripted_lm_serves_no_variant_that_shows_it_no_draft() -> None:
    with pytest.raises(ValueError, match="state_anchored"):
        SuiteSpec(suite="safety", backend="scripted:right", variant=Variant.STATE_ANCHORED)


# --- one payment a call ---------------------------------------------------------------


def test_later_policies_ask_nothing_that_an_earlier_one_asked(tmp_path: Path) -> None:
    items = suite_items()
    made = open_backend("scripted:gullible", items)
    asked: Counter[str] = Counter()
    script = KeyScript.of(MANNERS["gullible"], items)

    def counting(request: ScriptedRequest) -> Any:
        asked[request.role] += 1
        return script(request)

    made = scripted_backend(counting, name="counted")
    finished = ran(tmp_path / "run", "counted.yaml", made=made)
    # Four probes; observe rewrites nothing, and the two others give the same directives.
    # Presuppositions and premises are asked once where question and draft are shared.
    assert asked["transition_proposal"] == 4
    assert asked["response_adaptation"] == 4
    summary = summary_of(finished.folder)
    assert summary.replayed.calls > summary.paid.calls
    for record in finished.folder.items():
        for found in record.probes.values():
            by_policy = found.results
            assert not any(call.cached for call in by_policy[Policy.OBSERVE].calls)
            paid = [c.role for c in by_policy[Policy.REPAIR_ONLY].calls if not c.cached]
            assert paid == ["response_adaptation"]
            assert all(call.cached for call in by_policy[Policy.FULL].calls)
            assert by_policy[Policy.FULL].usage.paid.calls == 0


def test_the_evidence_stands_once_in_a_record(tmp_path: Path) -> None:
    finished = ran(tmp_path / "run")
    record = next(iter(finished.folder.items()))
    found = record.probes["probe"]
    assert found.readout
    assert all(result.readout == () for result in found.results.values())


# --- failures -------------------------------------------------------------------------


def failing(items: tuple[SuiteItem, ...], *, on: str, role: str | None = None) -> Backend:
    """Right, but every request (or one role's) that speaks of ``on`` fails."""
    script = KeyScript.of(MANNERS["right"], items)

    def answer(request: ScriptedRequest) -> Any:
        if on in request.prompt and role in (None, request.role):
            return ConnectionError("the line is dead")
        return script(request)

    return scripted_backend(answer, name="failing")


def test_items_of_which_no_role_answered_are_counted_apart(tmp_path: Path) -> None:
    items = (
        *suite_items()[1:2],
        *(
            item(
                f"tree-{number}",
                (
                    f"I planted an apple tree in Denver, number {number}.",
                    f"Cut it, {number}.",
                ),
                [
                    probe(
                        f"I planted an apple tree in Denver, number {number}.",
                        f"Cut it, {number}.",
                        question=f"How do I look after apple tree {number}?",
                        draft=f"Water the apple tree number {number}.",
                        due=due,
                    )
                ],
                group=group,
            )
            for number, due, group in ((1, Due.REPAIR, "true_change"), (2, Due.NOTHING, "reverted"))
        ),
    )
    finished = ran(tmp_path / "run", "x.yaml", items, made=failing(items, on="apple"))
    summary = summary_of(finished.folder)
    assert summary.errors == 2
    assert finished.progress.failed == 2
    assert "no role answered" in finished.progress.failures[0]
    found = safety(summary, Policy.REPAIR_ONLY)
    assert found["recall"] == (1, 1)
    assert found["invalidated"] == (0, 0)
    assert "2 error(s), counted apart and in no rate" in write_summary(finished.folder)[1]


def test_a_role_that_fails_open_is_counted_and_shown(tmp_path: Path) -> None:
    items = suite_items()
    made = failing(items, on="Denver", role="transition_proposal")
    finished = ran(tmp_path / "run", "x.yaml", items, made=made, policies=("repair_only",))
    summary, table = write_summary(finished.folder)
    assert summary.errors == 0
    assert summary.failed_roles == {"transition_proposal": 3}
    assert "Roles that failed open: transition_proposal 3." in table
    assert safety(summary, Policy.REPAIR_ONLY)["recall"] == (2, 2)  # the base audit stands
    assert counts(summary.safety[0].conflict_free.failed_open) == (2, 2)


def test_an_item_with_an_unreadable_history_is_a_failure(tmp_path: Path) -> None:
    from dataclasses import replace

    first, *rest = suite_items()
    broken = replace(first, sessions=(replace(first.sessions[0], timestamp="some day"),))
    finished = ran(tmp_path / "run", items=(broken, *rest))
    assert finished.progress.failed == 1
    assert summary_of(finished.folder).errors == 1


# --- going on -------------------------------------------------------------------------


def lines(folder: Path) -> list[bytes]:
    return sorted((folder / "items.jsonl").read_bytes().splitlines())


@pytest.mark.parametrize("torn", [b"", b'{"uid": "sis'])
def test_a_resumed_run_is_the_uninterrupted_one_to_the_byte(tmp_path: Path, torn: bytes) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    made = open_backend("scripted:gullible", suite_items())
    finished = ran(whole, "scripted:gullible", made=made)
    write_summary(finished.folder)
    shutil.copytree(whole, broken)
    for name in ("summary.json", "table.md", "status.json"):
        (broken / name).unlink()
    kept = (whole / "items.jsonl").read_bytes().splitlines(keepends=True)[:2]
    (broken / "items.jsonl").write_bytes(b"".join(kept) + torn)
    again = ran(broken, "scripted:gullible", made=made, resume=True)
    assert again.complete
    write_summary(again.folder)
    assert lines(broken) == lines(whole)
    for name in ("summary.json", "table.md", "manifest.json", "config.yaml", "status.json"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), name


def test_a_run_over_other_content_or_settings_is_refused(tmp_path: Path) -> None:
    ran(tmp_path / "run")
    with pytest.raises(ConfigError, match="add --resume"):
        ran(tmp_path / "run")
    with pytest.raises(ConfigError, match="other settings \\(policies\\)"):
        ran(tmp_path / "run", resume=True, policies=("full",))
    spec = SuiteFolder(tmp_path / "run").spec()
    other = Suite(name="safety", seed=42, sha256="1" * 64, items=suite_items())
    with pytest.raises(ConfigError, match="data are not those"):
        run_suite(spec, tmp_path / "run", resume=True, suite=other)


def test_a_cost_cap_stops_a_run_that_can_be_continued(tmp_path: Path) -> None:
    finished = ran(tmp_path / "run", max_cost=1.0)
    # The scripted LM has no price, so that no cap could be kept.
    assert not finished.complete
    assert "max_cost needs the cost of every call" in (finished.progress.stopped or "")
    assert ran(tmp_path / "run", resume=True).complete


# --- what is written ------------------------------------------------------------------


def test_the_folder_says_where_its_numbers_come_from(tmp_path: Path) -> None:
    finished = ran(tmp_path / "run", policies=("full", "observe"))
    assert finished.folder.spec().policies == (Policy.OBSERVE, Policy.FULL)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert (manifest["data_name"], manifest["data_sha256"]) == ("safety", "0" * 64)
    assert manifest["backend"] == "scripted-right"
    assert manifest["scenarios"] == 4


def test_every_table_names_who_answered_and_what_judged(tmp_path: Path) -> None:
    _, table = write_summary(ran(tmp_path / "run").folder)
    assert table.count("scripted LM (right by construction): no model") == len(Policy)
    assert table.count("key judge (deterministic), not Stale accuracy") == len(Policy)
    offline = ran(tmp_path / "rules", "offline", policies=("repair_only",))
    assert "offline lexical rules: a floor, no model" in write_summary(offline.folder)[1]


def test_no_judge_only_text_stands_in_a_record(tmp_path: Path) -> None:
    ran(tmp_path / "run", "scripted:silent", policies=("observe",))
    text = (tmp_path / "run" / "items.jsonl").read_text()
    for made in suite_items():
        for node in made.probes[0].key.causal_path:
            assert node.reveal() not in text


def test_a_limit_takes_the_groups_in_turn() -> None:
    items = suite_items()
    assert [i.uid for i in chosen(items, 3)] == ["moved", "sister", "visit"]
    assert chosen(items, None) == items
    assert chosen(items, 99) == items


# --- further settings ----------------------------------------------------------------


def test_a_second_look_is_one_setting_and_stands_beside_the_figures(tmp_path: Path) -> None:
    script = KeyScript.of(manner("scripted:gullible"), suite_items())

    def denying(asked: ScriptedRequest) -> Any:
        if asked.role == "semantic_gate":
            return {"rulings": [{"number": 1, "supersedes": False}]}
        return script(asked)

    for gate in (False, True):
        finished = ran(
            tmp_path / str(gate),
            made=scripted_backend(denying),
            audit={"semantic_gate": gate},
            policies=("observe",),
        )
        reasons = {
            reason
            for record in finished.folder.items()
            for probe in record.probes.values()
            for result in probe.results.values()
            for check in result.transitions
            for reason in check.reasons
        }
        assert (Reason.SEMANTIC_GATE in reasons) is gate
        said = "audit setting: semantic_gate=True" in summary_of(finished.folder).labels
        assert said is gate


@pytest.mark.parametrize(
    ("audit", "why"),
    [
        ({"policy": "full"}, "audit.policy is no setting of a suite"),
        ({"semantic_gates": True}, "semantic_gates"),
        ({"channels": ["drafts"], "variant": "lean"}, "channels changes nothing under variant"),
    ],
)
def test_a_wrong_setting_is_refused_before_any_work(
    tmp_path: Path, audit: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        ran(tmp_path / "run", audit=audit)
    assert not (tmp_path / "run").exists()
