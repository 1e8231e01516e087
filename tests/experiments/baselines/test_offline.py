"""The lexical answers to the baselines' and ablations' Signatures: no more than rules can see."""

from __future__ import annotations

from typing import Any

import dspy
import pytest

from stateauditor.experiments.baselines import registry  # noqa: F401  # declares the steps
from stateauditor.experiments.baselines.signatures.cove import (
    AnsweredQuestion,
    VerificationAnswering,
    VerificationPlanning,
    VerifiedRevision,
)
from stateauditor.experiments.baselines.signatures.cupmem_summary import (
    StateSummary,
    SummaryGeneration,
)
from stateauditor.experiments.baselines.signatures.persona_alignment import (
    PersonaAlignment,
    PersonaFact,
    PersonaSelection,
)
from stateauditor.experiments.baselines.signatures.rarr_store import (
    Agreement,
    AgreementGate,
    EvidenceEditing,
    QueryGeneration,
)
from stateauditor.experiments.baselines.signatures.self_critique import (
    CritiqueRevision,
    Fault,
    SelfCritique,
)
from stateauditor.experiments.baselines.signatures.timeline_conditioned import TimelineRegeneration
from stateauditor.program.offline.offline_adapter import OfflineAdapter, offline_lm
from stateauditor.signatures.adapter import ConsistencyRewrite
from stateauditor.signatures.entailment import Entailment
from stateauditor.signatures.models import ChangeStatus
from stateauditor.signatures.premises import NumberedPremise, PremiseEntailment
from stateauditor.signatures.timeline import DraftEntailment, NumberedChange, TimelineEntry
from tests.program.offline.readouts import readout

LINES = readout("I live in Seattle.", "I love tea.", "I moved to Austin. It was hot.")
CALM = readout("I live in Seattle.", "I love tea.")
QUESTION = "Weekend ideas?"
DRAFT = "See the market in Seattle. Bring a hat for the sun, and take your time over lunch."
MOVE = TimelineEntry(
    attribute="home city",
    previous_value="Seattle",
    current_value="Austin",
    status=ChangeStatus.CHANGED,
)


@pytest.fixture(autouse=True)
def offline_backend() -> Any:
    with dspy.context(lm=offline_lm(), adapter=OfflineAdapter()):
        yield


def ask(signature: Any, **inputs: Any) -> Any:
    found = dspy.Predict(signature)(**inputs)
    assert "lexical rules" in found.reasoning
    return found


def both(**inputs: Any) -> dict[str, Any]:
    return {"question": QUESTION, "draft": DRAFT, **inputs}


def repaired(reply: str) -> bool:
    """Whether the old value went, and the dated remark came."""
    return "market in Seattle" not in reply and "I moved to Austin." in reply


def test_a_critique_names_the_old_value_and_its_lines() -> None:
    (fault,) = ask(SelfCritique, **both(readout=LINES)).faults
    assert (fault.passage, fault.problem, fault.evidence) == ("Seattle", "Austin", ["E01", "E03"])
    assert ask(SelfCritique, **both(readout=CALM)).faults == []


def test_a_revision_follows_the_critique_and_nothing_else() -> None:
    named = [Fault(passage="Seattle")]
    assert repaired(ask(CritiqueRevision, **both(readout=LINES, faults=named)).response)
    other = [Fault(passage="tea")]
    assert ask(CritiqueRevision, **both(readout=LINES, faults=other)).response == DRAFT


def test_each_premise_of_the_draft_is_asked_about() -> None:
    draft = "You live in Seattle, so go out."
    checks = ask(VerificationPlanning, question=QUESTION, draft=draft).checks
    queries = ask(QueryGeneration, question=QUESTION, draft=draft).queries
    assert [check.text for check in checks] == [f"Is it still so? {q.text}" for q in queries]
    assert "Seattle" in queries[0].text


def test_a_verification_answer_is_a_dated_quotation() -> None:
    answer = ask(VerificationAnswering, readout=LINES, check="Do they love tea?").answer
    assert "I love tea." in answer
    assert "you said" in answer


def test_quoted_answers_are_read_like_a_readout() -> None:
    def said(date: str, text: str) -> AnsweredQuestion:
        return AnsweredQuestion(question="?", answer=f"On {date} you said: “{text}”")

    answers = [said("2024-06-01", "I moved to Austin."), said("2024-01-01", "I live in Seattle.")]
    assert repaired(ask(VerifiedRevision, **both(answers=answers)).response)
    unquoted = [AnsweredQuestion(question="?", answer="In Austin, it seems.")]
    assert ask(VerifiedRevision, **both(answers=unquoted)).response == DRAFT


@pytest.mark.parametrize(
    ("lines", "query", "agreement"),
    [
        (LINES, "The user lives in Seattle.", Agreement.DISAGREES),
        (CALM, "The user lives in Seattle.", Agreement.AGREES),
        (CALM, "The user plays chess.", Agreement.IRRELEVANT),
    ],
)
def test_the_gate_disagrees_where_a_line_has_ended_what_the_draft_names(
    lines: Any, query: str, agreement: Agreement
) -> None:
    ruling = ask(AgreementGate, **both(readout=lines, query=query)).ruling
    assert ruling.agreement is agreement


def test_an_edit_takes_out_what_the_evidence_has_ended() -> None:
    assert repaired(ask(EvidenceEditing, **both(readout=LINES, query="home")).response)
    assert ask(EvidenceEditing, **both(readout=CALM, query="home")).response == DRAFT


def test_a_summary_says_what_holds_and_what_is_over() -> None:
    states = {s.attribute: s for s in ask(StateSummary, readout=LINES).states}
    (home,) = [s for s in states.values() if s.superseded]
    assert (home.superseded, home.current_value) == (["Seattle"], "Austin")


def test_an_answer_from_the_summary_recalls_no_superseded_line() -> None:
    lines = readout("I live in Seattle, by the lake.", "I moved to Austin.")
    states = ask(StateSummary, readout=lines).states
    question = "Which lake does the user live by?"
    with_all = ask(SummaryGeneration, readout=lines, states=[], question=question)
    assert "Seattle" in with_all.response
    without = ask(SummaryGeneration, readout=lines, states=states, question=question)
    assert "Seattle" not in without.response


def test_a_reply_from_the_timeline_follows_its_changes_only() -> None:
    followed = ask(TimelineRegeneration, **both(readout=LINES, timeline=[MOVE]))
    assert repaired(followed.response)
    unchanged = MOVE.model_copy(update={"status": ChangeStatus.UNCHANGED})
    kept = ask(TimelineRegeneration, **both(readout=LINES, timeline=[unchanged]))
    assert kept.response == DRAFT


def test_the_persona_has_what_still_holds_and_matters() -> None:
    question, draft = "Which tea in Seattle?", "Try the tea shop in Seattle."
    persona = ask(PersonaSelection, readout=LINES, question=question, draft=draft).persona
    assert [fact.text for fact in persona] == ["I love tea."]
    assert persona[0].evidence == ["E02"]


def test_an_event_in_the_persona_ends_what_the_draft_relies_on() -> None:
    draft = "Start with your usual morning run. Then eat well, and rest in the afternoon."
    hurt = [PersonaFact(text="I broke my leg and it is in a cast.")]
    aligned = ask(PersonaAlignment, question="Plan my day?", draft=draft, persona=hurt).response
    assert aligned != draft
    calm = [PersonaFact(text="I love tea.")]
    assert (
        ask(PersonaAlignment, question="Plan my day?", draft=draft, persona=calm).response == draft
    )


def test_entailment_labels_are_the_verdicts_without_their_values() -> None:
    premises = [
        NumberedPremise(number=1, text="The user lives in Seattle."),
        NumberedPremise(number=2, text="The user loves tea."),
        NumberedPremise(number=3, text="The user plays chess."),
    ]
    found = ask(PremiseEntailment, **both(readout=LINES, premises=premises)).entailments
    assert [item.label for item in found] == [
        Entailment.CONTRADICTED,
        Entailment.ENTAILED,
        Entailment.NEUTRAL,
    ]
    assert not hasattr(found[0], "current_value")


def test_a_draft_that_names_the_old_value_contradicts_the_change() -> None:
    change = NumberedChange(
        number=1, attribute="home city", previous_value="Seattle", current_value="Austin"
    )
    (found,) = ask(DraftEntailment, **both(changes=[change])).entailments
    assert (found.label, found.material) == (Entailment.CONTRADICTED, True)


def test_an_untyped_rewrite_can_only_note_the_latest_statement() -> None:
    said = ['2024-01-01: "I live in Seattle."', '2024-06-01: "I moved to Austin."']
    response = ask(ConsistencyRewrite, **both(statements=said)).response
    assert response.endswith(DRAFT)
    assert "2024-06-01" in response
