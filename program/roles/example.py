"""One small case, as each role is asked about it when a backend is tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stateauditor.signatures.adapter import DirectiveInstruction
from stateauditor.signatures.models import DirectiveKind, Readout, RenderedEntry, Timestamp
from stateauditor.signatures.proposer import QuestionDraftPair
from stateauditor.signatures.readout import PromptReadout

OLD, NEW = "I live in Seattle.", "I have moved to Austin."
QUESTION, DRAFT = "Where should I go for a walk?", "Walk around Green Lake in Seattle."

Inputs = dict[str, Any]


def question() -> Inputs:
    """What a generator is asked."""
    return {"readout": _readout(), "question": QUESTION}


def pair() -> Inputs:
    """What a role is asked that sees question and draft alone."""
    return {"question": QUESTION, "draft": DRAFT}


def proposal() -> Inputs:
    """What a proposer is asked."""
    pairs = [QuestionDraftPair(id="P1", question=QUESTION, draft=DRAFT)]
    return {"readout": _readout(), "pairs": pairs}


def repair() -> Inputs:
    """What an adapter is asked."""
    directive = DirectiveInstruction(
        kind=DirectiveKind.REPAIR,
        attribute="home city",
        old_value="Seattle",
        current_value="Austin",
        evidence=[f'2024-06-02: "{NEW}"'],
    )
    return {**pair(), "directives": [directive]}


def judgment(dimensions: Sequence[str]) -> Inputs:
    """What a judge of so many answers is asked."""
    return {
        "old_state": OLD,
        "new_state": NEW,
        "explanation": "Who has moved no longer lives there.",
        "questions": dict.fromkeys(dimensions, QUESTION),
        "answers": dict.fromkeys(dimensions, DRAFT),
    }


def _readout() -> PromptReadout:
    lines = [("E01", "2024-01-05", OLD), ("E02", "2024-06-02", NEW)]
    entries = tuple(
        RenderedEntry(id=name, entry_id=name, timestamp=Timestamp.model_validate(date), text=text)
        for name, date, text in lines
    )
    return PromptReadout.of(Readout(entries=entries, pairs=(("E01", "E02"),), tokens=20))
