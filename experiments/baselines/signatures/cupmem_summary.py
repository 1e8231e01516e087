"""An adjudicated state summary for the generator, after CUPMem (Chao et al. 2026): no audit."""

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
from stateauditor.signatures.longest import CHANGES, PHRASE, whole_reply
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import OptionalText, Text, TextList, Wire


class StateRecord(Wire):
    """One attribute of the user as adjudicated: what holds, and what no longer does."""

    attribute: Text = Field(min_length=1, description="The attribute, e.g. 'home city'.")
    evidence: TextList = Field(
        default_factory=list, description="Ids of the readout lines it rests on, e.g. ['E03']."
    )
    superseded: TextList = Field(
        default_factory=list, description="Values that held before and do not any more."
    )
    current_value: OptionalText = Field(
        default=None, description="What holds now; null if that is not known."
    )


@guided(IMPLICIT_CHANGE, NOT_A_CHANGE, READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class StateSummary(dspy.Signature):
    """Adjudicate the user's state: for each attribute what holds now and what has ended.

    Read the lines in order of time and let each update the state. At most 20 attributes, those
    that have changed first.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    reasoning: str = dspy.OutputField(desc="Which lines end which earlier ones.")
    states: list[StateRecord] = dspy.OutputField(desc="The records; [] if there are none.")


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class SummaryGeneration(dspy.Signature):
    """Answer a question with what is remembered of the user and the adjudicated state.

    Where the readout and the state differ, the state is right: never rely on a superseded value.
    Make the answer fit this user. Answer directly, in at most 150 words, without mentioning the
    readout, its ids or the state records.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    states: list[StateRecord] = dspy.InputField(desc="The user's state, adjudicated.")
    question: str = dspy.InputField(desc="The question to answer.")
    reasoning: str = dspy.OutputField(desc="Which records bear on the answer.")
    response: str = dspy.OutputField(desc="The answer to send.")


STATE_SUMMARY = Card(
    name="state_summary",
    stage=1,
    lm_role=LMRole.AUDITOR,
    signatures=(StateSummary,),
    longest=lambda prompt: {
        "states": [
            {
                "attribute": f"arrangement {number}",
                "evidence": prompt.ends,
                "superseded": [f"{PHRASE}, before {number}"],
                "current_value": f"{PHRASE}, after {number}",
            }
            for number in range(CHANGES)
        ]
    },
)
SUMMARY_GENERATION = Card(
    name="summary_generation",
    stage=2,
    lm_role=LMRole.GENERATOR,
    signatures=(SummaryGeneration,),
    longest=whole_reply,
)
