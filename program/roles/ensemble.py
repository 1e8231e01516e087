"""All roles of the pipeline together: one DSPy module, so that optimizers find every predictor."""

from __future__ import annotations

import dspy

from stateauditor.program.roles.adapter import ReplyAdapter, UntypedRewriter
from stateauditor.program.roles.entailment import ContradictionChecker, EntailmentLabeller
from stateauditor.program.roles.lean import LeanAuditor
from stateauditor.program.roles.premises import (
    PremiseAdjudicator,
    PremiseExtractor,
    PresuppositionExtractor,
)
from stateauditor.program.roles.proposer import TransitionProposer
from stateauditor.program.roles.reviewer import Reviewer
from stateauditor.program.roles.skeptic import Gate, Skeptic
from stateauditor.program.roles.timeline import ConsistencyChecker, TimelineBuilder
from stateauditor.signatures.models import Labels, Rewrite


class Roles(dspy.Module):
    """The roles by name; which of them are asked is the variant's affair.

    An ablation of labels or of the rewrite is another role in the same place.
    """

    def __init__(
        self, *, labels: Labels = Labels.LIFECYCLE, rewrite: Rewrite = Rewrite.TYPED
    ) -> None:
        super().__init__()
        lifecycle, typed = labels is Labels.LIFECYCLE, rewrite is Rewrite.TYPED
        self.premise_extractor = PremiseExtractor()
        self.presupposition_extractor = PresuppositionExtractor()
        self.premise_adjudicator = PremiseAdjudicator() if lifecycle else EntailmentLabeller()
        self.timeline_builder = TimelineBuilder()
        self.consistency_checker = ConsistencyChecker() if lifecycle else ContradictionChecker()
        self.transition_proposer = TransitionProposer()
        self.reviewer = Reviewer()
        self.lean_auditor = LeanAuditor()
        self.skeptic = Skeptic()
        self.gate = Gate()
        self.reply_adapter = ReplyAdapter() if typed else UntypedRewriter()
