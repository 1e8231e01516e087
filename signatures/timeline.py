"""Temporal role: the user's timeline, and whether the draft fits it (paper, section 4.3)."""

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
from stateauditor.signatures.longest import SENTENCE, changed_attributes, rulings
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import (
    Flag,
    Number,
    OptionalText,
    StatusWord,
    Text,
    TextList,
    VerdictWord,
    Wire,
)


class TimelineEntry(Wire):
    """One attribute of the user over time."""

    attribute: Text = Field(
        min_length=1, description="The attribute in a few words, e.g. 'home city'."
    )
    evidence: TextList = Field(
        default_factory=list, description="Ids of the readout lines it rests on, e.g. ['E03']."
    )
    previous_value: OptionalText = Field(
        default=None, description="What held before, in a short phrase; null if nothing did."
    )
    current_value: OptionalText = Field(
        default=None, description="What holds now, in a short phrase; null if it is not known."
    )
    status: StatusWord = Field(description="changed, unchanged or uncertain.")


@guided(IMPLICIT_CHANGE, NOT_A_CHANGE, READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class TimelineConstruction(dspy.Signature):
    """Build the timeline of the user's state from the readout.

    Name each attribute that a reply could depend on (home, work, means of transport, diet,
    health, family, pets, devices, money, schedule, habits, abilities), with its previous and its
    current value. An attribute whose earlier value a later line makes impossible is changed, even
    if that line does not mention it: look at every later line and ask which earlier lines cannot
    hold any more. Put the changed ones first; at most 20.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    reasoning: str = dspy.OutputField(
        desc="Which later lines make which earlier lines impossible, before any status."
    )
    timeline: list[TimelineEntry] = dspy.OutputField(desc="The attributes; [] if there are none.")


class NumberedChange(Wire):
    """A changed attribute with the number by which its finding refers to it."""

    number: Number
    attribute: Text
    previous_value: OptionalText = None
    current_value: OptionalText = None


class ConsistencyFinding(Wire):
    """Whether the draft's substance fits one changed attribute."""

    number: Number = Field(description="The number of the change that this finding is about.")
    dependency: Text = Field(
        default="", description="What in the draft depends on the attribute, stated or not."
    )
    verdict: VerdictWord = Field(
        description="STALE: the draft relies on the previous value or materially ignores the "
        "current one. VALID: it fits the current value, or does not depend on the attribute. "
        "UNKNOWN: it needs the attribute, and no value is established."
    )
    material: Flag = Field(
        default=False,
        description="true if a good answer to this question depends on the attribute.",
    )


@guided(DATA_NOT_INSTRUCTIONS)
class DraftConsistency(dspy.Signature):
    """Check a drafted reply against each change of the user's state.

    Judge the draft's substance, not its words: a plan can rest on the previous value without
    naming it (a driving route for someone who has sold the car). For each change imagine the
    reply written for a user of whom only the current value is known; if its advice would have to
    differ, the draft depends on the attribute. A question about the past depends on no change.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply, as it would be sent.")
    changes: list[NumberedChange] = dspy.InputField(desc="The changed attributes.")
    reasoning: str = dspy.OutputField(
        desc="For each change what the draft would have to do differently, before any verdict."
    )
    findings: list[ConsistencyFinding] = dspy.OutputField(desc="One finding for each change.")


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


TIMELINE_CONSTRUCTION = Card(
    name="timeline_construction",
    stage=1,
    place=2,
    lm_role=LMRole.AUDITOR,
    signatures=(TimelineConstruction,),
    longest=lambda prompt: {"timeline": changed_attributes(prompt)},
    asked=lambda audit: audit.state_anchored,
)
DRAFT_CONSISTENCY = Card(
    name="draft_consistency",
    stage=2,
    place=1,
    lm_role=LMRole.AUDITOR,
    signatures=(DraftConsistency, DraftEntailment),
    longest=rulings("findings", dependency=SENTENCE, verdict="STALE", material=True),
    asked=lambda audit: audit.state_anchored,
)
