"""The Skeptic: an optional second look at the base audit's findings.

It challenges them (paper, section 4, disabled in every configuration that the paper
evaluates).
"""

from __future__ import annotations

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    NOT_A_CHANGE,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.longest import SENTENCE, rulings
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
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


SKEPTIC = Card(
    name="skeptic",
    stage=3,
    lm_role=LMRole.AUDITOR,
    signatures=(SkepticChallenge,),
    longest=rulings("challenges", reason=SENTENCE, upheld=True),
    asked=lambda audit: audit.skeptic,
)
