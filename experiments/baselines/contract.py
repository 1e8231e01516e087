"""What bounds a baseline's budget, and what it gives back."""

from __future__ import annotations

from pydantic import Field

from stateauditor.signatures.models import (
    CallRecord,
    Directive,
    Failure,
    Frozen,
    Premise,
    RenderedEntry,
    TimelineItem,
    TransitionCheck,
)


class BaselineSettings(Frozen):
    """What bounds a baseline's budget.

    ``questions`` is the most verification questions (CoVe) or queries (RARR) that are
    followed up; ``evidence_tokens`` is what one RARR query may bring up, in tokens.
    """

    questions: int = Field(default=6, ge=1, le=20)
    evidence_tokens: int = Field(default=600, ge=32)


class BaselineResult(Frozen):
    """What a baseline made of one draft; it judges nothing, so its findings are empty."""

    response: str
    draft: str
    changed: bool
    readout: tuple[RenderedEntry, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    failed_open: tuple[Failure, ...] = ()

    @property
    def directives(self) -> tuple[Directive, ...]:
        """None: a baseline has no arbiter."""
        return ()

    @property
    def premises(self) -> tuple[Premise, ...]:
        """None: a baseline gives no verdicts."""
        return ()

    @property
    def timeline(self) -> tuple[TimelineItem, ...]:
        """None that anything acts upon."""
        return ()

    @property
    def transitions(self) -> tuple[TransitionCheck, ...]:
        """None: a baseline proposes no transition."""
        return ()
