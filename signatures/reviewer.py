"""The matched control: a second review with the same evidence and no transitions (section 6.1).

It spends the proposer's call on the expanded evidence without asking for old -> new
changes, quotations or causal paths, so that a comparison with strict VTA isolates
the transition machinery from context and calls.
"""

from __future__ import annotations

import dspy

from stateauditor.signatures.instructions import (
    DATA_NOT_INSTRUCTIONS,
    READOUT_FORMAT,
    guided,
)
from stateauditor.signatures.lean import LeanPremise
from stateauditor.signatures.longest import PREMISES, judged_premises
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.step import Card, LMRole


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class EvidenceReview(dspy.Signature):
    """Review a drafted reply against dated statements of the user.

    Name what the reply and its question take for granted about the user, stated or not, and judge
    each against the readout: VALID if the most recent relevant line supports it, STALE if a later
    line invalidates it, UNKNOWN if the readout is silent. At most 10 premises.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    question: str = dspy.InputField(desc="What the user asked; it is not evidence.")
    draft: str = dspy.InputField(desc="The drafted reply; it is not evidence.")
    reasoning: str = dspy.OutputField(desc="The lines that bear on the reply, before any verdict.")
    premises: list[LeanPremise] = dspy.OutputField(desc="The premises; [] if there are none.")


EVIDENCE_REVIEW = Card(
    name="evidence_review",
    stage=1,
    place=4,
    lm_role=LMRole.PROPOSER,
    signatures=(EvidenceReview,),
    longest=lambda prompt: {"premises": judged_premises(prompt, PREMISES)},
    asked=lambda audit: audit.reviews,
)
