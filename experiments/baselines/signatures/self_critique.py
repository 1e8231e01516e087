"""Prompt-based self-critique (Zhao et al. 2025, PrefEval): find fault with a draft, then revise."""

from __future__ import annotations

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.longest import PHRASE, SENTENCE, whole_reply
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import Text, TextList, Wire

_MOST = 6  # items that the instructions below allow


class Fault(Wire):
    """One way in which the draft does not fit what the user has said."""

    passage: Text = Field(default="", description="What in the draft is at fault.")
    problem: Text = Field(default="", description="What the user has said that it does not fit.")
    evidence: TextList = Field(
        default_factory=list, description="Ids of the readout lines that show it, e.g. ['E03']."
    )


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class SelfCritique(dspy.Signature):
    """Criticise your own drafted reply: does it fit what the user has told you?

    Read the draft as its strictest critic. Name every passage that goes against something the
    user has said about themselves, or ignores it. At most 6 faults.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="Your drafted reply.")
    reasoning: str = dspy.OutputField(desc="What the user has said that the draft should fit.")
    faults: list[Fault] = dspy.OutputField(desc="The faults; [] if the draft is fine.")


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class CritiqueRevision(dspy.Signature):
    """Revise your drafted reply so that no fault of the critique is left.

    Keep what is not at fault, and the draft's tone, format and length. Write the whole reply, and
    mention neither the critique nor the readout.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="Your drafted reply.")
    faults: list[Fault] = dspy.InputField(desc="What the critique found.")
    reasoning: str = dspy.OutputField(desc="What has to change.")
    response: str = dspy.OutputField(desc="The complete reply to send to the user.")


SELF_CRITIQUE = Card(
    name="self_critique",
    stage=1,
    lm_role=LMRole.AUDITOR,
    signatures=(SelfCritique,),
    longest=lambda prompt: {
        "faults": [{"passage": PHRASE, "problem": SENTENCE, "evidence": prompt.ends}] * _MOST
    },
)
CRITIQUE_REVISION = Card(
    name="critique_revision",
    stage=2,
    lm_role=LMRole.ADAPTER,
    signatures=(CritiqueRevision,),
    longest=whole_reply,
)
