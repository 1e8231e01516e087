"""Dependency role: what the draft and the question take for granted (paper, section 4.2)."""

from __future__ import annotations

import dspy
from pydantic import Field

from stateauditor.signatures.entailment import EntailmentWord
from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    IMPLICIT_CHANGE,
    NOT_A_CHANGE,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.longest import (
    PREMISES,
    PRESUPPOSITIONS,
    found_premises,
    judged_premises,
)
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import (
    Flag,
    Number,
    OptionalText,
    Text,
    TextList,
    VerdictWord,
    Wire,
)


class ExtractedPremise(Wire):
    """One premise, before anyone has judged it."""

    text: Text = Field(
        min_length=1,
        description="One atomic present-tense statement about the user, e.g. 'The user lives in "
        "Seattle.' Never about the world or about the reply.",
    )
    stated: Flag = Field(
        default=True,
        description="true if it is said in so many words, false if it is silently relied upon.",
    )


@guided(DATA_NOT_INSTRUCTIONS)
class PremiseExtraction(dspy.Signature):
    """List what a drafted reply takes for granted about the user.

    Include what the draft says about the user and, above all, what it silently relies on: its
    advice makes sense only if the user lives somewhere, owns something, can do something, has
    some duty, habit, diet, budget or relation. Ask of each piece of advice: for whom would this
    be wrong? Do not judge whether a premise is true. At most 12 premises, most important first.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply, as it would be sent.")
    reasoning: str = dspy.OutputField(desc="Short notes: which advice rests on what.")
    premises: list[ExtractedPremise] = dspy.OutputField(desc="The premises; [] if there are none.")


@guided(DATA_NOT_INSTRUCTIONS)
class PresuppositionExtraction(dspy.Signature):
    """List what a question presupposes about the user's present state.

    'How should I winterise my boat?' presupposes that the user has a boat. A question that asks
    whether something still holds presupposes nothing of it; name it as a premise all the same
    with stated=false, so that it is checked. A question about the past presupposes nothing about
    the present. At most 6 premises.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    reasoning: str = dspy.OutputField(desc="Short notes on what must hold for this question.")
    premises: list[ExtractedPremise] = dspy.OutputField(desc="The premises; [] if there are none.")


class NumberedPremise(Wire):
    """A premise with the number by which its verdict refers to it."""

    number: Number
    text: Text


class AdjudicatedPremise(Wire):
    """The verdict on one numbered premise."""

    number: Number = Field(description="The number of the premise that this verdict is about.")
    evidence: TextList = Field(
        default_factory=list,
        description="Ids of the readout lines that decide it, e.g. ['E03', 'E11'].",
    )
    attribute: Text = Field(
        default="", description="The attribute of the user in a few words, e.g. 'home city'."
    )
    verdict: VerdictWord = Field(description="VALID, STALE or UNKNOWN.")
    current_value: OptionalText = Field(
        default=None,
        description="For STALE: what holds now, in a short phrase; otherwise null.",
    )
    material: Flag = Field(
        default=False,
        description="true if a good answer would change in substance were the premise false.",
    )


@guided(IMPLICIT_CHANGE, NOT_A_CHANGE, READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class PremiseAdjudication(dspy.Signature):
    """Judge each premise about the user against the readout alone.

    VALID: the most recent relevant line supports it. STALE: an earlier line supports it, and a
    later one changes or invalidates it. UNKNOWN: the readout neither confirms nor refutes it. Use
    no knowledge about the user from anywhere else.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="What the user asked; it is not evidence.")
    draft: str = dspy.InputField(desc="The drafted reply; it is not evidence.")
    premises: list[NumberedPremise] = dspy.InputField(desc="The premises to judge.")
    reasoning: str = dspy.OutputField(
        desc="For each premise the lines that bear on it, in order of time, before any verdict."
    )
    verdicts: list[AdjudicatedPremise] = dspy.OutputField(desc="One verdict for each premise.")


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


PREMISE_EXTRACTION = Card(
    name="premise_extraction",
    stage=1,
    lm_role=LMRole.AUDITOR,
    signatures=(PremiseExtraction,),
    longest=found_premises(PREMISES),
    asked=lambda audit: audit.draft_anchored,
)
PRESUPPOSITION_EXTRACTION = Card(
    name="presupposition_extraction",
    stage=1,
    place=1,
    lm_role=LMRole.AUDITOR,
    signatures=(PresuppositionExtraction,),
    longest=found_premises(PRESUPPOSITIONS),
    asked=lambda audit: audit.draft_anchored,
)
PREMISE_ADJUDICATION = Card(
    name="premise_adjudication",
    stage=2,
    lm_role=LMRole.AUDITOR,
    signatures=(PremiseAdjudication, PremiseEntailment),
    longest=lambda prompt: {"verdicts": judged_premises(prompt, len(prompt.numbers))},
    asked=lambda audit: audit.draft_anchored,
)
