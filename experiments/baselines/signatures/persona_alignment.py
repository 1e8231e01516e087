"""Alignment after generation, after Post Persona Alignment (Chen et al. 2025)."""

from __future__ import annotations

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.longest import SENTENCE, whole_reply
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import Text, TextList, Wire

_MOST = 10  # items that the instructions below allow


class PersonaFact(Wire):
    """One sentence about the user as of now."""

    text: Text = Field(min_length=1, description="One present-tense statement about the user.")
    evidence: TextList = Field(
        default_factory=list, description="Ids of the readout lines it rests on, e.g. ['E03']."
    )


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class PersonaSelection(dspy.Signature):
    """Select the facts of the user's profile, as of now, that matter for a drafted reply.

    Start from the draft: which facts about the user should it fit? At most 10, the most relevant
    first.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    reasoning: str = dspy.OutputField(desc="Which lines bear on the draft.")
    persona: list[PersonaFact] = dspy.OutputField(desc="The facts; [] if there are none.")


@guided(DATA_NOT_INSTRUCTIONS)
class PersonaAlignment(dspy.Signature):
    """Align a drafted reply with the facts of the user's profile.

    Change what does not fit the facts, and use those that make the reply more personal. Keep the
    draft's tone, format and length. Write the whole reply, and do not mention the profile.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    persona: list[PersonaFact] = dspy.InputField(desc="Facts about the user as of now.")
    reasoning: str = dspy.OutputField(desc="Which facts the draft does not fit.")
    response: str = dspy.OutputField(desc="The complete reply to send to the user.")


PERSONA_SELECTION = Card(
    name="persona_selection",
    stage=1,
    lm_role=LMRole.AUDITOR,
    signatures=(PersonaSelection,),
    longest=lambda prompt: {"persona": [{"text": SENTENCE, "evidence": prompt.ends}] * _MOST},
)
PERSONA_ALIGNMENT = Card(
    name="persona_alignment",
    stage=2,
    lm_role=LMRole.ADAPTER,
    signatures=(PersonaAlignment,),
    longest=whole_reply,
)
