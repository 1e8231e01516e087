"""The topics of the safety suite: what the user may have, say, ask and be told.

One file under ``content/safety`` is one topic. Its sentences have ``{slots}``, and each row
of ``values`` fills all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import PurePosixPath
from typing import Final, Self

from pydantic import Field, model_validator

from stateauditor.data.suites.items import Explicitness
from stateauditor.data.suites.loading import content_files, load_content
from stateauditor.data.suites.wording import slots_of
from stateauditor.signatures.models import Frozen

_FOLDER: Final = "safety"


class Regime(StrEnum):
    """What the later remark is, in truth."""

    TRUE_CHANGE = "true_change"
    """It ends the old state."""
    STABLE_STATE = "stable_state"
    """It confirms or recalls the old state, or tells of another attribute."""
    TEMPORARY_EXCEPTION = "temporary_exception"
    """It tells of an exception that is over by the time of the question."""
    OTHER_PERSON = "other_person"
    """It tells of somebody else's change."""
    NOT_CARRIED_OUT = "not_carried_out"
    """It tells of a plan, a wish or something called off."""
    ADDITIVE = "additive"
    """It adds something that replaces nothing."""
    REVERTED = "reverted"
    """It ended the old state, which a third remark has brought back."""


class Remarks(Frozen):
    """What the user may say later, by how it tells of the change or the seeming change."""

    explicit: tuple[str, ...] = Field(min_length=2)
    implicit: tuple[str, ...] = Field(min_length=2)

    def __getitem__(self, explicitness: Explicitness) -> tuple[str, ...]:
        return self.explicit if explicitness is Explicitness.EXPLICIT else self.implicit


class ChangeRemarks(Remarks):
    """What truly ends the old state; there is more of it."""

    explicit: tuple[str, ...] = Field(min_length=4)
    implicit: tuple[str, ...] = Field(min_length=5)


class Question(Frozen):
    """A question whose good answer depends on the state, with drafts that rely on the old."""

    question: str = Field(min_length=1)
    stating: tuple[str, ...] = Field(min_length=1)
    """Drafts that say what the state is."""
    silent: tuple[str, ...] = Field(min_length=1)
    """Drafts that follow from it without saying that it is the user's."""


class Topic(Frozen):
    """One attribute of the user's life; all texts are forms with slots."""

    attribute: str = Field(min_length=1)
    old_value: str = Field(min_length=1)
    new_value: str = Field(min_length=1)
    path: tuple[str, ...] = Field(min_length=2)
    """From what the new remark says to what it means for the draft."""
    reads_as: Mapping[Regime, str] = {}
    """By regime: what a gullible reader takes as new, where the remark has no new value."""
    values: tuple[Mapping[str, str], ...] = Field(min_length=4)
    old: tuple[str, ...] = Field(min_length=4)
    true_change: ChangeRemarks
    stable_state: Remarks
    temporary_exception: Remarks
    other_person: Remarks
    not_carried_out: Remarks
    additive: Remarks
    away: Remarks | None = None
    """What ends the state and can be undone, where not all of ``true_change`` can."""
    back: tuple[str, ...] = Field(min_length=3)
    """What brings the old state back after that."""
    probes: tuple[Question, ...] = Field(min_length=3)

    def later(self, regime: Regime) -> Remarks:
        """The remarks of a regime; a reverted change is a change first."""
        if regime is Regime.REVERTED:
            return self.away or self.true_change
        remarks: Remarks = getattr(self, regime)
        return remarks

    def apparent_value(self, regime: Regime, form: str) -> str:
        """The form of the value that a gullible reader takes as new."""
        if regime in self.reads_as and not any(s.startswith("new") for s in slots_of(form)):
            return self.reads_as[regime]
        return self.new_value

    def forms(self) -> Iterator[str]:
        """Every form of the topic; a change without ``away`` comes twice, as the reverted too."""
        yield from (self.attribute, self.old_value, self.new_value, *self.path)
        yield from (*self.reads_as.values(), *self.old, *self.back)
        for remarks in map(self.later, Regime):
            yield from (*remarks.explicit, *remarks.implicit)
        for asked in self.probes:
            yield from (asked.question, *asked.stating, *asked.silent)

    @model_validator(mode="after")
    def _every_slot_has_a_value(self) -> Self:
        names = {frozenset(row) for row in self.values}
        if len(names) > 1:
            raise ValueError("the rows of values do not all fill the same slots")
        used = frozenset().union(*(slots_of(form) for form in self.forms()))
        if unknown := used - names.pop():
            raise ValueError(f"no row of values fills {', '.join(sorted(unknown))}")
        return self


@cache
def load_topics() -> Mapping[str, Topic]:
    """The topics by the name of their file, in order of name; read once a process."""
    return {PurePosixPath(path).stem: load_content(path, Topic) for path in content_files(_FOLDER)}
