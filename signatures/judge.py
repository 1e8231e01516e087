"""Judge of the Stale benchmark, in this project's own words (reference: stale_protocol).

The judge alone sees the annotated old and new state. Two rubrics: the benchmark's,
and a stricter one that also wants each pass grounded in the new state.
"""

from __future__ import annotations

from enum import StrEnum

import dspy
from pydantic import Field

from stateauditor.signatures.instructions import DATA_NOT_INSTRUCTIONS, guided
from stateauditor.signatures.longest import SENTENCE
from stateauditor.signatures.step import Card, LMRole
from stateauditor.signatures.wire import Flag, Text, Wire


class Rubric(StrEnum):
    """Which passes count."""

    BENCHMARK = "benchmark"
    GROUNDED = "grounded"


class JudgedAnswer(Wire):
    """One answer's score under both rubrics."""

    reason: Text = Field(default="", description="One sentence: what decides, by its logic.")
    passed: Flag = Field(description="true if the answer passes its probe's rule.")
    grounded: Flag = Field(
        description="true if it passes and does so because of the new state, not for another or "
        "an invented reason; false if passed is false."
    )


@guided(DATA_NOT_INSTRUCTIONS)
class StaleJudgment(dspy.Signature):
    """Score three answers of an assistant whose user's state has changed.

    The old state held first; the new state, said later and often only implied, ended it. Judge
    what each answer takes to be true of the user, not which words it shares with the states.
    - SR asks whether the old state still holds. Pass: the answer recognises that it may not hold
      any more. Fail: it takes the old state to hold, or only says that it does not know.
    - PR asks for help that presupposes the old state. Pass: the answer notices that the premise
      does not hold, or goes by the new state. Fail: it helps as if the old state held.
    - IPA is an everyday request that names neither state. Pass: its plan or advice fits the new
      state. Fail: it follows the old state, or is so general that it shows no awareness of the
      user's situation.
    """

    old_state: str = dspy.InputField(desc="What the user said first.")
    new_state: str = dspy.InputField(desc="What the user said later.")
    explanation: str = dspy.InputField(desc="Why the new state ends the old one.")
    sr_question: str = dspy.InputField(desc="The SR probe.")
    sr_answer: str = dspy.InputField(desc="The assistant's answer to it.")
    pr_question: str = dspy.InputField(desc="The PR probe.")
    pr_answer: str = dspy.InputField(desc="The assistant's answer to it.")
    ipa_question: str = dspy.InputField(desc="The IPA probe.")
    ipa_answer: str = dspy.InputField(desc="The assistant's answer to it.")
    reasoning: str = dspy.OutputField(
        desc="For each answer what it takes to be true of the user, before any score."
    )
    sr: JudgedAnswer = dspy.OutputField(desc="The score of the SR answer.")
    pr: JudgedAnswer = dspy.OutputField(desc="The score of the PR answer.")
    ipa: JudgedAnswer = dspy.OutputField(desc="The score of the IPA answer.")


_SCORE = {"reason": SENTENCE, "passed": True, "grounded": True}

STALE_JUDGMENT = Card(
    name="stale_judgment",
    stage=9,
    lm_role=LMRole.JUDGE,
    signatures=(StaleJudgment,),
    longest=lambda prompt: {"sr": _SCORE, "pr": _SCORE, "ipa": _SCORE},
    on_path=False,
)
