"""The hard lifecycle suite: 120 scenarios in six stress categories, each with two probes.

Paper, section 5: "A frozen 120-scenario [...] hard lifecycle set (six stress categories,
protocol committed before generation; deterministic keys, no judge)". The paper's items
are not public; these are the project's own. ``PROTOCOL-lifecycle_hard.md`` says how a run
is scored, ``frozen/lifecycle_hard.json`` fixes what is generated.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from stateauditor.data.sealed import SealedText
from stateauditor.data.suites.items import ChangeKey, Due, Register, SuiteItem, SuiteProbe
from stateauditor.data.suites.situations import (
    ProbeText,
    Situation,
    Stress,
    situations,
)
from stateauditor.data.suites.wording import fill, in_register, item_rng, sentence
from stateauditor.data.suites.writing import Beat, write_history

SUITE: Final = "lifecycle_hard"
SEED: Final = 42

_FILLERS: Final = (5, 14)
"""The least and the most sessions of a history that tell nothing of the user."""
_GAP: Final = (35, 100)
"""Days between two remarks, unless a remark says otherwise."""
_FIRST_GAP: Final = (1, 30)


def items(seed: int = SEED) -> tuple[SuiteItem, ...]:
    """All scenarios, by category; the same seed gives the same bytes.

    The seed decides on registers, dates and fillers; values, keys and drafts are written.
    """
    return tuple(item for stress in Stress for item in _of_category(stress, seed))


def _of_category(stress: Stress, seed: int) -> Iterator[SuiteItem]:
    # Registers take turns, each category from another one on, so that all are equally common.
    turns = list(Register)
    item_rng(seed, f"{SUITE}/registers").shuffle(turns)
    turn = list(Stress).index(stress)
    for situation in situations(stress):
        for rendering in range(len(situation.values)):
            register = turns[turn % len(turns)]
            yield _item(stress, situation, rendering, register, seed)
            turn += 1


def _item(
    stress: Stress, situation: Situation, rendering: int, register: Register, seed: int
) -> SuiteItem:
    uid = f"{SUITE}/{stress.value}/{situation.id}/{rendering + 1}"
    rng = item_rng(seed, uid)
    slots = situation.values[rendering]
    said = {
        name: sentence(remark.form(register), **slots) for name, remark in situation.beats.items()
    }
    if stress is Stress.EXPIRY:
        start, gaps = _around_the_end(date.fromisoformat(slots["end"]), rng)
    else:
        start = situation.start or date(2023, 1, 1) + timedelta(days=rng.randrange(365))
        gaps = [
            remark.after or (_GAP if place else _FIRST_GAP)
            for place, remark in enumerate(situation.beats.values())
        ]
    return SuiteItem(
        uid=uid,
        suite=SUITE,
        group=stress.value,
        explicitness=situation.explicitness,
        register=register,
        sessions=write_history(
            [Beat(text, gap) for text, gap in zip(said.values(), gaps, strict=True)],
            rng=rng,
            register=register,
            start=start,
            fillers=rng.randint(*_FILLERS),
        ),
        probes=tuple(
            _probe(situation, name, rendering, register, said) for name in ("due", "trap")
        ),
    )


def _around_the_end(end: date, rng: random.Random) -> tuple[date, list[tuple[int, int]]]:
    """The base state, the arrangement before its last day ``end``, and a remark after it."""
    term = end - timedelta(days=rng.randint(21, 50))
    base = term - timedelta(days=rng.randint(40, 120))
    to_later = (end - term).days
    before = (term - base).days
    return base - timedelta(days=1), [(1, 1), (before, before), (to_later + 14, to_later + 45)]


def _probe(
    situation: Situation, name: str, rendering: int, register: Register, said: dict[str, str]
) -> SuiteProbe:
    text: ProbeText = getattr(situation, name)
    slots = situation.values[rendering]

    def sealed(form: str) -> SealedText:
        return SealedText(fill(form, **slots))

    return SuiteProbe(
        name=name,
        question=in_register(fill(text.question[rendering], **slots), register),
        draft=fill(text.draft[rendering], **slots),
        due=Due.REPAIR if name == "due" else Due.NOTHING,
        key=ChangeKey(
            attribute=sealed(situation.attribute),
            old_value=sealed(text.old_value[rendering]),
            new_value=sealed(text.new_value[rendering]),
            m_old=SealedText(said[text.old[rendering]]),
            m_new=SealedText(said[text.new[rendering]]),
            causal_path=tuple(sealed(node) for node in text.path[rendering]),
        ),
    )
