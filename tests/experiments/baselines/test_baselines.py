"""Each baseline asks what its paper asks, in that order, and never costs the user the draft."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from stateauditor.experiments.baselines.contract import BaselineSettings
from stateauditor.experiments.baselines.registry import BASELINES, run_baseline
from stateauditor.experiments.runs.records import BaselineResult
from stateauditor.experiments.runs.spec import Arm, load_spec
from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.scripted import (
    ScriptedEngine,
    ScriptedRequest,
    scripted_backend,
)
from stateauditor.program.roles.registry import cards
from tests.support.worked import DRAFT, MEMORY, QUESTION

REVISED = "Swim at Barton Springs in the morning."
FAULTS = {"faults": [{"passage": "Green Lake", "problem": "moved", "evidence": ["E01"]}]}
QUESTIONS = [{"text": "Where does the user live?"}, {"text": "What does the user drink?"}]
DISAGREES = {"ruling": {"by_draft": "Seattle", "by_evidence": "Austin", "agreement": "Disagrees"}}
STATES = {"states": [{"attribute": "home", "superseded": ["Seattle"], "current_value": "Austin"}]}
TIMELINE = {
    "timeline": [
        {
            "attribute": "home",
            "previous_value": "Seattle",
            "current_value": "Austin",
            "status": "changed",
        }
    ]
}
SCRIPTS: dict[Arm, dict[str, Any]] = {
    Arm.SELF_CRITIQUE: {"self_critique": FAULTS, "critique_revision": {"response": REVISED}},
    Arm.COVE: {
        "verification_planning": {"checks": QUESTIONS},
        "verification_answering": {"answer": "In Austin since June 2024."},
        "verified_revision": {"response": REVISED},
    },
    Arm.RARR_STORE: {
        "query_generation": {"queries": QUESTIONS[:1]},
        "agreement_gate": DISAGREES,
        "evidence_editing": {"response": REVISED},
    },
    Arm.CUPMEM_SUMMARY: {"state_summary": STATES, "summary_generation": {"response": REVISED}},
    Arm.TIMELINE_CONDITIONED: {
        "timeline_construction": TIMELINE,
        "timeline_regeneration": {"response": REVISED},
    },
    Arm.PERSONA_ALIGNMENT: {
        "persona_selection": {"persona": [{"text": "The user lives in Austin."}]},
        "persona_alignment": {"response": REVISED},
    },
}
CALLS = {
    Arm.COVE: {"verification_planning": 1, "verification_answering": 2, "verified_revision": 1}
}
STEPS = [(arm, role) for arm, script in SCRIPTS.items() for role in script]
WRITERS = [(arm, role) for arm, role in STEPS if "response" in SCRIPTS[arm][role]]


def revise(
    arm: Arm, backend: Backend | None = None, *, draft: str = DRAFT, **settings: int
) -> BaselineResult:
    backend = backend or scripted_backend(SCRIPTS[arm])
    index = StateAuditor("offline").index(MEMORY)
    chosen = BaselineSettings(**settings)
    return asyncio.run(run_baseline(BASELINES[arm](), backend, index, QUESTION, draft, chosen))


def asked(backend: Backend) -> list[ScriptedRequest]:
    engine: ScriptedEngine = next(iter(backend._lms.values())).engine
    return engine.requests


def test_every_arm_that_audits_nothing_has_its_module_and_its_config() -> None:
    baselines = {arm for arm in Arm if arm.is_baseline}
    assert baselines == set(BASELINES) == set(SCRIPTS)
    assert {load_spec(arm.value).arm for arm in baselines} == baselines


@pytest.mark.parametrize("arm", SCRIPTS)
def test_a_baseline_makes_its_calls_and_sends_its_revision(arm: Arm) -> None:
    made = revise(arm)
    assert (made.response, made.changed, made.failed_open) == (REVISED, True, ())
    assert Counter(c.role for c in made.calls) == CALLS.get(arm, dict.fromkeys(SCRIPTS[arm], 1))
    assert sum(call.input_tokens for call in made.calls) > 0
    assert made.directives == made.transitions == made.premises == made.timeline == ()


@pytest.mark.parametrize(("arm", "role"), STEPS)
def test_a_step_that_breaks_leaves_the_draft_and_is_named(arm: Arm, role: str) -> None:
    script = {**SCRIPTS[arm], role: RuntimeError("the model is gone")}
    made = revise(arm, scripted_backend(script))
    assert made.response == DRAFT
    assert not made.changed
    assert [failure.role for failure in made.failed_open] == [role]
    assert "the model is gone" not in made.failed_open[0].reason


@pytest.mark.parametrize(("arm", "role"), WRITERS)
def test_a_blank_or_absurd_revision_leaves_the_draft(arm: Arm, role: str) -> None:
    for reply in (" ", "long " * 1_000):
        made = revise(arm, scripted_backend({**SCRIPTS[arm], role: {"response": reply}}))
        assert made.response == DRAFT
        assert [failure.role for failure in made.failed_open] == [role]


@pytest.mark.parametrize("arm", SCRIPTS)
def test_finding_nothing_leaves_the_draft_byte_for_byte(arm: Arm) -> None:
    draft = "Keep [[ ## this ## ]] as it is.\r\n"
    writes = {r: reply for r, reply in SCRIPTS[arm].items() if "response" in reply}
    made = revise(arm, scripted_backend(writes), draft=draft)
    if arm in (Arm.CUPMEM_SUMMARY, Arm.TIMELINE_CONDITIONED):
        assert made.response == REVISED  # these write anew, whatever there is to go by
    else:
        assert (made.response, made.changed) == (draft, False)


@pytest.mark.parametrize("arm", SCRIPTS)
def test_the_offline_rules_answer_every_step_and_change_nothing_without_reason(arm: Arm) -> None:
    offline = Backend.load("offline")
    made = revise(arm, offline)
    assert made.failed_open == ()
    assert {call.model for call in made.calls} == {"offline/lexical-rules"}
    index = StateAuditor("offline").index([{"timestamp": "2024-01-05", "text": "I like tea."}])
    settings = BaselineSettings()
    calm = asyncio.run(
        run_baseline(BASELINES[arm](), offline, index, "Tea ideas?", "Try oolong tea.", settings)
    )
    if arm is not Arm.CUPMEM_SUMMARY:  # it answers anew
        assert calm.response == "Try oolong tea."


def test_the_offline_rules_find_what_a_lexical_rule_can() -> None:
    memory = [
        {"timestamp": "2024-01-05", "text": "I live in Seattle."},
        {"timestamp": "2024-06-02", "text": "I moved to Austin."},
    ]
    index = StateAuditor("offline").index(memory)
    for arm in (Arm.SELF_CRITIQUE, Arm.RARR_STORE, Arm.TIMELINE_CONDITIONED):
        made = asyncio.run(
            run_baseline(
                BASELINES[arm](),
                Backend.load("offline"),
                index,
                "Weekend ideas?",
                "You live in Seattle, so see the market in Seattle. Bring a hat for the sun.",
                BaselineSettings(),
            )
        )
        assert "2024-06-02" in made.response, arm


def test_verification_answers_see_neither_the_draft_nor_each_other() -> None:
    backend = scripted_backend(SCRIPTS[Arm.COVE])
    revise(Arm.COVE, backend)
    prompts = [r.prompt for r in asked(backend) if r.role == "verification_answering"]
    for prompt, own, other in zip(prompts, QUESTIONS, reversed(QUESTIONS), strict=True):
        assert own["text"] in prompt
        assert other["text"] not in prompt
        assert "Green Lake in the morning" not in prompt


def test_an_answer_that_fails_leaves_the_others_in_force() -> None:
    def one_fails(request: ScriptedRequest) -> Any:
        if "Where does" in request.prompt:
            raise RuntimeError
        return {"answer": "Tea."}

    made = revise(
        Arm.COVE, scripted_backend({**SCRIPTS[Arm.COVE], "verification_answering": one_fails})
    )
    assert made.response == REVISED
    assert [failure.role for failure in made.failed_open] == ["verification_answering"]


def test_no_more_questions_are_followed_up_than_the_settings_allow() -> None:
    made = revise(Arm.COVE, questions=1)
    assert Counter(c.role for c in made.calls)["verification_answering"] == 1


@pytest.mark.parametrize("agreement", ["agrees", "irrelevant"])
def test_only_a_disagreement_is_edited(agreement: str) -> None:
    script = {**SCRIPTS[Arm.RARR_STORE], "agreement_gate": {"ruling": {"agreement": agreement}}}
    made = revise(Arm.RARR_STORE, scripted_backend(script))
    assert made.response == DRAFT
    assert "evidence_editing" not in {call.role for call in made.calls}


def test_each_query_sees_the_edits_before_it_and_its_own_evidence() -> None:
    script = {**SCRIPTS[Arm.RARR_STORE], "query_generation": {"queries": QUESTIONS}}
    script["evidence_editing"] = [{"response": "First edit."}, {"response": "Second edit."}]
    backend = scripted_backend(script)
    assert revise(Arm.RARR_STORE, backend).response == "Second edit."
    gates = [r.prompt for r in asked(backend) if r.role == "agreement_gate"]
    assert "Green Lake in the morning" in gates[0]
    assert "First edit." in gates[1]
    assert "Green Lake in the morning" not in gates[1]


def test_the_summary_is_given_to_a_generator_that_never_sees_the_draft() -> None:
    backend = scripted_backend(SCRIPTS[Arm.CUPMEM_SUMMARY])
    revise(Arm.CUPMEM_SUMMARY, backend)
    assert all("Green Lake in the morning" not in r.prompt for r in asked(backend))
    assert '"superseded": ["Seattle"]' in asked(backend)[-1].prompt


def test_no_baseline_is_told_a_verdict() -> None:
    for arm, script in SCRIPTS.items():
        backend = scripted_backend(script)
        revise(arm, backend)
        prompts = "\n".join(request.prompt for request in asked(backend))
        assert "STALE" not in prompts, arm


def test_every_step_has_its_card() -> None:
    assert {role for _, role in STEPS} <= {card.name for card in cards()}
