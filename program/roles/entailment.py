"""The base audit with entailment labels in place of lifecycle verdicts (paper, section 6.3).

The two roles take the places of the adjudicator and the consistency checker. Their
labels become verdicts without values: contradicted is STALE, neutral is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stateauditor.program.roles.base import by_number, known_ids
from stateauditor.program.roles.premises import PremiseAdjudicator, UnjudgedPremise
from stateauditor.program.roles.timeline import ConsistencyChecker
from stateauditor.signatures.ablation import (
    DraftEntailment,
    Entailment,
    LabelledChange,
    LabelledPremise,
    PremiseEntailment,
)
from stateauditor.signatures.models import Origin, Premise, TimelineItem, Verdict

VERDICTS: Final = {
    Entailment.ENTAILED: Verdict.VALID,
    Entailment.CONTRADICTED: Verdict.STALE,
    Entailment.NEUTRAL: Verdict.UNKNOWN,
}


class EntailmentLabeller(PremiseAdjudicator):
    """Labels premises against the readout."""

    def __init__(self) -> None:
        super().__init__(PremiseEntailment)

    def judged(
        self, answer: Any, premises: Sequence[UnjudgedPremise], readout_ids: frozenset[str]
    ) -> tuple[Premise, ...]:
        """The premises with their labels; premises that the LM left out are left out."""
        labels = by_number(answer.entailments, len(premises))
        return tuple(
            _premise(premises[number - 1], label, readout_ids)
            for number, label in sorted(labels.items())
        )


class ContradictionChecker(ConsistencyChecker):
    """Labels the draft against each change."""

    def __init__(self) -> None:
        super().__init__(DraftEntailment)

    def judged(self, answer: Any, changes: Sequence[TimelineItem]) -> tuple[Premise, ...]:
        """One premise of origin ``state`` for each change that the LM labelled."""
        labels = by_number(answer.entailments, len(changes))
        return tuple(
            _state_premise(changes[number - 1], label) for number, label in sorted(labels.items())
        )


def _premise(
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


def _state_premise(change: TimelineItem, labelled: LabelledChange) -> Premise:
    return Premise(
        text=labelled.dependency or f"{change.attribute}: {change.previous_value or 'unknown'}",
        verdict=VERDICTS[labelled.label],
        material=labelled.material,
        origin=Origin.STATE,
        attribute=change.attribute,
        old_value=change.previous_value,
        evidence=change.evidence,
    )
