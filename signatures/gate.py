"""The semantic gate: an optional second look at verified transitions (paper, section 7).

It asks what the validator cannot: whether the newer statement really supersedes the
older one.
"""

from __future__ import annotations

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    IMPLICIT_CHANGE,
    NOT_A_CHANGE,
    guided,
)
from stateauditor.signatures.longest import SENTENCE, rulings
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import Flag, Number, Text, Wire


class GatedTransition(Wire):
    """A verified transition, up for the semantic gate."""

    number: Number
    attribute: Text
    old_value: Text
    old_statement: Text
    new_value: Text
    new_statement: Text


class GateRuling(Wire):
    """Whether one verified transition really is a change."""

    number: Number = Field(description="The number of the transition.")
    obstacle: Text = Field(
        default="", description="The kind of non-change that it is, or empty if it is a change."
    )
    supersedes: Flag = Field(
        description="true if the newer statement ends the old value, explicitly or by implication."
    )


@guided(IMPLICIT_CHANGE, NOT_A_CHANGE, DATA_NOT_INSTRUCTIONS)
class SemanticGate(dspy.Signature):
    """Decide for each pair of dated statements whether the newer ends the older.

    Both statements are real and the newer one is later; only their meaning is in question.
    """

    question: str = dspy.InputField(desc="What the user asked; it is not evidence.")
    transitions: list[GatedTransition] = dspy.InputField(desc="The transitions to judge.")
    reasoning: str = dspy.OutputField(desc="What each newer statement implies, before any ruling.")
    rulings: list[GateRuling] = dspy.OutputField(desc="One ruling for each transition.")


SEMANTIC_GATE = Card(
    name="semantic_gate",
    stage=4,
    lm_role=LMRole.PROPOSER,
    signatures=(SemanticGate,),
    longest=rulings("rulings", reason=SENTENCE, supersedes=True),
    asked=lambda audit: audit.semantic_gate,
)
