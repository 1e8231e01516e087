"""Temporal role: the user's timeline against the draft (paper, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from stateauditor.program.changes.nearness import near_value, same_attribute
from stateauditor.program.grounding.quotations import readout_order
from stateauditor.program.grounding.values import is_missing, same_value
from stateauditor.program.offline import ablations, answers
from stateauditor.program.roles.base import Role, by_number, known_ids, only_invented
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
    """A wire entry as a contract; a change between equal values is none.

    A change on the word of lines that do not exist is uncertain.
    """
    evidence = known_ids(entry.evidence, readout_ids)
    status = entry.status
    if status is ChangeStatus.CHANGED:
        if _alike(entry.previous_value, entry.current_value):
            status = ChangeStatus.UNCHANGED
        elif only_invented(entry.evidence, evidence):
            status = ChangeStatus.UNCERTAIN
    return TimelineItem(
        attribute=entry.attribute,
        previous_value=entry.previous_value,
        current_value=entry.current_value,
        status=status,
        evidence=evidence,
    )


def changed(timeline: Sequence[TimelineItem]) -> tuple[TimelineItem, ...]:
    """The changed set C of the paper's section 3, and what memory leaves open (section 4.3).

    This is what consistency is tested for. Each change of a chain is tested against what
    holds now: of A -> B and B -> C both lead to C, and of A -> B -> A only the way back is
    left. An uncertain item has no current value: a draft that needs it is not established.
    """
    done = [item for item in timeline if item.status is ChangeStatus.CHANGED]
    found: list[TimelineItem] = []
    for item in timeline:
        if item.status is ChangeStatus.UNCERTAIN:
            found.append(item.model_copy(update={"current_value": None}))
        elif item.status is ChangeStatus.CHANGED:
            final = _final(item, done)
            if not _alike(item.previous_value, final.current_value):
                lines = dict.fromkeys((*item.evidence, *final.evidence))
                update = {"current_value": final.current_value, "evidence": tuple(lines)}
                found.append(item.model_copy(update=update))
    return tuple(found)


def _final(item: TimelineItem, changes: Sequence[TimelineItem]) -> TimelineItem:
    """The change in which the chain of ``item`` ends: each link is said later than the one before.

    Of several that lead on, or that contradict it, the latest is followed.
    """
    while True:
        later = [
            other
            for other in changes
            if _cited(other) > _cited(item)
            and same_attribute(other.attribute, item.attribute)
            and (
                _alike(other.previous_value, item.current_value)
                or _alike(other.previous_value, item.previous_value)
            )
        ]
        if not later:
            return item
        item = max(later, key=_cited)


def _cited(item: TimelineItem) -> tuple[int, str]:
    """The latest line that an item rests on; before all lines where it names none."""
    return max(map(readout_order, item.evidence), default=(0, ""))


def _alike(one: str | None, other: str | None) -> bool:
    """Whether two values are one, whatever their case, typography and qualifiers."""
    a, b = one or "", other or ""
    return near_value(a, b) or same_value(a, b) or (is_missing(a) and is_missing(b))


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
    verdict = state_verdict(change, finding.verdict)
    stale = verdict is Verdict.STALE
    return Premise(
        text=text,
        verdict=verdict,
        current_value=change.current_value if stale else None,
        material=finding.material,
        origin=Origin.STATE,
        attribute=change.attribute,
        old_value=change.previous_value,
        evidence=change.evidence,
    )


def state_verdict(change: TimelineItem, verdict: Verdict) -> Verdict:
    """A finding's verdict; against an uncertain item nothing is STALE, for nothing is current."""
    unsure = verdict is Verdict.STALE and change.status is ChangeStatus.UNCERTAIN
    return Verdict.UNKNOWN if unsure else verdict


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
        verdict=state_verdict(change, VERDICTS[labelled.label]),
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
