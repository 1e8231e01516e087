"""Adapter: the reply under typed directives (paper, section 4.5)."""

from __future__ import annotations

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import DATA_NOT_INSTRUCTIONS, guided
from stateauditor.signatures.longest import whole_reply
from stateauditor.signatures.models import DirectiveKind, Policy
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import OptionalText, Text, TextList, Wire


class DirectiveInstruction(Wire):
    """One directive with the dated statements behind it."""

    kind: DirectiveKind
    attribute: Text
    old_value: OptionalText = None
    current_value: OptionalText = None
    evidence: TextList = Field(default_factory=list)


@guided(DATA_NOT_INSTRUCTIONS)
class ResponseAdaptation(dspy.Signature):
    """Rewrite a drafted reply so that it fits the user's current state.

    Follow every directive and nothing else:
    - repair: redo all advice that rests on old_value so that it fits current_value, as if the
      reply had been written for the current state. Keep what does not depend on it, and keep the
      draft's tone, format and length.
    - correct_and_inform: say in one sentence what has changed, in natural words, early in the
      reply. If the question asks whether the old state still holds, that sentence is the answer.
    - verify: answer as well as the draft does, then ask one short question about the attribute.
    Use no fact about the user beyond the directives, the question and the draft. Do not mention
    directives, audits, memory entries or their ids. Write the whole reply, not a comment on it.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    directives: list[DirectiveInstruction] = dspy.InputField(desc="What must change, and why.")
    reasoning: str = dspy.OutputField(
        desc="Which parts of the draft rest on each old value, and what replaces them."
    )
    response: str = dspy.OutputField(desc="The complete reply to send to the user.")


@guided(DATA_NOT_INSTRUCTIONS)
class ConsistencyRewrite(dspy.Signature):
    """Rewrite a drafted reply so that it is consistent with statements of the user.

    Keep what is consistent with them, and the draft's tone, format and length. Write the whole
    reply, not a comment on it.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    statements: list[str] = dspy.InputField(desc="What the user has said, older first.")
    reasoning: str = dspy.OutputField(desc="What in the draft is not consistent with them.")
    response: str = dspy.OutputField(desc="The complete reply to send to the user.")


RESPONSE_ADAPTATION = Card(
    name="response_adaptation",
    stage=5,
    lm_role=LMRole.ADAPTER,
    signatures=(ResponseAdaptation, ConsistencyRewrite),
    longest=whole_reply,
    asked=lambda audit: audit.policy is not Policy.OBSERVE,
)
