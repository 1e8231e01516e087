"""Regeneration conditioned on the timeline: no verdicts, no directives (paper, section 6.3)."""

from __future__ import annotations

import dspy

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.longest import whole_reply
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.timeline import TimelineEntry


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class TimelineRegeneration(dspy.Signature):
    """Write the reply to a question anew, knowing how the user's state has developed.

    The draft shows the tone, format and length that are wanted. Write the whole reply, and do not
    mention the draft, the readout, its ids or the timeline.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    timeline: list[TimelineEntry] = dspy.InputField(desc="The user's attributes over time.")
    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="A drafted reply.")
    reasoning: str = dspy.OutputField(desc="Which attributes bear on the reply.")
    response: str = dspy.OutputField(desc="The complete reply to send to the user.")


TIMELINE_REGENERATION = Card(
    name="timeline_regeneration",
    stage=2,
    lm_role=LMRole.ADAPTER,
    signatures=(TimelineRegeneration,),
    longest=whole_reply,
)
