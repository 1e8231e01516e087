"""Generator: the draft that a memory-augmented assistant would send (paper, section 3)."""

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


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class ResponseGeneration(dspy.Signature):
    """Answer a question with what is remembered of the user.

    Use the readout where it helps, and make the answer fit this user. Answer directly, in at most
    150 words, without mentioning the readout or its ids.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="The question to answer.")
    reasoning: str = dspy.OutputField(desc="Which statements bear on the answer.")
    response: str = dspy.OutputField(desc="The answer to send.")


RESPONSE_GENERATION = Card(
    name="response_generation",
    stage=0,
    lm_role=LMRole.GENERATOR,
    signatures=(ResponseGeneration,),
    longest=whole_reply,
    on_path=False,
)
