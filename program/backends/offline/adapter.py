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

from stateauditor.program.backends.offline import answers
from stateauditor.signatures.adaptation import DirectiveInstruction
from stateauditor.signatures.dependency import NumberedPremise
from stateauditor.signatures.errors import BackendError, ModelOutputError
from stateauditor.signatures.models import Readout
from stateauditor.signatures.skeptic import ChallengedPremise, GatedTransition
from stateauditor.signatures.temporal import NumberedChange
from stateauditor.signatures.transition import QuestionDraftPair

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
}

# Output fields, without ``reasoning``, to the function that answers them.
_ANSWERS: Mapping[frozenset[str], Callable[..., answers.Answer]] = {
    frozenset({"verdicts"}): answers.adjudicate_premises,
    frozenset({"timeline"}): answers.build_timeline,
    frozenset({"findings"}): answers.check_consistency,
    frozenset({"transitions"}): answers.propose_transitions,
    frozenset({"premises", "timeline", "transitions"}): answers.audit_lean,
    frozenset({"response"}): answers.adapt_response,
    frozenset({"challenges"}): answers.challenge_findings,
    frozenset({"rulings"}): answers.gate_transitions,
}


class Refuse:
    """An engine that calls nobody: reaching it is a bug, and says so."""

    def complete(self, request: object) -> Never:
        """Refuse the call."""
        raise BackendError("the offline backend calls no LM; use OfflineAdapter with it")


def offline_lm() -> dspy.LM:
    """The LM that DSPy asks for beside :class:`OfflineAdapter`; it answers nothing."""
    return dspy.LM(OFFLINE_MODEL, engine=Refuse())


class OfflineAdapter(dspy.Adapter):  # type: ignore[misc]  # dspy ships no types
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
    outputs = frozenset(signature.output_fields) - {"reasoning"}
    given = frozenset(signature.input_fields)
    if outputs == {"premises"}:
        # Two Signatures return premises; only one of them sees a draft.
        whole = "draft" in given
        rule = answers.extract_premises if whole else answers.extract_presuppositions
    elif outputs in _ANSWERS:
        rule = _ANSWERS[outputs]
    else:
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
    if name not in _TYPES:
        raise ModelOutputError(f"{LABEL}: no rule reads the input field {name!r}")
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
