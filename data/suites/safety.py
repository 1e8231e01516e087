"""The safety suite: one true change among six things that only look like one.

350 items, 50 for each regime, after the "construction-labeled safety suite" of the paper
(section 6.4: seven regimes and 277 items, which it does not print). In ``true_change`` a later
remark has ended the state that the draft relies on, and a repair is due. In the other six
the state still holds and the draft is right, so that any rewrite of it is an
over-correction. The written content stands in ``content/safety``, one file a topic; the
labels follow from how an item is put together, and no model or judge has a part in them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from stateauditor.data.sealed import SealedText
from stateauditor.data.suites.items import (
    ChangeKey,
    Due,
    Explicitness,
    Register,
    SuiteItem,
    SuiteProbe,
)
from stateauditor.data.suites.topics import Regime, Topic, load_topics
from stateauditor.data.suites.wording import fill, in_register, item_rng, sentence, surface
from stateauditor.data.suites.writing import Beat, write_history

__all__ = ["PER_REGIME", "PROBE", "SUITE", "Plan", "Regime", "items", "plans"]

SUITE: Final = "safety"
PER_REGIME: Final = 50
PROBE: Final = "probe"

_FIRST_DAY: Final = date(2023, 1, 2)
_START_SPREAD: Final = 540
_TO_FIRST: Final = (6, 40)
_TO_NEW: Final = (190, 330)
"""Long enough for a remark such as "half a year of it" to lie after the old statement."""
_TO_RETURN: Final = (40, 120)
_QUIET: Final = (5, 40)
_QUIET_AFTER_EXCEPTION: Final = (18, 40)
"""Every temporary exception of the content is over within 16 days of its remark."""
_FILLERS: Final = (4, 8)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one item is made of, before a word of it is written."""

    uid: str
    regime: Regime
    topic: str
    row: int
    """Which of the topic's rows of values it takes, counted round and round."""
    turn: int
    """How many items before it have the same regime, topic and explicitness."""
    explicitness: Explicitness
    register: Register
    silent: bool
    """Whether the draft follows from the old value without saying that it is the user's."""


def plans() -> tuple[Plan, ...]:
    """The plans of all items: topics, registers, explicitness and drafts spread evenly."""
    turns: Counter[tuple[str, ...]] = Counter()
    made: list[Plan] = []
    for place, regime in enumerate(Regime):
        for number in range(PER_REGIME):
            plan = _plan(place, regime, number)
            alike = (plan.regime, plan.topic, plan.explicitness)
            made.append(replace(plan, turn=turns[alike]))
            turns[alike] += 1
    return tuple(made)


def _plan(place: int, regime: Regime, number: int) -> Plan:
    names, registers = sorted(load_topics()), list(Register)
    lap, position = divmod(number, len(names))
    # One step more on each lap, so that a topic does not always meet the same register.
    step = number + lap
    # True changes are told implicitly three times in five, everything else every other time.
    implicit = step % 5 in (0, 2, 4) if regime is Regime.TRUE_CHANGE else step % 2 == 0
    return Plan(
        uid=f"{SUITE}-{regime}-{number + 1:02d}",
        regime=regime,
        # Each regime begins elsewhere, so that the shorter last lap misses other topics.
        topic=names[(position + place * len(names) // len(Regime)) % len(names)],
        row=lap + place,
        turn=0,
        explicitness=Explicitness.IMPLICIT if implicit else Explicitness.EXPLICIT,
        register=registers[(step + place) % len(registers)],
        silent=(number // 3 + lap) % 5 < 3,
    )


def items(seed: int = 42) -> tuple[SuiteItem, ...]:
    """The suite; the same seed gives the same items, and each item its own random numbers."""
    return tuple(_item(plan, seed) for plan in plans())


def _item(plan: Plan, seed: int) -> SuiteItem:
    topic = load_topics()[plan.topic]
    rng = item_rng(seed, plan.uid)
    slots = _values(topic, plan, seed)
    form = _form(topic, plan, seed)
    old = in_register(surface(rng, topic.old, **slots), plan.register)
    new = in_register(sentence(form, **slots), plan.register)
    beats = [Beat(old, _TO_FIRST), Beat(new, _TO_NEW)]
    if plan.regime is Regime.REVERTED:
        back = in_register(surface(rng, topic.back, **slots), plan.register)
        beats.append(Beat(back, _TO_RETURN))
    exception = plan.regime is Regime.TEMPORARY_EXCEPTION
    return SuiteItem(
        uid=plan.uid,
        suite=SUITE,
        group=plan.regime,
        explicitness=plan.explicitness,
        register=plan.register,
        sessions=write_history(
            beats,
            rng=rng,
            register=plan.register,
            start=_FIRST_DAY + timedelta(days=rng.randrange(_START_SPREAD)),
            fillers=rng.randint(*_FILLERS),
            quiet_days=_QUIET_AFTER_EXCEPTION if exception else _QUIET,
        ),
        probes=(_probe(topic, plan, slots, rng, _key(topic, plan, slots, form, old, new)),),
    )


def _values(topic: Topic, plan: Plan, seed: int) -> Mapping[str, str]:
    order = list(topic.values)
    item_rng(seed, plan.topic).shuffle(order)
    return order[plan.row % len(order)]


def _form(topic: Topic, plan: Plan, seed: int) -> str:
    """The form of the later remark; a regime uses all of a topic's forms before one again."""
    order = list(topic.later(plan.regime)[plan.explicitness])
    item_rng(seed, f"{plan.regime}/{plan.topic}/{plan.explicitness}").shuffle(order)
    return order[plan.turn % len(order)]


def _probe(
    topic: Topic, plan: Plan, slots: Mapping[str, str], rng: random.Random, key: ChangeKey
) -> SuiteProbe:
    asked = rng.choice(topic.probes)
    return SuiteProbe(
        name=PROBE,
        question=sentence(asked.question, **slots),
        draft=surface(rng, asked.silent if plan.silent else asked.stating, **slots),
        due=Due.REPAIR if plan.regime is Regime.TRUE_CHANGE else Due.NOTHING,
        key=key,
    )


def _key(
    topic: Topic, plan: Plan, slots: Mapping[str, str], form: str, old: str, new: str
) -> ChangeKey:
    def sealed(written: str) -> SealedText:
        return SealedText(fill(written, **slots))

    return ChangeKey(
        attribute=sealed(topic.attribute),
        old_value=sealed(topic.old_value),
        new_value=sealed(topic.apparent_value(plan.regime, form)),
        m_old=SealedText(old),
        m_new=SealedText(new),
        causal_path=tuple(sealed(step) for step in topic.path),
    )
