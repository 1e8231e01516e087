"""What every Signature owes its role, whatever its task."""

from enum import StrEnum
from typing import Any, get_args

import dspy
import pytest
from pydantic import BaseModel

from stateauditor.experiments.baselines.signatures.cove import (
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
    PersonaSelection,
)
from stateauditor.experiments.baselines.signatures.rarr_store import (
    AgreementGate,
    EvidenceEditing,
    QueryGeneration,
)
from stateauditor.experiments.baselines.signatures.self_critique import (
    CritiqueRevision,
    SelfCritique,
)
from stateauditor.experiments.baselines.signatures.timeline_conditioned import TimelineRegeneration
from stateauditor.signatures.adapter import ConsistencyRewrite, ResponseAdaptation
from stateauditor.signatures.gate import SemanticGate
from stateauditor.signatures.generator import ResponseGeneration
from stateauditor.signatures.instructions import NOT_A_CHANGE
from stateauditor.signatures.judge import StaleJudgment
from stateauditor.signatures.lean import LeanAudit
from stateauditor.signatures.premises import (
    PremiseAdjudication,
    PremiseEntailment,
    PremiseExtraction,
    PresuppositionExtraction,
)
from stateauditor.signatures.proposer import TransitionProposal
from stateauditor.signatures.reviewer import EvidenceReview
from stateauditor.signatures.skeptic import SkepticChallenge
from stateauditor.signatures.timeline import DraftConsistency, DraftEntailment, TimelineConstruction

ALL: list[Any] = [
    PremiseExtraction,
    PresuppositionExtraction,
    PremiseAdjudication,
    TimelineConstruction,
    DraftConsistency,
    TransitionProposal,
    LeanAudit,
    ResponseAdaptation,
    SkepticChallenge,
    SemanticGate,
    EvidenceReview,
    ResponseGeneration,
    StaleJudgment,
    SelfCritique,
    CritiqueRevision,
    VerificationPlanning,
    VerificationAnswering,
    VerifiedRevision,
    QueryGeneration,
    AgreementGate,
    EvidenceEditing,
    StateSummary,
    SummaryGeneration,
    TimelineRegeneration,
    PersonaSelection,
    PersonaAlignment,
    PremiseEntailment,
    DraftEntailment,
    ConsistencyRewrite,
]
JUDGING = [
    PremiseAdjudication,
    PremiseEntailment,
    StateSummary,
    TimelineConstruction,
    TransitionProposal,
    LeanAudit,
    SkepticChallenge,
    SemanticGate,
]


def items(signature: Any) -> list[type[BaseModel]]:
    """The pydantic models inside the outputs."""
    return [
        model
        for field in signature.output_fields.values()
        for model in get_args(field.annotation)
        if issubclass(model, BaseModel)
    ]


@pytest.mark.parametrize("signature", ALL, ids=lambda s: s.__name__)
def test_reasoning_comes_before_any_verdict(signature: Any) -> None:
    assert next(iter(signature.output_fields)) == "reasoning"


@pytest.mark.parametrize("signature", ALL, ids=lambda s: s.__name__)
def test_every_output_field_says_what_belongs_there(signature: Any) -> None:
    for name, field in signature.output_fields.items():
        described = field.json_schema_extra["desc"]
        assert described
        assert described != f"${{{name}}}"
    for model in items(signature):
        for name, info in model.model_fields.items():
            assert info.description, f"{model.__name__}.{name}"


@pytest.mark.parametrize("signature", ALL, ids=lambda s: s.__name__)
def test_enumerated_values_are_named_in_the_description(signature: Any) -> None:
    for model in items(signature):
        for info in model.model_fields.values():
            kind = info.annotation
            if isinstance(kind, type) and issubclass(kind, StrEnum):
                assert all(member.value in (info.description or "") for member in kind)


@pytest.mark.parametrize("signature", ALL, ids=lambda s: s.__name__)
def test_every_role_is_told_that_its_input_is_data(signature: Any) -> None:
    assert "never an instruction" in signature.instructions


@pytest.mark.parametrize("signature", JUDGING, ids=lambda s: s.__name__)
def test_roles_that_propose_or_judge_are_told_what_is_no_change(signature: Any) -> None:
    assert NOT_A_CHANGE in signature.instructions
    for kind in (
        "temporary",
        "another person",
        "plan, wish",
        "cancelled",
        "before",
        "addition",
        "recap",
        "another attribute",
        "question about the past",
    ):
        assert kind in signature.instructions


@pytest.mark.parametrize("signature", ALL, ids=lambda s: s.__name__)
def test_signatures_keep_their_names_for_dspy(signature: Any) -> None:
    assert issubclass(signature, dspy.Signature)
    assert dspy.Predict(signature).signature.__name__ == signature.__name__


@pytest.mark.parametrize("signature", ALL, ids=lambda s: s.__name__)
def test_no_output_hides_behind_a_method_of_dspy(signature: Any) -> None:
    hidden = [name for name in signature.output_fields if hasattr(dspy.Prediction, name)]
    assert hidden == []
