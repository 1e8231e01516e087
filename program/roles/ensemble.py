"""All roles of the audit together: one DSPy module, so that optimizers find every predictor."""

from __future__ import annotations

import dspy

from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declarations
from stateauditor.signatures.models import Labels, Rewrite
from stateauditor.signatures.step import Card


class Roles(dspy.Module):
    """The roles under their cards' names; which of them are asked is the variant's affair.

    An ablation of labels or of the rewrite is another module in the same place.
    """

    def __init__(
        self, *, labels: Labels = Labels.LIFECYCLE, rewrite: Rewrite = Rewrite.TYPED
    ) -> None:
        super().__init__()
        for declared in declarations():
            if declared.card.asked is not None:
                setattr(self, declared.card.name, declared.made(labels, rewrite))

    def of(self, card: Card) -> Role:
        """The module of a role."""
        module: Role = getattr(self, card.name)
        return module
