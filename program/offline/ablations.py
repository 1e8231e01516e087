"""Answers to the Signatures of ablations, by the rules of those that they replace."""

from __future__ import annotations

from collections.abc import Sequence

from stateauditor.program.offline import answers
from stateauditor.program.offline.answers import Answer
from stateauditor.program.offline.rewriting import Order, note
from stateauditor.signatures.entailment import VERDICTS
from stateauditor.signatures.models import DirectiveKind, Readout
from stateauditor.signatures.premises import LabelledPremise, NumberedPremise
from stateauditor.signatures.timeline import LabelledChange, NumberedChange

_LABELS = {verdict: label for label, verdict in VERDICTS.items()}


def label_premises(
    readout: Readout, question: str, draft: str, premises: Sequence[NumberedPremise]
) -> Answer:
    """Answer ``PremiseEntailment``: the verdicts, without the values."""
    judged = answers.adjudicate_premises(readout, question, draft, premises)
    labels = [
        LabelledPremise(
            number=verdict.number,
            evidence=verdict.evidence,
            attribute=verdict.attribute,
            label=_LABELS[verdict.verdict],
            material=verdict.material,
        )
        for verdict in judged["verdicts"]
    ]
    return {"reasoning": judged["reasoning"], "entailments": labels}


def label_changes(question: str, draft: str, changes: Sequence[NumberedChange]) -> Answer:
    """Answer ``DraftEntailment``."""
    found = answers.check_consistency(question, draft, changes)
    labels = [
        LabelledChange(
            number=finding.number,
            dependency=finding.dependency,
            label=_LABELS[finding.verdict],
            material=finding.material,
        )
        for finding in found["findings"]
    ]
    return {"reasoning": found["reasoning"], "entailments": labels}


def rewrite_untyped(question: str, draft: str, statements: Sequence[str]) -> Answer:
    """Answer ``ConsistencyRewrite``: without values nothing can be taken out, only noted."""
    order = Order(DirectiveKind.REPAIR, "", None, None, tuple(statements))
    return {
        "reasoning": answers.by_rules("the latest statement, noted."),
        "response": f"{note(order)}\n\n{draft}",
    }
