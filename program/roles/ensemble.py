"""All roles of the pipeline together: one DSPy module, so that optimizers find every predictor."""

from __future__ import annotations

import dspy

from stateauditor.program.roles.adapter import ReplyAdapter
from stateauditor.program.roles.dependency import (
    PremiseAdjudicator,
    PremiseExtractor,
    PresuppositionExtractor,
)
from stateauditor.program.roles.lean import LeanAuditor
from stateauditor.program.roles.proposer import TransitionProposer
from stateauditor.program.roles.reviewer import Reviewer
from stateauditor.program.roles.skeptic import Gate, Skeptic
from stateauditor.program.roles.temporal import ConsistencyChecker, TimelineBuilder


class Roles(dspy.Module):
    """The roles by name; which of them are asked is the variant's affair."""

    def __init__(self) -> None:
        super().__init__()
        self.premise_extractor = PremiseExtractor()
        self.presupposition_extractor = PresuppositionExtractor()
        self.premise_adjudicator = PremiseAdjudicator()
        self.timeline_builder = TimelineBuilder()
        self.consistency_checker = ConsistencyChecker()
        self.transition_proposer = TransitionProposer()
        self.reviewer = Reviewer()
        self.lean_auditor = LeanAuditor()
        self.skeptic = Skeptic()
        self.gate = Gate()
        self.reply_adapter = ReplyAdapter()
