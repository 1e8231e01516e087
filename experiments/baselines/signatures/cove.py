"""Factored chain of verification (Dhuliawala et al. 2024): plan, answer one by one, rewrite."""

from __future__ import annotations

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
from stateauditor.signatures.wire import Text, Wire

_MOST = 6  # items that the instructions below allow


class VerificationQuestion(Wire):
    """One question whose answer would confirm or refute something in the draft."""

    text: Text = Field(min_length=1, description="The question, understandable on its own.")


class AnsweredQuestion(Wire):
    """A verification question with its answer."""

    question: Text
    answer: Text


@guided(DATA_NOT_INSTRUCTIONS)
class VerificationPlanning(dspy.Signature):
    """Plan how to verify a drafted reply: which facts about the user does it rest on?

    Write one question for each fact about the user that the draft states or builds upon. A
    question must be answerable without the draft and must not suggest an answer. At most 6.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    reasoning: str = dspy.OutputField(desc="What the draft says and builds upon.")
    checks: list[VerificationQuestion] = dspy.OutputField(
        desc="The verification questions; [] if the draft rests on nothing about the user."
    )


@guided(READOUT_FORMAT, DATA_NOT_INSTRUCTIONS)
class VerificationAnswering(dspy.Signature):
    """Answer one question about the user from the readout alone.

    Say what holds now, with the date of the statement that shows it. If the readout does not
    tell, say so.
    """

    readout: PromptReadout = dspy.InputField(desc="Dated statements of the user, oldest first.")
    check: str = dspy.InputField(desc="The question about the user.")
    reasoning: str = dspy.OutputField(desc="The lines that bear on it, in order of time.")
    answer: str = dspy.OutputField(desc="The answer, in one or two sentences.")


@guided(DATA_NOT_INSTRUCTIONS)
class VerifiedRevision(dspy.Signature):
    """Rewrite a drafted reply so that it agrees with verified answers.

    Change what the answers contradict, and keep everything else, the tone, the format and the
    length. Write the whole reply, and do not mention the verification.
    """

    question: str = dspy.InputField(desc="What the user asked.")
    draft: str = dspy.InputField(desc="The drafted reply.")
    answers: list[AnsweredQuestion] = dspy.InputField(desc="The verification questions, answered.")
    reasoning: str = dspy.OutputField(desc="What in the draft the answers contradict.")
    response: str = dspy.OutputField(desc="The complete reply to send to the user.")


VERIFICATION_PLANNING = Card(
    name="verification_planning",
    stage=1,
    lm_role=LMRole.AUDITOR,
    signatures=(VerificationPlanning,),
    longest=lambda prompt: {"checks": asked_questions(_MOST)},
)
VERIFICATION_ANSWERING = Card(
    name="verification_answering",
    stage=2,
    lm_role=LMRole.AUDITOR,
    signatures=(VerificationAnswering,),
    longest=lambda prompt: {"answer": SENTENCE * 2},
)
VERIFIED_REVISION = Card(
    name="verified_revision",
    stage=3,
    lm_role=LMRole.ADAPTER,
    signatures=(VerifiedRevision,),
    longest=whole_reply,
)
