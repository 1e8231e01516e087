"""The embedded default backend: a DSPy adapter that never calls an LM.

DSPy hands an adapter the Signature class and the caller's own objects, so typed
inputs can be answered by code. Three traps are handled here: after
``ChainOfThought`` or ``load`` the class is an anonymous copy, so answers are
found by the names of the fields; nothing validates what an adapter is given or
returns, so inputs are validated here; and the inherited ``acall`` would call the
LM, so both entry points are overridden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Never

import dspy
from pydantic import TypeAdapter, ValidationError

from stateauditor.program.offline import answers, baselines
from stateauditor.signatures.ablation import (
    ConsistencyRewrite,
    DraftEntailment,
    PremiseEntailment,
)
from stateauditor.signatures.adapter import DirectiveInstruction, ResponseAdaptation
from stateauditor.signatures.baselines.cove import (
    AnsweredQuestion,
    VerificationAnswering,
    VerificationPlanning,
    VerifiedRevision,
)
from stateauditor.signatures.baselines.cupmem import StateRecord, StateSummary, SummaryGeneration
from stateauditor.signatures.baselines.persona import (
    PersonaAlignment,
    PersonaFact,
    PersonaSelection,
)
from stateauditor.signatures.baselines.rarr import (
    AgreementGate,
    EvidenceEditing,
    QueryGeneration,
)
from stateauditor.signatures.baselines.self_critique import (
    CritiqueRevision,
    Fault,
    SelfCritique,
)
from stateauditor.signatures.baselines.timeline import TimelineRegeneration
from stateauditor.signatures.errors import BackendError, ModelOutputError
from stateauditor.signatures.generator import ResponseGeneration
from stateauditor.signatures.lean import LeanAudit
from stateauditor.signatures.models import Readout
from stateauditor.signatures.premises import (
    NumberedPremise,
    PremiseAdjudication,
    PremiseExtraction,
    PresuppositionExtraction,
)
from stateauditor.signatures.proposer import QuestionDraftPair, TransitionProposal
from stateauditor.signatures.reviewer import EvidenceReview
from stateauditor.signatures.skeptic import (
    ChallengedPremise,
    GatedTransition,
    SemanticGate,
    SkepticChallenge,
)
from stateauditor.signatures.timeline import (
    DraftConsistency,
    NumberedChange,
    TimelineConstruction,
    TimelineEntry,
)

OFFLINE_MODEL = "offline/lexical-rules"
LABEL = "offline lexical rules"

# Input fields by name: the same name has the same type in every Signature.
_TYPES: Mapping[str, TypeAdapter[Any]] = {
    "readout": TypeAdapter(Readout),
    "question": TypeAdapter(str),
    "draft": TypeAdapter(str),
    "premises": TypeAdapter(list[NumberedPremise]),
    "changes": TypeAdapter(list[NumberedChange]),
    "pairs": TypeAdapter(list[QuestionDraftPair]),
    "directives": TypeAdapter(list[DirectiveInstruction]),
    "findings": TypeAdapter(list[ChallengedPremise]),
    "transitions": TypeAdapter(list[GatedTransition]),
    "faults": TypeAdapter(list[Fault]),
    "check": TypeAdapter(str),
    "answers": TypeAdapter(list[AnsweredQuestion]),
    "query": TypeAdapter(str),
    "states": TypeAdapter(list[StateRecord]),
    "timeline": TypeAdapter(list[TimelineEntry]),
    "persona": TypeAdapter(list[PersonaFact]),
    "statements": TypeAdapter(list[str]),
}

Fields = tuple[frozenset[str], frozenset[str]]
Rule = Callable[..., answers.Answer]


def _fields(signature: type[dspy.Signature]) -> Fields:
    """What tells Signatures apart: inputs, and outputs without ``reasoning``."""
    outputs = frozenset(signature.output_fields) - {"reasoning"}
    return frozenset(signature.input_fields), outputs


_RULES: Mapping[Fields, Rule] = {
    _fields(signature): rule
    for signature, rule in (
        (PremiseExtraction, answers.extract_premises),
        (PresuppositionExtraction, answers.extract_presuppositions),
        (PremiseAdjudication, answers.adjudicate_premises),
        (TimelineConstruction, answers.build_timeline),
        (DraftConsistency, answers.check_consistency),
        (TransitionProposal, answers.propose_transitions),
        (EvidenceReview, answers.review_evidence),
        (LeanAudit, answers.audit_lean),
        (ResponseAdaptation, answers.adapt_response),
        (ResponseGeneration, answers.generate_response),
        (SkepticChallenge, answers.challenge_findings),
        (SemanticGate, answers.gate_transitions),
        (SelfCritique, baselines.criticise),
        (CritiqueRevision, baselines.revise),
        (VerificationPlanning, baselines.plan_verification),
        (VerificationAnswering, baselines.answer_verification),
        (VerifiedRevision, baselines.revise_verified),
        (QueryGeneration, baselines.generate_queries),
        (AgreementGate, baselines.gate_agreement),
        (EvidenceEditing, baselines.edit_by_evidence),
        (StateSummary, baselines.summarise_state),
        (SummaryGeneration, baselines.generate_from_summary),
        (TimelineRegeneration, baselines.regenerate_from_timeline),
        (PersonaSelection, baselines.select_persona),
        (PersonaAlignment, baselines.align_with_persona),
        (PremiseEntailment, baselines.label_premises),
        (DraftEntailment, baselines.label_changes),
        (ConsistencyRewrite, baselines.rewrite_untyped),
    )
}


class Refuse:
    """An engine that calls nobody: reaching it is a bug, and says so."""

    def complete(self, request: object) -> Never:
        """Refuse the call."""
        raise BackendError("the offline backend calls no LM; use OfflineAdapter with it")


def offline_lm() -> dspy.LM:
    """The LM that DSPy asks for beside :class:`OfflineAdapter`; it answers nothing."""
    return dspy.LM(OFFLINE_MODEL, engine=Refuse())


class OfflineAdapter(dspy.Adapter):
    """Answers StateAuditor's Signatures by lexical rules, from their typed inputs.

    Examples:
        >>> with dspy.context(lm=offline_lm(), adapter=OfflineAdapter()):  # doctest: +SKIP
        ...     dspy.Predict(PresuppositionExtraction)(question="How do I winterise my boat?")
    """

    def __call__(
        self,
        lm: Any,
        lm_kwargs: dict[str, Any],
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Answer one Signature; the LM, its settings and the demos are not used."""
        return [answer(signature, inputs)]

    async def acall(
        self,
        lm: Any,
        lm_kwargs: dict[str, Any],
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Answer one Signature; there is nothing to wait for."""
        return [answer(signature, inputs)]


def answer(signature: type[dspy.Signature], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The output fields of a Signature, or ModelOutputError where there is no rule for it."""
    given, outputs = _fields(signature)
    rule = _RULES.get((given, outputs))
    if rule is None:
        raise ModelOutputError(
            f"{LABEL} cannot answer a Signature with inputs {_listed(given)} and outputs "
            f"{_listed(outputs)}; name an LM for it in a backend file"
        )
    values = {name: _typed(name, inputs) for name in signature.input_fields}
    found = rule(**values)
    return {name: found.get(name, "") for name in signature.output_fields}


def _typed(name: str, inputs: Mapping[str, Any]) -> Any:
    """One input as its type; the readout as text, as saved demos hold it, is refused."""
    if name not in inputs:
        raise ModelOutputError(f"{LABEL}: the input field {name!r} is missing")
    value = inputs[name]
    if name == "readout" and isinstance(value, Readout):
        return value
    try:
        return _TYPES[name].validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (name, *first["loc"]))
        raise ModelOutputError(
            f"{LABEL}: the input field {place} is not usable: {first['msg']} "
            f"(got {type(value).__name__})"
        ) from error


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"
