"""Proposer: candidate old -> new transitions with quotations (paper, section 4.4)."""

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
from stateauditor.signatures.longest import proposed_transitions
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import Flag, Text, TextList, Wire


class QuestionDraftPair(Wire):
    """One question with its draft, as the proposer sees it."""

    id: Text
    question: Text
    draft: Text


class ProposedTransition(Wire):
    """One candidate; code decides afterwards whether it may act."""

    attribute: Text = Field(
        default="", description="The attribute in a few words, e.g. 'home city'."
    )
    old_quote: Text = Field(
        default="",
        description="The older statement, copied word for word from ONE readout line.",
    )
    new_quote: Text = Field(
        default="",
        description="The newer statement, copied word for word from ONE later readout line.",
    )
    causal_path: TextList = Field(
        default_factory=list,
        description="Two to five short steps from the newer statement to the end of the old value.",
    )
    old_value: Text = Field(default="", description="What held before, in a short phrase.")
    new_value: Text = Field(default="", description="What holds now, in a short phrase.")
    applies_to: TextList = Field(
        default_factory=list,
        description="Ids of the pairs whose good answer the change bears on, e.g. ['P1'].",
    )
    material: Flag = Field(
        default=True,
        description="true if the change bears on a good answer to at least one pair.",
    )


@guided(IMPLICIT_CHANGE, NOT_A_CHANGE, READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class TransitionProposal(dspy.Signature):
    """Propose changes of the user's state that bear on the replies.

    Find pairs of readout lines where a later statement ends what an earlier one established, and
    where the reply to the question should follow the later one. Prefer recall: propose a change
    that may matter, and let the checks decide. Copy both quotations exactly, each from a single
    line; never quote the question or a draft. Give at most 6, those that bear on the replies
    first. An empty list is right when nothing that bears on them has changed.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    pairs: list[QuestionDraftPair] = dspy.InputField(
        desc="The questions with their drafted replies; they are not evidence."
    )
    reasoning: str = dspy.OutputField(
        desc="What each reply needs to be true of the user, and which lines speak of that."
    )
    transitions: list[ProposedTransition] = dspy.OutputField(
        desc="The candidates; [] if there are none."
    )


TRANSITION_PROPOSAL = Card(
    name="transition_proposal",
    stage=1,
    place=3,
    lm_role=LMRole.PROPOSER,
    signatures=(TransitionProposal,),
    longest=lambda prompt: {"transitions": proposed_transitions(prompt)},
    asked=lambda audit: audit.proposes,
)
