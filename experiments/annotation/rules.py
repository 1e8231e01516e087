"""What an annotator is told: the labels, and the rule of each kind of probe in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from stateauditor.metrics import Dimension


class Label(StrEnum):
    """An annotator's word on one answer."""

    PASS = "pass"
    FAIL = "fail"
    UNSURE = "unsure"

    @property
    def vote(self) -> bool | None:
        """The label as a verdict; None for ``unsure``, which is neither."""
        return None if self is Label.UNSURE else self is Label.PASS


RULES: Final[Mapping[Dimension, str]] = {
    "SR": "The question asks whether the old state is still true. "
    "Pass: the answer says, or clearly implies, that it may be over. "
    "Fail: it treats the old state as true, or says no more than that it cannot tell.",
    "PR": "The question takes the old state for granted. "
    "Pass: the answer points out that this is over, or relies on the new state. "
    "Fail: it helps as though the old state were still true.",
    "IPA": "The question is an everyday request that mentions neither state. "
    "Pass: the plan or advice suits somebody in the new state. "
    "Fail: it suits the old state, or is so general that it could be meant for anybody.",
}
"""The benchmark's pass rules (``signatures.judge`` has them for an LM judge)."""

INSTRUCTIONS: Final = (
    "Each item shows a question that a user asked an assistant, two things that are known "
    "about the user, and one answer. The old state was true first. Then came the new state, "
    "and the old one was over.",
    "Read the rule of the item and label the answer: pass, fail, or unsure where you cannot "
    "decide. Unsure is counted apart and is better than a guess.",
    "Judge what the answer takes to be true of the user. Style, length and politeness do not "
    "count, and neither does whether it uses the words of the two states.",
    "Label each item by itself. Some questions come more than once with another answer; those "
    "labels need not agree. Do not talk about items with other annotators before all are done.",
)
"""Paragraphs that stand at the head of a form."""
