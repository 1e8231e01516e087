"""Dependency role: draft-anchored premises and their verdicts (paper, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from stateauditor.program.offline import ablations, answers
from stateauditor.program.roles import example
from stateauditor.program.roles.base import Role, by_number, known_ids
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.entailment import VERDICTS
from stateauditor.signatures.lean import LeanPremise
from stateauditor.signatures.models import Labels, Origin, Premise, Verdict
from stateauditor.signatures.premises import (
    PREMISE_ADJUDICATION,
    PREMISE_EXTRACTION,
    PRESUPPOSITION_EXTRACTION,
    AdjudicatedPremise,
    ExtractedPremise,
    LabelledPremise,
    NumberedPremise,
    PremiseAdjudication,
    PremiseEntailment,
    PremiseExtraction,
    PresuppositionExtraction,
)
from stateauditor.signatures.readout import PromptReadout


@dataclass(frozen=True, slots=True)
class UnjudgedPremise:
    """A premise before adjudication, with the pass that found it."""

    text: str
    origin: Origin


class PremiseExtractor(Role):
    """Finds what the draft takes for granted."""

    def __init__(self) -> None:
        super().__init__()
        self.extract = dspy.Predict(PremiseExtraction)

    async def aforward(self, *, question: str, draft: str) -> tuple[UnjudgedPremise, ...]:
        """Premises of the draft, in the LM's order, without repetitions."""
        answer = await self.extract.acall(question=question, draft=draft)
        return _distinct(answer.premises, Origin.DRAFT)


class PresuppositionExtractor(Role):
    """Finds what the question presupposes."""

    def __init__(self) -> None:
        super().__init__()
        self.extract = dspy.Predict(PresuppositionExtraction)

    async def aforward(self, *, question: str) -> tuple[UnjudgedPremise, ...]:
        """Presuppositions of the question, without repetitions."""
        answer = await self.extract.acall(question=question)
        return _distinct(answer.premises, Origin.QUESTION)


class PremiseAdjudicator(Role):
    """Judges premises against the readout alone."""

    def __init__(self, signature: Any = PremiseAdjudication) -> None:
        super().__init__()
        self.adjudicate = dspy.Predict(signature)

    async def aforward(
        self,
        *,
        readout: PromptReadout,
        question: str,
        draft: str,
        premises: Sequence[UnjudgedPremise],
    ) -> tuple[Premise, ...]:
        """One premise a verdict; premises that the LM left unjudged are left out."""
        answer = await self.adjudicate.acall(
            readout=readout, question=question, draft=draft, premises=_numbered(premises)
        )
        return self.judged(answer, premises, frozenset(entry.id for entry in readout.entries))

    def judged(
        self, answer: Any, premises: Sequence[UnjudgedPremise], readout_ids: frozenset[str]
    ) -> tuple[Premise, ...]:
        """The premises with what the answer says of each, by number."""
        verdicts = by_number(answer.verdicts, len(premises))
        return tuple(
            judged_premise(premises[number - 1], verdict, readout_ids)
            for number, verdict in sorted(verdicts.items())
        )


def _numbered(premises: Sequence[UnjudgedPremise]) -> list[NumberedPremise]:
    """The premises with the numbers by which answers refer to them."""
    return [
        NumberedPremise(number=number, text=premise.text)
        for number, premise in enumerate(premises, start=1)
    ]


def judged_premise(
    premise: UnjudgedPremise, judged: AdjudicatedPremise | LeanPremise, readout_ids: frozenset[str]
) -> Premise:
    """Join a premise and its verdict; only STALE carries another current value."""
    stale = judged.verdict is Verdict.STALE
    return Premise(
        text=premise.text,
        verdict=judged.verdict,
        current_value=judged.current_value if stale else None,
        material=judged.material,
        origin=premise.origin,
        attribute=judged.attribute,
        old_value=premise.text if stale else None,
        evidence=known_ids(judged.evidence, readout_ids),
    )


def _distinct(found: Sequence[ExtractedPremise], origin: Origin) -> tuple[UnjudgedPremise, ...]:
    texts = dict.fromkeys(premise.text for premise in found)
    return tuple(UnjudgedPremise(text, origin) for text in texts)


class EntailmentLabeller(PremiseAdjudicator):
    """The adjudicator of an ablation: labels premises, and names no value."""

    def __init__(self) -> None:
        super().__init__(PremiseEntailment)

    def judged(
        self, answer: Any, premises: Sequence[UnjudgedPremise], readout_ids: frozenset[str]
    ) -> tuple[Premise, ...]:
        """The premises with their labels; premises that the LM left out are left out."""
        labels = by_number(answer.entailments, len(premises))
        return tuple(
            _labelled(premises[number - 1], label, readout_ids)
            for number, label in sorted(labels.items())
        )


def _labelled(
    premise: UnjudgedPremise, labelled: LabelledPremise, readout_ids: frozenset[str]
) -> Premise:
    verdict = VERDICTS[labelled.label]
    return Premise(
        text=premise.text,
        verdict=verdict,
        material=labelled.material,
        origin=premise.origin,
        attribute=labelled.attribute,
        old_value=premise.text if verdict is Verdict.STALE else None,
        evidence=known_ids(labelled.evidence, readout_ids),
    )


declare(
    PREMISE_EXTRACTION,
    PremiseExtractor,
    rules={PremiseExtraction: answers.extract_premises},
    example=example.pair,
)
declare(
    PRESUPPOSITION_EXTRACTION,
    PresuppositionExtractor,
    rules={PresuppositionExtraction: answers.extract_presuppositions},
)
declare(
    PREMISE_ADJUDICATION,
    PremiseAdjudicator,
    ablated={Labels.NLI: EntailmentLabeller},
    rules={
        PremiseAdjudication: answers.adjudicate_premises,
        PremiseEntailment: ablations.label_premises,
    },
)
