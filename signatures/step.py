"""The card of a role: what everyone who meets it by name has to know, declared once.

A step is what a run can record a call or a failure of. Most steps are roles, and a
role is asked through an LM: its card says which, at what point, with which Signatures,
and how long an answer can be. Cards stand beside the Signatures of their roles;
``program.roles`` adds the modules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from stateauditor.signatures.longest import Longest
from stateauditor.signatures.models import Policy, Variant


class LMRole(StrEnum):
    """The roles that a backend file gives LMs to."""

    GENERATOR = "generator"
    AUDITOR = "auditor"
    PROPOSER = "proposer"
    ADAPTER = "adapter"
    JUDGE = "judge"


class Passes(Protocol):
    """What decides which roles an audit asks: the configuration of an audit, seen from below."""

    @property
    def variant(self) -> Variant:
        """Which passes run."""

    @property
    def policy(self) -> Policy:
        """What directives may do."""

    @property
    def draft_anchored(self) -> bool:
        """Whether premises of draft and question are extracted and judged."""

    @property
    def state_anchored(self) -> bool:
        """Whether the timeline is built and the draft tested against it."""

    @property
    def proposes(self) -> bool:
        """Whether a proposer looks for transitions in a call of its own."""

    @property
    def reviews(self) -> bool:
        """Whether a review takes the proposer's place."""

    @property
    def skeptic(self) -> bool:
        """Whether findings of the base audit are challenged."""

    @property
    def semantic_gate(self) -> bool:
        """Whether verified transitions are ruled on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What can be on record: ``name`` is what records, prompts and folders call it.

    Steps of one ``stage`` start together, and a stage waits for the one before it;
    records list them by stage and, within one, by ``place``.
    """

    name: str
    stage: int
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(Step):
    """A role's card.

    ``lm_role`` is whose LM answers. ``longest`` makes the longest answer that the
    instructions allow, for estimates. ``asked`` tells whether an audit with given
    settings may ask the role; None for one that no audit asks. The stage of a role
    off the audit's path (``on_path``) costs a user no time.
    """

    lm_role: LMRole
    signatures: tuple[Any, ...]
    longest: Longest
    asked: Callable[[Passes], bool] | None = None
    on_path: bool = True


RETRIEVAL = Step(name="retrieval", stage=0)
AUDIT = Step(name="audit", stage=9)
"""What breaks outside of retrieval and of any role."""
