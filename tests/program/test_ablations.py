"""Ablations change what they name, and leave the rest of the pipeline as it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.scripted import ScriptedRequest, scripted_backend
from stateauditor.program.channels import WITHHELD
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import AuditResult, Directive, Verdict
from stateauditor.signatures.step import LMRole
from tests.support.worked import DRAFT, MEMORY, QUESTION, REPLY, TRANSITION, VERDICT, script

OTHERS = [("Does the user live in Seattle?", "Yes, in Seattle."), ("Tea?", "Try oolong tea.")]
PAIRS = [(QUESTION, DRAFT), *OTHERS]
LABEL = {"number": 1, "evidence": ["E01", "E02"], "attribute": "home city", "material": True}


def requests(backend: Backend) -> list[ScriptedRequest]:
    found: list[ScriptedRequest] = backend.lm(LMRole.AUDITOR).engine.requests
    return found


def run(replies: dict[str, Any], **settings: Any) -> tuple[AuditResult, list[ScriptedRequest]]:
    backend = scripted_backend(replies)
    result = StateAuditor(backend, **settings).audit(MEMORY, QUESTION, DRAFT)
    return result, requests(backend)


def proposals(**settings: Any) -> list[str]:
    """The prompts of the three probes' proposers."""
    backend = scripted_backend(script())
    auditor = StateAuditor(backend, **settings)
    asyncio.run(auditor.aaudit_pairs(MEMORY, PAIRS))
    return [r.prompt for r in requests(backend) if r.role == "transition_proposal"]


def kinds(directives: tuple[Directive, ...]) -> list[tuple[str, str | None]]:
    return [(d.kind.value, d.current_value) for d in directives]


def test_entailment_labels_are_asked_for_and_carry_no_value() -> None:
    replies = script() | {
        "premise_adjudication": {"entailments": [{**LABEL, "label": "Contradicted"}]}
    }
    result, asked = run(replies, labels="nli", variant="draft_anchored", policy="full")
    (premise,) = result.premises
    assert (premise.verdict, premise.current_value) == (Verdict.STALE, None)
    assert kinds(result.directives) == [("repair", None)]
    (prompt,) = [r.prompt for r in asked if r.role == "premise_adjudication"]
    assert "entailed" in prompt
    assert "STALE" not in prompt
    assert result.failed_open == ()


@pytest.mark.parametrize(
    ("label", "verdict"), [("entailed", Verdict.VALID), ("neutral", Verdict.UNKNOWN)]
)
def test_other_entailment_labels_fire_nothing(label: str, verdict: Verdict) -> None:
    labelled = {"entailments": [{**LABEL, "label": label}]}
    replies = script() | {"premise_adjudication": labelled, "draft_consistency": labelled}
    result, _ = run(replies, labels="nli", variant="predecessor", policy="full")
    assert {premise.verdict for premise in result.premises} == {verdict}
    assert (result.directives, result.response) == ((), DRAFT)


def test_an_untyped_rewrite_sees_statements_and_no_directive() -> None:
    result, asked = run(script(), rewrite="untyped")
    assert result.response == REPLY
    (prompt,) = [r.prompt for r in asked if r.role == "response_adaptation"]
    assert "I live in Seattle" in prompt
    assert "my new Austin apartment" in prompt
    for word in ("correct_and_inform", "old_value", "current_value"):
        assert word not in prompt


def test_without_validation_an_invented_quotation_acts() -> None:
    invented = {**TRANSITION, "new_quote": "I bought a castle in Texas"}
    replies = script() | {
        "transition_proposal": {"transitions": [invented]},
        "premise_adjudication": {"verdicts": []},
        "draft_consistency": {"findings": []},
    }
    gated, _ = run(replies)
    assert gated.response == DRAFT
    open_, _ = run(replies, validation=False)
    assert open_.response == REPLY
    assert [c.status for c in open_.transitions] == [c.status for c in gated.transitions]


def test_without_verified_only_the_base_audit_acts_beside_transitions() -> None:
    diet = {**VERDICT, "attribute": "diet", "current_value": "vegan"}
    replies = script() | {"premise_adjudication": {"verdicts": [diet]}}
    assert {d.attribute for d in run(replies)[0].directives} == {"home city"}
    both, _ = run(replies, verified_only=False)
    assert {d.attribute for d in both.directives} == {"home city", "diet"}


def test_under_the_strict_protocol_a_proposer_sees_one_pair() -> None:
    for (question, draft), prompt in zip(PAIRS, proposals(), strict=True):
        assert question in prompt
        assert all(q not in prompt and d not in prompt for q, d in PAIRS if q != question), draft


@pytest.mark.parametrize(
    ("channels", "questions", "drafts"),
    [
        (["questions"], True, False),
        (["drafts"], False, True),
        (["questions", "drafts"], True, True),
    ],
)
def test_a_channel_shows_the_other_probes(
    channels: list[str], questions: bool, drafts: bool
) -> None:
    first = proposals(channels=channels)[0]
    assert QUESTION in first
    assert all((q in first) is questions for q, _ in OTHERS)
    assert all((d in first) is drafts for _, d in OTHERS)
    assert (WITHHELD in first) is (len(channels) == 1)


def test_the_evidence_channel_widens_the_evidence_and_shows_no_pair() -> None:
    memory = [
        {"timestamp": f"2024-01-{day:02}", "text": f"About {name} I said a good deal, {day}."}
        for day, name in enumerate(("tea", "boats", "chess", "maps"), start=1)
    ]
    tight = {"budget_tokens": 40, "question_slots": 1, "change_slots": 0, "fill": False}
    pairs = [("What about tea?", "Nothing."), ("What about boats?", "Nothing at all.")]

    def first(**settings: Any) -> str:
        backend = scripted_backend({})
        auditor = StateAuditor(backend, retrieval=tight, **settings)
        asyncio.run(auditor.aaudit_pairs(memory, pairs))
        return next(r.prompt for r in requests(backend) if r.role == "transition_proposal")

    assert "About boats I said" not in first()
    shared = first(channels=["evidence"])
    assert "About boats I said" in shared
    assert "What about boats?" not in shared


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"variant": "lean", "channels": ["drafts"]}, "channels changes nothing under variant"),
        ({"channels": ["evidence"], "expand_evidence": False}, "set expand_evidence"),
    ],
)
def test_what_makes_no_sense_together_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        StateAuditor("offline", **settings)


def test_compiled_prompts_do_not_go_with_replaced_roles() -> None:
    with pytest.raises(ConfigError, match="compiled prompts belong to the roles"):
        StateAuditor("offline", labels="nli", compiled="anywhere")


def test_the_offline_rules_answer_every_ablation() -> None:
    memory = [
        {"timestamp": "2024-01-05", "text": "I live in Seattle."},
        {"timestamp": "2024-06-02", "text": "I moved to Austin."},
    ]
    draft = "You live in Seattle, so see the market in Seattle. Bring a hat for the sun."
    for settings in (
        {"labels": "nli", "variant": "predecessor"},
        {"rewrite": "untyped"},
        {"validation": False},
        {"verified_only": False},
    ):
        result = StateAuditor("offline", policy="repair_only", **settings).audit(
            memory, "Weekend ideas?", draft
        )
        assert result.failed_open == ()
        assert result.changed, settings
