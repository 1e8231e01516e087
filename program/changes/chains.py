"""Transitions of one attribute as one change, or as none (paper, section 4.5).

A proposer sees steps: a move from A to B, a later one from B to C. What a reply needs
is one change, from what its draft rests on to what holds now. The steps may be any
number, in any order, some of them settled: found not material, because the draft is
right about them already. Rejected steps prove nothing and are no part of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stateauditor.program.changes.nearness import (
    attribute_of,
    near_value,
    same_attribute,
    within_attribute,
)
from stateauditor.program.changes.stated import StatedValues
from stateauditor.program.grounding.quotations import readout_order
from stateauditor.program.grounding.values import plain_value
from stateauditor.program.memory.timestamps import SortKey, sort_key
from stateauditor.signatures.models import QuoteMatch, TransitionCheck

ItemT = TypeVar("ItemT")

Recency = tuple[SortKey, int, str]
"""When something was said, then its place in the readout."""


@dataclass(frozen=True, slots=True)
class Step:
    """One transition that passed the gate, or failed it only for not being material."""

    check: TransitionCheck
    settled: bool = False

    @property
    def said(self) -> Recency:
        """When its new value was said."""
        return _recency(self.check.new)

    @property
    def held(self) -> Recency:
        """When its old value was said."""
        return _recency(self.check.old)


@dataclass(frozen=True, slots=True)
class Change:
    """What the steps of one attribute come to.

    ``path`` are the steps from what the draft rests on to what holds now, oldest first;
    it is empty where nothing is to be repaired. ``settled`` says why that is so: the
    draft fits what holds now. Otherwise an empty path means that the steps cancel out.
    """

    steps: tuple[Step, ...]
    path: tuple[TransitionCheck, ...] = ()
    settled: bool = False

    @property
    def old_value(self) -> str:
        """What the draft rests on."""
        return self.path[0].old_value

    @property
    def last(self) -> TransitionCheck:
        """The step that led to what holds now."""
        return self.path[-1]


def changes(steps: Iterable[Step], stated: StatedValues) -> list[Change]:
    """One change for each attribute that the steps speak of, in the order of their content.

    The order of ``steps`` changes nothing. A draft that states a value rests on
    that one; of a draft that states none, the first material step tells.
    """
    ordered = sorted(steps, key=lambda step: (step.said, _place(step)))
    groups = grouped(ordered, _one_attribute)
    return sorted((_change(group, stated) for group in groups), key=_order)


def grouped(items: Sequence[ItemT], alike: Callable[[ItemT, ItemT], bool]) -> list[list[ItemT]]:
    """The classes of ``items`` under the closure of ``alike``, in the order of their firsts."""
    groups: list[list[ItemT]] = []
    for item in items:
        joined = [group for group in groups if any(alike(other, item) for other in group)]
        if not joined:
            groups.append([item])
            continue
        joined[0].append(item)
        for group in joined[1:]:
            joined[0].extend(group)
            groups.remove(group)
    positions = {id(item): position for position, item in enumerate(items)}
    return [sorted(group, key=lambda item: positions[id(item)]) for group in groups]


def alike(
    attributes: tuple[str, str], one: tuple[str | None, ...], other: tuple[str | None, ...]
) -> bool:
    """Whether two findings are on one attribute: by its name, or by name and values.

    ``one`` and ``other`` are their values, the old and the current one.
    """
    if same_attribute(*attributes):
        return True
    if attribute_of(attributes[0]).owners != attribute_of(attributes[1]).owners:
        return False  # somebody else's home
    shared = any(near_value(a, b) for a in one if a for b in other if b)
    return shared and within_attribute(*attributes)


def _one_attribute(one: Step, other: Step) -> bool:
    a, b = one.check, other.check
    values = ((a.old_value, a.new_value), (b.old_value, b.new_value))
    return alike((a.attribute, b.attribute), *values)


def _change(steps: Sequence[Step], stated: StatedValues) -> Change:
    """What the steps of one attribute, oldest first, come to."""
    last = _last(steps)
    if last is None:
        return Change(tuple(steps))
    if last.settled:
        return Change(tuple(steps), settled=True)
    path = _path(steps, last)
    holds = last.check.new_value
    rests = [i for i, s in enumerate(path) if not near_value(s.check.old_value, holds)]
    on = [i for i in rests if stated.names(path[i].check.old_value)]
    if stated.fits(holds, [path[i].check.old_value for i in rests]):
        return Change(tuple(steps), settled=True)
    start = on[-1] if on else next(i for i, step in enumerate(path) if not step.settled)
    begins = path[start].check.old_value
    if near_value(begins, holds):
        return Change(tuple(steps))  # there and back again
    # Back at its start once more, the path begins there: the detour proves nothing.
    start = max(i for i, s in enumerate(path) if near_value(s.check.old_value, begins))
    return Change(tuple(steps), tuple(step.check for step in path[start:]))


def _last(steps: Sequence[Step]) -> Step | None:
    """The step that led to what holds now; None where one entry leads round in a circle."""
    latest = steps[-1].said
    final = [step for step in steps if step.said == latest]
    ends = [s for s in final if not any(_onward(s, other) for other in final if other is not s)]
    if not ends:
        return None
    last = min(ends, key=lambda step: (step.settled, _place(step)))
    if not last.settled:
        return last
    # One move found twice: that one finding is settled does not undo the other.
    for step in reversed([step for step in steps if step not in final]):
        if not _same_move(step, last):
            break
        if not step.settled:
            return step
    return last


def _path(steps: Sequence[Step], last: Step) -> list[Step]:
    """The steps that lead to ``last``, oldest first.

    A step is led up to by the latest one before it that ended where it begins. Where no
    finding links the two, one that had ended before this one's old value was said.
    """
    path = [last]
    while before := _before(path[0], [step for step in steps if step not in path]):
        path.insert(0, before)
    return path


def _before(step: Step, others: Sequence[Step]) -> Step | None:
    linked = [other for other in others if _onward(other, step) and other.said <= step.said]
    over = [other for other in others if step.check.old.entry_id and other.said <= step.held]
    found = linked or over
    return found[-1] if found else None


def _onward(step: Step, other: Step) -> bool:
    """Whether ``other`` starts from where ``step`` ended."""
    return near_value(step.check.new_value, other.check.old_value)


def _same_move(one: Step, other: Step) -> bool:
    a, b = one.check, other.check
    return near_value(a.old_value, b.old_value) and near_value(a.new_value, b.new_value)


def _recency(match: QuoteMatch) -> Recency:
    return (sort_key(match.timestamp), *readout_order(match.entry_id or ""))


def _place(step: Step) -> tuple[str, ...]:
    """Order by content, so that the order of discovery shows nowhere."""
    check = step.check
    values = (check.attribute, check.new_value, check.old_value)
    return (*map(plain_value, values), *values, check.id)


def _order(change: Change) -> tuple[str, ...]:
    """Changes stand in the order of what they end in."""
    return _place(Step(change.last)) if change.path else _place(change.steps[-1])
