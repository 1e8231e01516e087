"""Optional second looks, off by default: the Skeptic and the semantic gate.

The Skeptic challenges the base audit's findings (paper, section 4, disabled in
every configuration that the paper evaluates). The semantic gate is the paper's
second gate on verified transitions (section 7): it asks what the validator
cannot, whether the newer statement really supersedes the older one.
"""

from __future__ import annotations

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    IMPLICIT_CHANGE,
    NOT_A_CHANGE,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.wire import Flag, Number, OptionalText, Text, VerdictWord, Wire


class ChallengedPremise(Wire):
    """A finding of the base audit, up for challenge."""

    number: Number
    text: Text
    verdict: VerdictWord
    current_value: OptionalText = None


class Challenge(Wire):
    """The Skeptic's ruling on one finding."""

    number: Number = Field(description="The number of the finding.")
    objection: Text = Field(default="", description="The strongest objection, in one sentence.")
    upheld: Flag = Field(description="true if the finding survives the objection.")


@guided(NOT_A_CHANGE, READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class SkepticChallenge(dspy.Signature):
    """Challenge findings that a reply rests on an outdated or unknown premise.

    For each finding look for the strongest innocent reading of the readout. A finding is upheld
    only if no innocent reading is at least as likely.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="What the user asked; it is not evidence.")
    findings: list[ChallengedPremise] = dspy.InputField(desc="The findings to challenge.")
    reasoning: str = dspy.OutputField(desc="The innocent readings, before any ruling.")
    challenges: list[Challenge] = dspy.OutputField(desc="One ruling for each finding.")


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
