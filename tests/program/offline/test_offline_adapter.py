"""The DSPy boundary: dispatch by fields, typed inputs, no LM call."""

import asyncio
import json
from pathlib import Path

import dspy
import pytest

from stateauditor.program import offline, roles  # noqa: F401  # roles declare what is answered
from stateauditor.program.offline.label import OFFLINE_MODEL
from stateauditor.program.offline.offline_adapter import OfflineAdapter, Refuse, answer, offline_lm
from stateauditor.signatures.adapter import DirectiveInstruction, ResponseAdaptation
from stateauditor.signatures.errors import BackendError, ModelOutputError
from stateauditor.signatures.gate import GatedTransition, SemanticGate
from stateauditor.signatures.generator import ResponseGeneration
from stateauditor.signatures.lean import LeanAudit
from stateauditor.signatures.models import ChangeStatus, DirectiveKind, Verdict
from stateauditor.signatures.premises import (
    NumberedPremise,
    PremiseAdjudication,
    PremiseExtraction,
    PresuppositionExtraction,
)
from stateauditor.signatures.proposer import QuestionDraftPair, TransitionProposal
from stateauditor.signatures.reviewer import EvidenceReview
from stateauditor.signatures.skeptic import ChallengedPremise, SkepticChallenge
from stateauditor.signatures.timeline import DraftConsistency, NumberedChange, TimelineConstruction
from tests.program.offline.readouts import readout

LINES = readout("I live in Seattle.", "I love tea.", "I moved to Austin. It was hot.")
QUESTION = "Weekend ideas?"
DRAFT = "See the market in Seattle. Bring a hat."
PAIRS = [QuestionDraftPair(id="P1", question=QUESTION, draft=DRAFT)]


@pytest.fixture(autouse=True)
def offline_backend():
    with dspy.context(lm=offline_lm(), adapter=OfflineAdapter()):
        yield


def test_the_proposal_quotes_single_lines_word_for_word() -> None:
    found = dspy.Predict(TransitionProposal)(readout=LINES, pairs=PAIRS)
    (change,) = found.transitions
    assert (change.old_quote, change.new_quote) == ("I live in Seattle.", "I moved to Austin.")
    assert (change.old_value, change.new_value) == ("Seattle", "Austin")
    assert len(set(change.causal_path)) >= 2
    assert change.applies_to == ["P1"]
    assert "lexical rules" in found.reasoning


def test_the_proposal_names_only_the_pairs_that_rest_on_the_old_value() -> None:
    pairs = [*PAIRS, QuestionDraftPair(id="P2", question="Tea?", draft="Try oolong.")]
    (change,) = dspy.Predict(TransitionProposal)(readout=LINES, pairs=pairs).transitions
    assert change.applies_to == ["P1"]
    assert dspy.Predict(TransitionProposal)(readout=LINES, pairs=pairs[1:]).transitions == []


def test_chain_of_thought_and_async_calls_are_answered() -> None:
    predict = dspy.ChainOfThought(PresuppositionExtraction)
    assert predict(question="Since I live in Rome, what now?").premises[0].text == (
        "The user lives in Rome."
    )
    both = dspy.Predict(PremiseExtraction)
    found = asyncio.run(both.acall(question=QUESTION, draft="As you live in Seattle, walk."))
    assert [p.text for p in found.premises] == ["The user lives in Seattle."]


def test_the_passes_agree_with_each_other() -> None:
    premises = [NumberedPremise(number=1, text="The user lives in Seattle.")]
    judged = dspy.Predict(PremiseAdjudication)(
        readout=LINES, question=QUESTION, draft=DRAFT, premises=premises
    )
    assert [(v.verdict, v.current_value) for v in judged.verdicts] == [(Verdict.STALE, "Austin")]
    timeline = dspy.Predict(TimelineConstruction)(readout=LINES).timeline
    assert timeline[0].status is ChangeStatus.CHANGED
    assert timeline[0].evidence == ["E01", "E03"]
    assert ("taste", ChangeStatus.UNCHANGED) in [(t.attribute, t.status) for t in timeline]
    change = NumberedChange(
        number=4, attribute="home", previous_value="Seattle", current_value="Austin"
    )
    found = dspy.Predict(DraftConsistency)(question=QUESTION, draft=DRAFT, changes=[change])
    assert [(f.number, f.verdict, f.material) for f in found.findings] == [(4, Verdict.STALE, True)]


def test_consistency_finds_facets_and_leaves_other_drafts_alone() -> None:
    change = NumberedChange(
        number=1,
        attribute="mobility",
        previous_value="goes running",
        current_value="an injured leg",
    )
    predict = dspy.Predict(DraftConsistency)
    runs = predict(question="Plan my week.", draft="Monday: an easy run.", changes=[change])
    rests = predict(question="Plan my week.", draft="Rest the injured leg.", changes=[change])
    open_end = change.model_copy(update={"current_value": None})
    blank = predict(question="Plan my week.", draft="An easy run.", changes=[open_end])
    assert [f.findings[0].verdict for f in (runs, rests, blank)] == [
        Verdict.STALE,
        Verdict.VALID,
        Verdict.VALID,
    ]


def test_lean_gives_all_three_in_one() -> None:
    found = dspy.Predict(LeanAudit)(
        readout=readout("I live in Seattle.", "I moved to Austin."),
        pairs=[
            QuestionDraftPair(
                id="P1",
                question="Since I live in Seattle, what now?",
                draft="As you live in Seattle, park your car near the lake.",
            )
        ],
    )
    assert found.premises[0].verdict is Verdict.STALE
    assert found.timeline[0].current_value == "Austin"
    assert [t.new_value for t in found.transitions] == ["Austin"]


def test_lean_says_nothing_about_a_question_on_the_past() -> None:
    pair = QuestionDraftPair(
        id="P1", question="What was my old city?", draft="You live in Seattle."
    )
    found = dspy.Predict(LeanAudit)(readout=LINES, pairs=[pair])
    assert (found.premises, found.transitions) == ([], [])


def test_weak_changes_are_uncertain_and_never_proposed() -> None:
    lines = readout("I'm vegetarian.", "I had steak for dinner.")
    (entry,) = dspy.Predict(TimelineConstruction)(readout=lines).timeline
    assert (entry.status, entry.current_value) == (ChangeStatus.UNCERTAIN, None)
    pair = QuestionDraftPair(id="P1", question="Dinner?", draft="A tofu curry with lentils.")
    assert dspy.Predict(TransitionProposal)(readout=lines, pairs=[pair]).transitions == []


def test_the_second_looks_uphold_what_a_rule_reproduces() -> None:
    findings = [
        ChallengedPremise(number=1, text="The user lives in Seattle.", verdict=Verdict.STALE),
        ChallengedPremise(number=2, text="The user has a boat.", verdict=Verdict.STALE),
    ]
    ruled = dspy.Predict(SkepticChallenge)(readout=LINES, question=QUESTION, findings=findings)
    assert [c.upheld for c in ruled.challenges] == [True, False]
    gate = dspy.Predict(SemanticGate)
    moved = GatedTransition(
        number=1,
        attribute="home",
        old_value="Seattle",
        old_statement="I live in Seattle.",
        new_value="Austin",
        new_statement="I moved to Austin.",
    )
    planned = moved.model_copy(
        update={"number": 2, "new_statement": "I was thinking about moving to Austin."}
    )
    ruled = gate(question=QUESTION, transitions=[moved, planned])
    assert [r.supersedes for r in ruled.rulings] == [True, False]
    ruled = gate(question="What was my old city?", transitions=[moved])
    assert [r.supersedes for r in ruled.rulings] == [False]


def test_the_reply_is_rewritten_and_labelled() -> None:
    directive = DirectiveInstruction(
        kind=DirectiveKind.REPAIR,
        attribute="home",
        old_value="Seattle",
        current_value="Austin",
        evidence=['2020-03-01: "I moved to Austin."'],
    )
    found = dspy.Predict(ResponseAdaptation)(question=QUESTION, draft=DRAFT, directives=[directive])
    assert "offline lexical rules" in found.response
    assert "2020-03-01" in found.response


def test_the_lm_refuses_every_call() -> None:
    lm = offline_lm()
    assert lm.model == OFFLINE_MODEL
    with pytest.raises(BackendError, match="calls no LM"):
        Refuse().complete(object())


def test_an_unknown_signature_is_refused_by_name() -> None:
    with pytest.raises(ModelOutputError, match=r"inputs place and outputs weather"):
        dspy.Predict("place -> weather")(place="Rome")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "'readout' is missing"),
        ({"readout": "E01 | ..."}, "readout is not usable"),
    ],
)
def test_inputs_of_the_wrong_kind_are_refused(inputs: dict, message: str) -> None:
    with pytest.raises(ModelOutputError, match=message):
        answer(TimelineConstruction, inputs)


def test_a_signature_with_inputs_of_another_name_is_refused() -> None:
    with pytest.raises(ModelOutputError, match="inputs place and outputs premises"):
        answer(dspy.Signature("place -> premises"), {"place": "Rome"})


def test_inputs_from_saved_demos_are_read_as_dicts() -> None:
    found = answer(
        TransitionProposal,
        {
            "readout": {"entries": [e.model_dump() for e in LINES.entries]},
            "pairs": [PAIRS[0].model_dump()],
        },
    )
    assert len(found["transitions"]) == 1
    with pytest.raises(ModelOutputError, match=r"pairs\.0"):
        answer(TransitionProposal, {"readout": LINES, "pairs": ["P1"]})


def test_presuppositions_see_the_question_alone() -> None:
    found = dspy.Predict(PresuppositionExtraction)(question="Where do I park my car?")
    assert [p.text for p in found.premises] == ["The user drives a car."]


# --- the worked examples -------------------------------------------------------------

DEMOS = Path(offline.__file__).parent / "demo"


@pytest.mark.parametrize("variant", ["strict_vta", "lean", "predecessor"])
@pytest.mark.parametrize(
    ("name", "changed"),
    [("move", True), ("leg_cast", True), ("control", False), ("past_question", False)],
)
def test_worked_examples_end_to_end(name: str, changed: bool, variant: str) -> None:
    from stateauditor.program.auditor import StateAuditor

    example = json.loads((DEMOS / f"{name}.json").read_text(encoding="utf-8"))
    result = StateAuditor(backend="offline", variant=variant).audit(**example)
    assert result.failed_open == ()
    assert result.changed is changed
    assert ("offline lexical rules" in result.response) is changed
    if not changed:
        assert result.response == example["draft"]
        assert result.directives == ()


def test_the_generator_quotes_the_latest_statement_that_fits_and_says_who_wrote_it() -> None:
    reply = dspy.Predict(ResponseGeneration)(readout=LINES, question="Which tea do I love?")
    assert "you said: “I love tea.”" in reply.response
    assert "lexical rules" in reply.response
    nothing = dspy.Predict(ResponseGeneration)(readout=LINES, question="Any news of my boat?")
    assert nothing.response.startswith("I remember nothing about that.")


def test_the_review_finds_what_the_lean_call_finds_but_no_transitions() -> None:
    review = dspy.Predict(EvidenceReview)(readout=LINES, question=QUESTION, draft=DRAFT)
    lean = dspy.Predict(LeanAudit)(readout=LINES, pairs=PAIRS)
    assert review.premises == lean.premises
    assert "transitions" not in review
