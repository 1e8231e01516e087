"""A role is known by its card: one declaration, and everything that goes by it follows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import dspy
import pytest

from stateauditor.metrics import cost_summary
from stateauditor.program.backends.backend import Backend
from stateauditor.program.config import AuditConfig
from stateauditor.program.offline import offline_adapter
from stateauditor.program.roles import registry
from stateauditor.program.roles.audit_run import AuditRun
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.compiled import load_compiled, role_state, save_compiled
from stateauditor.program.roles.ensemble import Roles
from stateauditor.program.roles.registry import asked_roles, card_of, cards, declare, stages
from stateauditor.signatures.longest import SENTENCE, longest_answer
from stateauditor.signatures.models import Labels, Policy, Rewrite, Variant
from stateauditor.signatures.step import Card, LMRole


class ToneCheck(dspy.Signature):
    """Say in one word how a drafted reply sounds."""

    draft: str = dspy.InputField(desc="The drafted reply.")
    reasoning: str = dspy.OutputField(desc="What gives the tone away.")
    tone: str = dspy.OutputField(desc="The tone.")


TONE_CHECK = Card(
    name="tone_check",
    stage=6,
    lm_role=LMRole.AUDITOR,
    signatures=(ToneCheck,),
    longest=lambda prompt: {"tone": SENTENCE},
    asked=lambda audit: audit.skeptic,
)


class ToneChecker(Role):
    """Asks for the tone."""

    def __init__(self) -> None:
        super().__init__()
        self.check = dspy.Predict(ToneCheck)

    async def aforward(self, *, draft: str) -> str:
        return str((await self.check.acall(draft=draft)).tone)


def plain(draft: str) -> dict[str, Any]:
    return {"reasoning": "no exclamation mark", "tone": "loud" if "!" in draft else "plain"}


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A role more, for one test."""
    monkeypatch.setattr(registry, "_DECLARED", dict(registry._DECLARED))
    monkeypatch.setattr(offline_adapter, "_ANSWERING", dict(offline_adapter._ANSWERING))
    declare(TONE_CHECK, ToneChecker, rules={ToneCheck: plain})
    return


@pytest.mark.usefixtures("declared")
def test_a_declared_role_is_asked_recorded_answered_offline_and_priced() -> None:
    run, roles = AuditRun(Backend.load("offline"), None), Roles()
    tone = asyncio.run(run.attempt(TONE_CHECK, lambda: roles.of(TONE_CHECK).acall(draft="Hi!")))
    assert tone == "loud"
    assert [call.role for call in run.calls] == ["tone_check"]
    (priced,) = cost_summary([[run.calls]], stages()).roles
    assert (priced.role, priced.total.calls, stages()["tone_check"]) == ("tone_check", 1, 6)


@pytest.mark.usefixtures("declared")
def test_a_declared_role_is_known_to_estimates_settings_and_compiled_folders(tmp_path: Any) -> None:
    answer = longest_answer(card_of("tone_check").longest, "a prompt")
    assert json.dumps(answer["tone"]) == json.dumps(SENTENCE)
    assert answer["reasoning"]
    assert asked_roles(AuditConfig(skeptic=True))[-1] == "tone_check"
    assert "tone_check" not in asked_roles(AuditConfig())
    save_compiled(tmp_path, "t", {"tone_check": role_state(Roles(), "tone_check")}, [])
    assert load_compiled(tmp_path, Roles()).roles == ("tone_check",)


@pytest.mark.usefixtures("declared")
def test_a_role_that_breaks_fails_open_under_its_name() -> None:
    run = AuditRun(Backend.load("offline"), None)

    async def broken() -> str:
        raise TimeoutError

    assert asyncio.run(run.attempt(TONE_CHECK, broken)) is None
    assert [(failure.role, failure.reason) for failure in run.failures] == [
        ("tone_check", "timed out")
    ]


@pytest.mark.usefixtures("declared")
def test_a_name_belongs_to_one_role() -> None:
    with pytest.raises(ValueError, match="two roles are called 'tone_check'"):
        declare(TONE_CHECK, ToneChecker)


def test_a_rule_answers_only_what_stands_on_the_card() -> None:
    other = Card(
        name="other",
        stage=1,
        lm_role=LMRole.AUDITOR,
        signatures=(),
        longest=lambda prompt: {},
    )
    with pytest.raises(ValueError, match="other: ToneCheck does not stand on its card"):
        declare(other, rules={ToneCheck: plain})
    assert "other" not in {card.name for card in cards()}


def test_an_unknown_name_is_told_with_the_names_that_there_are() -> None:
    with pytest.raises(LookupError, match=r"'lean_auditor'; there are .*lean_audit"):
        card_of("lean_auditor")


@pytest.mark.parametrize("variant", Variant)
def test_which_roles_are_asked_follows_from_the_settings(variant: Variant) -> None:
    asked = asked_roles(AuditConfig(variant=variant))
    assert ("lean_audit" in asked) is (variant is Variant.LEAN)
    assert ("transition_proposal" in asked) is (variant in (Variant.STRICT_VTA, Variant.JOINT_VTA))
    observing = asked_roles(AuditConfig(variant=variant, policy=Policy.OBSERVE))
    assert set(asked) - set(observing) == {"response_adaptation"}


def test_every_role_of_the_audit_has_a_module_also_in_ablations() -> None:
    audited = {card.name for card in cards() if card.asked is not None}
    for labels in Labels:
        for rewrite in Rewrite:
            roles = Roles(labels=labels, rewrite=rewrite)
            assert {n for n, role in vars(roles).items() if isinstance(role, Role)} == audited


def test_every_role_but_the_judge_is_answered_offline() -> None:
    silent = {
        card.name
        for card in cards()
        for signature in card.signatures
        if offline_adapter._fields(signature) not in offline_adapter._ANSWERING
    }
    assert silent == {"stale_judgment"}
