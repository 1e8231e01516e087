"""Temporal role: the user's timeline against the draft (paper, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from stateauditor.program.offline import ablations, answers
from stateauditor.program.roles.base import Role, by_number, known_ids
from stateauditor.program.roles.registry import declare
from stateauditor.signatures.entailment import VERDICTS
from stateauditor.signatures.models import (
    ChangeStatus,
    Labels,
    Origin,
    Premise,
    TimelineItem,
    Verdict,
)
from stateauditor.signatures.readout import PromptReadout
from stateauditor.signatures.timeline import (
    DRAFT_CONSISTENCY,
    TIMELINE_CONSTRUCTION,
    ConsistencyFinding,
    DraftConsistency,
    DraftEntailment,
    LabelledChange,
    NumberedChange,
    TimelineConstruction,
    TimelineEntry,
)


class TimelineBuilder(Role):
    """Reads the attribute timeline off the readout."""

    def __init__(self) -> None:
        super().__init__()
        self.construct = dspy.Predict(TimelineConstruction)

    async def aforward(self, *, readout: PromptReadout) -> tuple[TimelineItem, ...]:
        """The attributes in the LM's order."""
        answer = await self.construct.acall(readout=readout)
        ids = frozenset(entry.id for entry in readout.entries)
        return tuple(timeline_item(item, ids) for item in answer.timeline)


class ConsistencyChecker(Role):
    """Tests the draft's substance against each changed attribute's current value."""

    def __init__(self, signature: Any = DraftConsistency) -> None:
        super().__init__()
        self.check = dspy.Predict(signature)

    async def aforward(
        self, *, question: str, draft: str, changes: Sequence[TimelineItem]
    ) -> tuple[Premise, ...]:
        """One premise of origin ``state`` for each change that the LM judged."""
        answer = await self.check.acall(question=question, draft=draft, changes=_numbered(changes))
        return self.judged(answer, changes)

    def judged(self, answer: Any, changes: Sequence[TimelineItem]) -> tuple[Premise, ...]:
        """A premise for each change that the answer speaks of, by number."""
        findings = by_number(answer.findings, len(changes))
        return tuple(
            state_premise(changes[number - 1], finding)
            for number, finding in sorted(findings.items())
        )


def timeline_item(entry: TimelineEntry, readout_ids: frozenset[str]) -> TimelineItem:
    """A wire entry as a contract; a change between equal values is none."""
    status = entry.status
    if status is ChangeStatus.CHANGED and entry.previous_value == entry.current_value:
        status = ChangeStatus.UNCHANGED
    return TimelineItem(
        attribute=entry.attribute,
        previous_value=entry.previous_value,
        current_value=entry.current_value,
        status=status,
        evidence=known_ids(entry.evidence, readout_ids),
    )


def changed(timeline: Sequence[TimelineItem]) -> tuple[TimelineItem, ...]:
    """The changed set C of the paper's section 3: what consistency is tested for."""
    return tuple(item for item in timeline if item.status is ChangeStatus.CHANGED)


def _numbered(changes: Sequence[TimelineItem]) -> list[NumberedChange]:
    """The changes with the numbers by which findings refer to them."""
    return [
        NumberedChange(
            number=number,
            attribute=change.attribute,
            previous_value=change.previous_value,
            current_value=change.current_value,
        )
        for number, change in enumerate(changes, start=1)
    ]


def state_premise(change: TimelineItem, finding: ConsistencyFinding) -> Premise:
    """The finding on one change as a premise that the draft holds."""
    text = finding.dependency or f"{change.attribute}: {change.previous_value or 'unknown'}"
    stale = finding.verdict is Verdict.STALE
    return Premise(
        text=text,
        verdict=finding.verdict,
        current_value=change.current_value if stale else None,
        material=finding.material,
        origin=Origin.STATE,
        attribute=change.attribute,
        old_value=change.previous_value,
        evidence=change.evidence,
    )


class ContradictionChecker(ConsistencyChecker):
    """The consistency checker of an ablation: labels the draft against each change."""

    def __init__(self) -> None:
        super().__init__(DraftEntailment)

    def judged(self, answer: Any, changes: Sequence[TimelineItem]) -> tuple[Premise, ...]:
        """One premise of origin ``state`` for each change that the LM labelled."""
        labels = by_number(answer.entailments, len(changes))
        return tuple(
            _labelled(changes[number - 1], label) for number, label in sorted(labels.items())
        )


def _labelled(change: TimelineItem, labelled: LabelledChange) -> Premise:
    return Premise(
        text=labelled.dependency or f"{change.attribute}: {change.previous_value or 'unknown'}",
        verdict=VERDICTS[labelled.label],
        material=labelled.material,
        origin=Origin.STATE,
        attribute=change.attribute,
        old_value=change.previous_value,
        evidence=change.evidence,
    )


declare(
    TIMELINE_CONSTRUCTION,
    TimelineBuilder,
    rules={TimelineConstruction: answers.build_timeline},
)
declare(
    DRAFT_CONSISTENCY,
    ConsistencyChecker,
    ablated={Labels.NLI: ContradictionChecker},
    rules={
        DraftConsistency: answers.check_consistency,
        DraftEntailment: ablations.label_changes,
    },
)
