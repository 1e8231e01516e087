"""Cases for the gate: a candidate over some entries, and what the validator must find.

A case is derived from a sound base: an item's turns, one entry each, with the
transition that its key describes. Expected findings follow from how the case was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from stateauditor.data.suites.items import SuiteItem, SuiteProbe
from stateauditor.signatures.models import (
    CheckStatus,
    EntryRole,
    Precision,
    Reason,
    RenderedEntry,
    Timestamp,
    TransitionCandidate,
    TransitionCheck,
)

PAIR = "P1"
"""The question-draft pair under audit, in every case."""


class CaseKind(StrEnum):
    """What a case shows."""

    VIOLATION = "violation"
    """It breaks a rule and must be rejected for that reason."""
    CONTROL = "control"
    """It breaks none, however it is written, and must be accepted."""
    LIMIT = "limit"
    """It breaks none and nothing has changed: accepted, since meaning is not checked."""


class Side(StrEnum):
    """Which of the two quotations a case is about."""

    OLD = "old"
    NEW = "new"

    @property
    def ungrounded(self) -> Reason:
        """The reason for a quotation of this side that stands in no entry."""
        return Reason.UNGROUNDED_OLD if self is Side.OLD else Reason.UNGROUNDED_NEW

    @property
    def other(self) -> Side:
        """The other side."""
        return Side.NEW if self is Side.OLD else Side.OLD


@dataclass(frozen=True, slots=True)
class Base:
    """A sound candidate with its entries; ``number`` counts the bases of a derivation."""

    uid: str
    number: int
    candidate: TransitionCandidate = field(repr=False)
    entries: tuple[RenderedEntry, ...] = field(repr=False)
    question: str = field(repr=False)
    draft: str = field(repr=False)

    def quote(self, side: Side) -> str:
        """The quotation of one side."""
        return self.candidate.old_quote if side is Side.OLD else self.candidate.new_quote

    def entry(self, side: Side) -> RenderedEntry:
        """The user's entry that one side quotes."""
        quote = self.quote(side)
        return next(e for e in self.entries if e.role is EntryRole.USER and quote in e.text)

    @property
    def text(self) -> str:
        """Everything that anybody said, for choosing words that nobody did."""
        return "\n".join(entry.text for entry in self.entries).casefold()

    def later_text(self) -> str:
        """What the user said in the new entry and after it, case-folded."""
        at = self.entries.index(self.entry(Side.NEW))
        later = [e.text for e in self.entries[at:] if e.role is EntryRole.USER]
        return "\n".join(later).casefold()

    def requoted(self, side: Side, quote: str) -> TransitionCandidate:
        """The candidate with another quotation on one side."""
        return self.candidate.model_copy(update={f"{side.value}_quote": quote})

    def with_sides(
        self, old: Mapping[str, object], new: Mapping[str, object]
    ) -> tuple[RenderedEntry, ...]:
        """The entries with some fields of the two quoted ones changed."""
        changes = {self.entry(Side.OLD).id: old, self.entry(Side.NEW).id: new}
        return tuple(e.model_copy(update=dict(changes.get(e.id, {}))) for e in self.entries)

    def in_turns(self, old: int, new: int) -> tuple[RenderedEntry, ...]:
        """The entries with both quoted ones in one session at one time, in these turns."""
        place = self.entry(Side.NEW)
        same = {"session": place.session, "timestamp": place.timestamp}
        return self.with_sides({**same, "turn": old}, {**same, "turn": new})

    def with_entry(self, changed: RenderedEntry) -> tuple[RenderedEntry, ...]:
        """The entries with one of them, found by its id, replaced."""
        return tuple(changed if entry.id == changed.id else entry for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Case:
    """One candidate and the finding that it must get.

    ``rule`` is the validator's rule and ``construction`` how it was broken or kept.
    A violation must have every one of ``reasons`` and may have ``may_add`` beside them:
    that is only filled where other entries of a history can change the finding.
    """

    id: str
    kind: CaseKind
    rule: str
    construction: str
    base: str
    candidate: TransitionCandidate = field(repr=False)
    entries: tuple[RenderedEntry, ...] = field(repr=False)
    reasons: frozenset[Reason] = frozenset()
    may_add: frozenset[Reason] = frozenset()

    @property
    def expected(self) -> CheckStatus:
        """The status that the validator must give."""
        violation = self.kind is CaseKind.VIOLATION
        return CheckStatus.REJECTED if violation else CheckStatus.VERIFIED

    def agrees(self, check: TransitionCheck) -> bool:
        """Whether the validator found what it must, for the right reasons and no others."""
        found = frozenset(check.reasons)
        return check.status is self.expected and (
            self.reasons <= found <= self.reasons | self.may_add
        )


def bases(items: Iterable[SuiteItem], due: str) -> tuple[Base, ...]:
    """One base a probe of which ``due`` is demanded (:class:`Due`), in the items' order."""
    chosen = [(item, probe) for item in items for probe in item.probes if probe.due == due]
    return tuple(
        replace(base_of(item, probe), number=number) for number, (item, probe) in enumerate(chosen)
    )


def base_of(item: SuiteItem, probe: SuiteProbe) -> Base:
    """The candidate that a probe's key describes, over its item's turns.

    The keys are revealed here: what is derived is for scoring the gate, and reaches no LM.
    """
    key = probe.key
    return Base(
        uid=f"{item.uid}/{probe.name}",
        number=0,
        candidate=TransitionCandidate(
            attribute=key.attribute.reveal(),
            old_value=key.old_value.reveal(),
            new_value=key.new_value.reveal(),
            old_quote=key.m_old.reveal(),
            new_quote=key.m_new.reveal(),
            causal_path=tuple(node.reveal() for node in key.causal_path),
            applies_to=(PAIR,),
        ),
        entries=entries_of(item),
        question=probe.question,
        draft=probe.draft,
    )


def entries_of(item: SuiteItem) -> tuple[RenderedEntry, ...]:
    """An item's turns as readout lines: one a turn, oldest first, assistant turns among them."""
    turns = [
        (session, number, turn)
        for session in item.sessions
        for number, turn in enumerate(session.turns)
    ]
    return tuple(
        RenderedEntry(
            id=f"E{place:02d}",
            entry_id=f"{session.id}.{number}",
            timestamp=_stamp(session.timestamp),
            text=turn.content,
            role=EntryRole(turn.role),
            session=session.id,
            turn=number,
        )
        for place, (session, number, turn) in enumerate(turns, start=1)
    )


def bare_date(stamp: Timestamp) -> Timestamp:
    """The day of a time, and no more of it."""
    midnight = stamp.instant.replace(hour=0, minute=0, second=0, microsecond=0)
    return Timestamp(instant=midnight, precision=Precision.DAY)


def _stamp(text: str) -> Timestamp:
    """A session's time, a day or a minute in UTC, as the contracts write it."""
    day, _, time = text.strip().replace("T", " ").partition(" ")
    return Timestamp.model_validate(f"{day}T{time.removesuffix('Z')}Z" if time else day)
