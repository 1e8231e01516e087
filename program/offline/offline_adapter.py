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
from dataclasses import dataclass
from typing import Any, Never

import dspy
from pydantic import TypeAdapter, ValidationError

from stateauditor.program.offline.label import LABEL, OFFLINE_MODEL
from stateauditor.signatures.errors import BackendError, ModelOutputError
from stateauditor.signatures.models import Readout

Fields = tuple[frozenset[str], frozenset[str]]
Rule = Callable[..., dict[str, Any]]


def _fields(signature: type[dspy.Signature]) -> Fields:
    """What tells Signatures apart: inputs, and outputs without ``reasoning``."""
    outputs = frozenset(signature.output_fields) - {"reasoning"}
    return frozenset(signature.input_fields), outputs


@dataclass(frozen=True)
class _Answering:
    """A Signature's rule, and the types of what the rule is given."""

    rule: Rule
    types: Mapping[str, TypeAdapter[Any]]


_ANSWERING: dict[Fields, _Answering] = {}


def answer_by(signature: type[dspy.Signature], rule: Rule) -> None:
    """Let a rule answer a Signature, whose inputs it takes by their names.

    Raises :class:`ValueError` where another rule answers a Signature with these fields.
    """
    fields = _fields(signature)
    known = _ANSWERING.get(fields)
    if known is not None and known.rule is not rule:
        raise ValueError(
            f"another rule answers a Signature with the fields of {signature.__name__}"
        )
    types = {name: TypeAdapter(f.annotation) for name, f in signature.input_fields.items()}
    _ANSWERING[fields] = _Answering(rule, types)


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
    found = _ANSWERING.get((given, outputs))
    if found is None:
        raise ModelOutputError(
            f"{LABEL} cannot answer a Signature with inputs {_listed(given)} and outputs "
            f"{_listed(outputs)}; name an LM for it in a backend file"
        )
    values = {name: _typed(name, kind, inputs) for name, kind in found.types.items()}
    said = found.rule(**values)
    return {name: said.get(name, "") for name in signature.output_fields}


def _typed(name: str, kind: TypeAdapter[Any], inputs: Mapping[str, Any]) -> Any:
    """One input as its type; the readout as text, as saved demos hold it, is refused."""
    if name not in inputs:
        raise ModelOutputError(f"{LABEL}: the input field {name!r} is missing")
    value = inputs[name]
    if name == "readout" and isinstance(value, Readout):
        return value
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (name, *first["loc"]))
        raise ModelOutputError(
            f"{LABEL}: the input field {place} is not usable: {first['msg']} "
            f"(got {type(value).__name__})"
        ) from error


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"
