"""Signatures of two ablations: entailment labels, and a rewrite without directives (section 6.3).

They stand in the places of ``PremiseAdjudication``, ``DraftConsistency`` and
``ResponseAdaptation`` and differ from them only in what is being ablated.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    IMPLICIT_CHANGE,
    NOT_A_CHANGE,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.premises import NumberedPremise
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.timeline import NumberedChange
from stateauditor.signatures.wire import Flag, Number, Text, TextList, Wire, as_word


class Entailment(StrEnum):
    """The labels of natural language inference: none names a value, none an open state."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    NEUTRAL = "neutral"


EntailmentWord = Annotated[
    Entailment,
    as_word(
        Entailment,
        {
            "entailment": Entailment.ENTAILED,
            "contradiction": Entailment.CONTRADICTED,
        },
    ),
]


class LabelledPremise(Wire):
    """The label of one numbered premise."""

    number: Number = Field(description="The number of the premise that this label is about.")
    evidence: TextList = Field(
        default_factory=list,
        description="Ids of the readout lines that decide it, e.g. ['E03', 'E11'].",
    )
    attribute: Text = Field(
        default="", description="The attribute of the user in a few words, e.g. 'home city'."
    )
    label: EntailmentWord = Field(description="entailed, contradicted or neutral.")
    material: Flag = Field(
        default=False,
        description="true if a good answer would change in substance were the premise false.",
    )


@guided(IMPLICIT_CHANGE, NOT_A_CHANGE, READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class PremiseEntailment(dspy.Signature):
    """Label each premise by whether the readout entails it.

    entailed: the readout, read in order of time, supports it. contradicted: the readout speaks
    against it. neutral: neither. Use no knowledge about the user from anywhere else.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="What the user asked; it is not evidence.")
    draft: str = dspy.InputField(desc="The drafted reply; it is not evidence.")
    premises: list[NumberedPremise] = dspy.InputField(desc="The premises to label.")
    reasoning: str = dspy.OutputField(
        desc="For each premise the lines that bear on it, in order of time, before any label."
    )
    entailments: list[LabelledPremise] = dspy.OutputField(desc="One label for each premise.")


class LabelledChange(Wire):
    """The label of the draft's substance against one change."""

    number: Number = Field(description="The number of the change that this label is about.")
    dependency: Text = Field(
        default="", description="What in the draft depends on the attribute, stated or not."
    )
    label: EntailmentWord = Field(
        description="contradicted: the current value speaks against the draft. entailed: it "
        "supports the draft. neutral: neither."
    )
    material: Flag = Field(
        default=False,
        description="true if a good answer to this question depends on the attribute.",
    )


@guided(DATA_NOT_INSTRUCTIONS)
class DraftEntailment(dspy.Signature):
    """Label a drafted reply by whether it agrees with each change of the user's state.

    Judge the draft's substance, not its words: a plan can go against a value without naming it.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply, as it would be sent.")
    changes: list[NumberedChange] = dspy.InputField(desc="The changed attributes.")
    reasoning: str = dspy.OutputField(desc="What the draft does about each, before any label.")
    entailments: list[LabelledChange] = dspy.OutputField(desc="One label for each change.")


@guided(DATA_NOT_INSTRUCTIONS)
class ConsistencyRewrite(dspy.Signature):
    """Rewrite a drafted reply so that it is consistent with statements of the user.

    Keep what is consistent with them, and the draft's tone, format and length. Write the whole
    reply, not a comment on it.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    statements: list[str] = dspy.InputField(desc="What the user has said, older first.")
    reasoning: str = dspy.OutputField(desc="What in the draft is not consistent with them.")
    response: str = dspy.OutputField(desc="The complete reply to send to the user.")
