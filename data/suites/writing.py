"""Turns the remarks that a suite needs into a dated history of sessions.

A suite decides what the user says and when (`Beat`); this module sets each remark inside
a natural user turn, lets the assistant acknowledge it without restating it, and puts
everyday exchanges around it. The words stand in ``content/registers.yaml`` and
``content/fillers.yaml``. All chance comes from the caller's generator.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from typing import Final, Generic, TypeVar

from pydantic import Field

from stateauditor.data.scenario import Session, Turn
from stateauditor.data.suites.items import Register
from stateauditor.data.suites.loading import load_content
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen

T = TypeVar("T")

_BARE: Final = 0.25
"""The share of remarks that are a turn of their own."""
_LONGER: Final = 0.3
"""The share of sessions with an everyday exchange more: before a remark, after a filler."""
_EACH_SIDE: Final = 0.75
"""How often a remark that is not bare has a lead-in, and how often it has a tail."""


class Filler(Frozen):
    """One everyday exchange that tells nothing of the user's state."""

    ask: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class Voice(Frozen):
    """What surrounds a remark in one register."""

    lead_ins: tuple[str, ...] = Field(min_length=15)
    tails: tuple[str, ...] = Field(min_length=15)
    greetings: tuple[str, ...] = Field(min_length=1)
    replies: tuple[str, ...] = Field(min_length=1)


class _Voices(Frozen):
    casual: Voice
    neutral: Voice
    formal: Voice


class _Fillers(Frozen):
    fillers: tuple[Filler, ...] = Field(min_length=40)


@dataclass(frozen=True, slots=True)
class Beat:
    """One remark of the user, which stands in the history letter for letter.

    ``gap_days`` says how many days it comes after the beat before it (the first: after
    the start), as the least and the most; a session never shares its day with another.
    ``tail`` always follows the remark in its turn; without one, small talk may.
    """

    text: str = field(repr=False)
    gap_days: tuple[int, int]
    tail: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        least, most = self.gap_days
        if not self.text.strip():
            raise InputError("a beat has no text")
        if not 1 <= least <= most:
            raise InputError(
                f"a beat's gap is {least} to {most} days; it must be at least 1, the least first"
            )


def write_history(
    beats: Sequence[Beat],
    *,
    rng: random.Random,
    register: Register,
    start: date,
    fillers: int,
    quiet_days: tuple[int, int] = (4, 40),
) -> tuple[Session, ...]:
    """A history in order of time, ``s01`` first, with each beat in a session of its own.

    ``fillers`` is the number of sessions without a beat (at least 1): one stands at the
    end, ``quiet_days`` after the last beat, and the others before, between and after the
    beats, with one in each gap that has room as long as they last. ``start`` is the day
    from which the first beat's gap counts; fillers may stand before it.
    """
    if fillers < 1:
        raise InputError(f"a history needs at least 1 filler session, not {fillers}")
    if not beats:
        raise InputError("a history needs at least 1 beat")
    beat_days = _beat_days(beats, rng)
    filler_days = _filler_days(beat_days, beat_days[-1] + rng.randint(*quiet_days), fillers, rng)
    planned: dict[int, Beat | None] = dict.fromkeys(filler_days)
    planned.update(zip(beat_days, beats, strict=True))
    talk = _Talk(rng, register)
    return tuple(
        Session(f"s{number:02d}", _moment(start + timedelta(days=day), rng), talk.session(beat))
        for number, (day, beat) in enumerate(sorted(planned.items(), key=lambda p: p[0]), start=1)
    )


def _beat_days(beats: Sequence[Beat], rng: random.Random) -> list[int]:
    days: list[int] = []
    for beat in beats:
        days.append((days[-1] if days else 0) + rng.randint(*beat.gap_days))
    return days


def _filler_days(beat_days: list[int], end: int, count: int, rng: random.Random) -> list[int]:
    """The days of the fillers, ``end`` among them; each is free of beats."""
    edges = [min(0, beat_days[0] - 3 * count) - 1, *beat_days, end]
    gaps = [list(range(before + 1, after)) for before, after in pairwise(edges)]
    days = [end]
    # The gaps in front of a beat come first: a remark with nothing around it stands out.
    for gap in gaps:
        if gap and len(days) < count:
            days.append(gap.pop(rng.randrange(len(gap))))
    rest = [day for gap in gaps for day in gap]
    return days + rng.sample(rest, count - len(days))


def _moment(day: date, rng: random.Random) -> str:
    """A time at which people write, as ``YYYY-MM-DD HH:MM``."""
    at = time(rng.randint(7, 22), rng.randint(0, 59))
    return datetime.combine(day, at).strftime("%Y-%m-%d %H:%M")


class _Talk:
    """Writes the turns of one history; what it has used up it does not repeat soon."""

    def __init__(self, rng: random.Random, register: Register) -> None:
        self._rng = rng
        voice = _voices()[register]
        self._lead_ins = _Deck(voice.lead_ins, rng)
        self._tails = _Deck(voice.tails, rng)
        self._greetings = _Deck(("", *voice.greetings), rng)
        self._replies = _Deck(voice.replies, rng)
        self._fillers = _Deck(_fillers(), rng)

    def session(self, beat: Beat | None) -> tuple[Turn, ...]:
        """The turns of a session with this beat, or of a filler session."""
        longer = self._rng.random() < _LONGER
        turns = self._exchange(self._greetings.draw()) if longer or beat is None else ()
        if beat is not None:
            return turns + self._remark(beat, opens=not turns)
        return turns + (self._exchange("") if longer else ())

    def _remark(self, beat: Beat, *, opens: bool) -> tuple[Turn, ...]:
        bare = self._rng.random() < _BARE
        lead_in = tail = ""
        if opens and not bare and self._rng.random() < _EACH_SIDE:
            lead_in = self._lead_ins.draw()
        if not bare and self._rng.random() < _EACH_SIDE:
            tail = self._tails.draw()
        said = " ".join(part for part in (lead_in, beat.text, beat.tail or tail) if part)
        return Turn("user", said), Turn("assistant", self._replies.draw())

    def _exchange(self, greeting: str) -> tuple[Turn, ...]:
        filler = self._fillers.draw()
        asked = f"{greeting} {filler.ask}".strip()
        return Turn("user", asked), Turn("assistant", filler.answer)


class _Deck(Generic[T]):
    """Draws without repeating until all have been drawn."""

    def __init__(self, of: Sequence[T], rng: random.Random) -> None:
        self._all = tuple(of)
        self._rng = rng
        self._left: list[T] = []

    def draw(self) -> T:
        """The next one."""
        if not self._left:
            self._left = self._rng.sample(self._all, len(self._all))
        return self._left.pop()


@cache
def _voices() -> dict[Register, Voice]:
    """What surrounds a remark, by register."""
    voices = load_content("registers.yaml", _Voices)
    return {register: getattr(voices, register.value) for register in Register}


@cache
def _fillers() -> tuple[Filler, ...]:
    """The everyday exchanges."""
    return load_content("fillers.yaml", _Fillers).fillers
