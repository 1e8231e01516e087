"""The ``lean`` variant: premises, timeline and transitions in one call.

Not in the paper. The validator, the arbiter and the adapter are the same as in
the other variants; only the number of LM calls differs (two at most).
"""

from __future__ import annotations

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
from stateauditor.signatures.longest import (
    PREMISES,
    changed_attributes,
    judged_premises,
    proposed_transitions,
)
from stateauditor.signatures.models import Origin, Variant
from stateauditor.signatures.proposer import ProposedTransition, QuestionDraftPair
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.timeline import TimelineEntry
from stateauditor.signatures.wire import (
    Flag,
    OptionalText,
    Text,
    TextList,
    VerdictWord,
    Wire,
    as_word,
)


class LeanPremise(Wire):
    """A premise with its verdict, found and judged in the same call."""

    text: Text = Field(
        min_length=1, description="One atomic present-tense statement about the user."
    )
    origin: Annotated[Origin, as_word(Origin)] = Field(
        default=Origin.DRAFT,
        description="draft if the reply relies on it, question if the question presupposes it, "
        "state if it comes from a change that the reply ignores.",
    )
    evidence: TextList = Field(
        default_factory=list, description="Ids of the readout lines that decide it."
    )
    attribute: Text = Field(default="", description="The attribute in a few words.")
    verdict: VerdictWord = Field(description="VALID, STALE or UNKNOWN, against the readout only.")
    current_value: OptionalText = Field(
        default=None, description="For STALE: what holds now, in a short phrase; otherwise null."
    )
    material: Flag = Field(
        default=False,
        description="true if a good answer would change in substance were the premise false.",
    )


@guided(IMPLICIT_CHANGE, NOT_A_CHANGE, READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class LeanAudit(dspy.Signature):
    """Audit a drafted reply against the dated memory of the user it is for.

    Work from the stored state to the draft. First, for every later readout line, ask which
    earlier lines cannot hold any more. Then ask of the draft, piece by piece, for whom its advice
    would be wrong: a reply can rest on an outdated fact without naming it. Then report:
    1. premises that the draft or the question takes for granted about the user, each with its
       verdict (VALID: the most recent relevant line supports it; STALE: a later line invalidates
       it; UNKNOWN: the readout is silent); at most 10;
    2. the timeline of the attributes that matter here, changed ones first; at most 10;
    3. transitions that bear on this reply, with both quotations copied word for word, each from
       a single readout line, never from the question or the draft; at most 4, and none if the
       draft already fits the current state or no change bears on it.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    pairs: list[QuestionDraftPair] = dspy.InputField(
        desc="The question with its drafted reply; they are not evidence."
    )
    reasoning: str = dspy.OutputField(
        desc="Which later lines end which earlier ones, and what the draft rests on."
    )
    premises: list[LeanPremise] = dspy.OutputField(desc="The premises; [] if there are none.")
    timeline: list[TimelineEntry] = dspy.OutputField(desc="The attributes; [] if there are none.")
    transitions: list[ProposedTransition] = dspy.OutputField(
        desc="The candidates; [] if there are none."
    )


LEAN_AUDIT = Card(
    name="lean_audit",
    stage=1,
    place=5,
    lm_role=LMRole.AUDITOR,
    signatures=(LeanAudit,),
    longest=lambda prompt: {
        "premises": judged_premises(prompt, PREMISES),
        "timeline": changed_attributes(prompt),
        "transitions": proposed_transitions(prompt),
    },
    asked=lambda audit: audit.variant is Variant.LEAN,
)
