"""Every arm makes its own calls, on the same scenarios, into the same kind of record."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.records import parse_record
from stateauditor.data.scenario import BenchmarkItem, ByDimension
from stateauditor.experiments.benchmarks.synthetic import answer, scenario
from stateauditor.experiments.runs.arms import ArmRunner
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.experiments.runs.spec import parse_spec
from stateauditor.program.backends.scripted import ScriptedRequest, scripted_backend
from stateauditor.signatures.models import BaseAudit, Variant

SIGNATURES = {
    "response_generation": "ResponseGeneration",
    "premise_extraction": "PremiseExtraction",
    "presupposition_extraction": "PresuppositionExtraction",
    "premise_adjudication": "PremiseAdjudication",
    "timeline_construction": "TimelineConstruction",
    "draft_consistency": "DraftConsistency",
    "transition_proposal": "TransitionProposal",
    "evidence_review": "EvidenceReview",
    "lean_audit": "LeanAudit",
    "response_adaptation": "ResponseAdaptation",
}
DRAFT = {"response_generation": 3}
DRAFT_PASS = {"premise_extraction": 3, "presupposition_extraction": 3, "premise_adjudication": 3}
STATE_PASS = {"timeline_construction": 3, "draft_consistency": 3}
ADAPT = {"response_adaptation": 3}
CALLS: dict[str, dict[str, int]] = {
    "generator_only": DRAFT,
    "draft_anchored": DRAFT | DRAFT_PASS | ADAPT,
    "state_anchored": DRAFT | STATE_PASS | ADAPT,
    "predecessor": DRAFT | DRAFT_PASS | STATE_PASS | ADAPT,
    "strict_vta": DRAFT | DRAFT_PASS | STATE_PASS | {"transition_proposal": 3} | ADAPT,
    "joint_vta": DRAFT | DRAFT_PASS | STATE_PASS | {"transition_proposal": 1} | ADAPT,
    "control": DRAFT | DRAFT_PASS | STATE_PASS | {"evidence_review": 3} | ADAPT,
    "lean": DRAFT | {"lean_audit": 3} | ADAPT,
}


def respond(asked: ScriptedRequest) -> Any:
    return answer(SIGNATURES[asked.role], asked.prompt)


def item(number: int = 1) -> BenchmarkItem:
    return parse_record(scenario(number), "test", number)


def arm_runner(arm: str, *, script: Any = None, **settings: Any) -> tuple[ArmRunner, list[Any]]:
    """The arm's runner, and the list of what its model gets asked."""
    backend = scripted_backend(script if script is not None else lambda asked: respond(asked))
    kept = {k: settings.pop(k) for k in ("drafts", "bases", "replay") if k in settings}
    data = {"name": "x", "data": {"path": "d.json"}, "arm": arm, **settings}
    if arm == "joint_vta":
        data["protocol"] = "scenario_joint"
    runner = ArmRunner(spec=parse_spec(data, source="test"), backend=backend, **kept)
    return runner, next(iter(backend._lms.values())).engine.requests


def record(runner: ArmRunner, of: BenchmarkItem | None = None) -> ItemRecord:
    return asyncio.run(runner.run(of or item(), control=False))


@pytest.mark.parametrize("arm", CALLS)
def test_an_arm_makes_its_own_calls_and_no_other(arm: str) -> None:
    runner, requests = arm_runner(arm)
    made = record(runner)
    counts: dict[str, int] = {}
    for asked in requests:
        counts[asked.role] = counts.get(asked.role, 0) + 1
    assert counts == CALLS[arm]
    assert sum(1 for _ in made.all_calls()) == sum(counts.values())
    assert made.error is None
    assert made.probes.keys() == {"SR", "PR", "IPA"}


def test_the_generators_reply_is_its_draft() -> None:
    made = record(arm_runner("generator_only")[0])
    for probe in made.probes.values():
        assert (probe.result, probe.response) == (None, probe.draft)


def test_the_matched_control_has_the_calls_of_strict_vta() -> None:
    assert sum(CALLS["control"].values()) == sum(CALLS["strict_vta"].values())


def test_only_the_joint_arm_reads_several_probes_at_once() -> None:
    for arm, together in (("strict_vta", 1), ("joint_vta", 3)):
        runner, requests = arm_runner(arm)
        record(runner)
        proposals = [a.prompt for a in requests if a.role == "transition_proposal"]
        questions = item().scenario.probes
        seen = [sum(q in prompt for _, q in questions.items()) for prompt in proposals]
        assert set(seen) == {together}
    assert record(arm_runner("joint_vta")[0]).probes["SR"].result.variant is Variant.JOINT_VTA  # type: ignore[union-attr]


def test_oracle_memory_is_the_two_relevant_sessions() -> None:
    texts = {}
    for memory in ("full", "oracle"):
        made = record(arm_runner("strict_vta", memory=memory)[0])
        result = made.probes["SR"].result
        assert result is not None
        texts[memory] = {line.session for line in result.readout}
    assert texts == {"full": {"s01", "s02", "s03"}, "oracle": {"s01", "s03"}}


def test_given_drafts_are_audited_as_they_are() -> None:
    drafts = {"u001": ByDimension("Go to Oldtown1 now.", "Shop in Oldtown1.", "Rest in Oldtown1.")}
    runner, requests = arm_runner("strict_vta", drafts=drafts)
    made = record(runner)
    assert not [asked for asked in requests if asked.role == "response_generation"]
    assert [p.draft for p in made.probes.values()] == list(dict(drafts["u001"].items()).values())
    assert record(runner, item(2)).failure == "SR: no draft: none was given"


def test_given_base_audits_are_not_made_again() -> None:
    bases = {"u001": {d: BaseAudit() for d in ("SR", "PR", "IPA")}}
    runner, requests = arm_runner("strict_vta", bases=bases)
    record(runner)
    assert {asked.role for asked in requests} == {
        "response_generation",
        "transition_proposal",
        "response_adaptation",
    }


def test_a_draft_that_failed_says_why_and_fails_its_probe_alone() -> None:
    def script(asked: ScriptedRequest) -> Any:
        if asked.role == "response_generation" and "Saturday" in asked.prompt:
            return {"reasoning": "r", "response": "  "}
        return respond(asked)

    made = record(arm_runner("strict_vta", script=script)[0])
    assert made.probes["IPA"].error == "no draft: the generator's draft was empty"
    assert made.probes["SR"].response is not None
    assert made.failure == "IPA: no draft: the generator's draft was empty"


def test_whatever_breaks_is_a_record() -> None:
    good = item()
    broken = replace(good, scenario=replace(good.scenario, sessions=()))
    made = record(arm_runner("strict_vta")[0], broken)
    assert made.uid == "u001"
    assert (made.error is not None) or all(p.response for p in made.probes.values())


def test_calls_stand_in_the_order_of_the_probes_however_they_end() -> None:
    orders = set()
    for _ in range(5):
        made = record(arm_runner("strict_vta")[0])
        orders.add(json.dumps([c.model_dump(exclude={"seconds"}) for c in made.all_calls()]))
    assert len(orders) == 1


def test_a_record_survives_its_json() -> None:
    made = record(arm_runner("lean")[0])
    assert ItemRecord.model_validate_json(made.model_dump_json()) == made
    assert (
        Path("d.json")
        == parse_spec(
            {"name": "x", "data": {"path": "d.json"}, "arm": "lean"}, source="t"
        ).data.path
    )
