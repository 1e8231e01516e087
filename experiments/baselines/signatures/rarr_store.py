"""RARR on the memory store (Gao et al. 2023): ask, look up, gate on disagreement, edit."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.longest import SENTENCE, asked_questions, whole_reply
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import Text, Wire, as_word

_MOST = 6  # items that the instructions below allow


class Agreement(StrEnum):
    """How the draft and the evidence answer one query."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    IRRELEVANT = "irrelevant"


class ResearchQuery(Wire):
    """One query to look up in the memory store."""

    text: Text = Field(min_length=1, description="The query, understandable on its own.")


class AgreementRuling(Wire):
    """The gate's word on one query: only a disagreement is edited."""

    by_draft: Text = Field(default="", description="What the draft says or implies on the query.")
    by_evidence: Text = Field(default="", description="What the evidence says on it.")
    agreement: Annotated[Agreement, as_word(Agreement)] = Field(
        description="agrees, disagrees or irrelevant (the evidence does not answer the query)."
    )


@guided(DATA_NOT_INSTRUCTIONS)
class QueryGeneration(dspy.Signature):
    """Write the queries that check a drafted reply against a store of the user's statements.

    Cover everything about the user that the draft says or takes for granted, one query for each.
    At most 6.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    reasoning: str = dspy.OutputField(desc="What the draft says and takes for granted.")
    queries: list[ResearchQuery] = dspy.OutputField(desc="The queries; [] if there are none.")


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class AgreementGate(dspy.Signature):
    """Decide whether a drafted reply and the evidence found for a query disagree.

    First say how the draft answers the query, then how the evidence does, then compare.
    """

    readout: PromptReadout = dspy.InputField(desc="What was found for the query, oldest first.")
    query: str = dspy.InputField(desc="The query.")
    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    reasoning: str = dspy.OutputField(desc="Both answers to the query, before any ruling.")
    ruling: AgreementRuling = dspy.OutputField(desc="The ruling.")


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class EvidenceEditing(dspy.Signature):
    """Edit a drafted reply where it disagrees with the evidence, and nowhere else.

    Make the smallest edit that ends the disagreement; keep the rest word for word. Write the whole
    reply.
    """

    readout: PromptReadout = dspy.InputField(desc="What was found for the query, oldest first.")
    query: str = dspy.InputField(desc="The query.")
    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    reasoning: str = dspy.OutputField(desc="Where the draft and the evidence disagree.")
    response: str = dspy.OutputField(desc="The complete edited reply.")


QUERY_GENERATION = Card(
    name="query_generation",
    stage=1,
    lm_role=LMRole.AUDITOR,
    signatures=(QueryGeneration,),
    longest=lambda prompt: {"queries": asked_questions(_MOST)},
)
AGREEMENT_GATE = Card(
    name="agreement_gate",
    stage=2,
    lm_role=LMRole.AUDITOR,
    signatures=(AgreementGate,),
    longest=lambda prompt: {
        "ruling": {"by_draft": SENTENCE, "by_evidence": SENTENCE, "agreement": "disagrees"}
    },
)
EVIDENCE_EDITING = Card(
    name="evidence_editing",
    stage=3,
    lm_role=LMRole.ADAPTER,
    signatures=(EvidenceEditing,),
    longest=whole_reply,
)
