"""A few hand-made items: enough of every kind to derive cases from and to run."""

from __future__ import annotations

from collections.abc import Sequence

from stateauditor.data.scenario import Session, Turn
from stateauditor.data.sealed import SealedText
from stateauditor.data.suites.items import (
    ChangeKey,
    Due,
    Explicitness,
    Register,
    SuiteItem,
    SuiteProbe,
)

SMALL_TALK = (
    ("Do you know a word for the smell of rain?", "Petrichor, some say."),
    ("My umbrella broke again.", "What a pity."),
)


def probe(
    old: str,
    new: str,
    *,
    attribute: str = "home city",
    values: tuple[str, str] = ("Denver", "Milwaukee"),
    due: Due = Due.REPAIR,
    name: str = "probe",
    question: str = "Where could I take a walk tonight?",
    draft: str = "Walk around the lake in Denver before dinner.",
) -> SuiteProbe:
    """A probe whose key quotes ``old`` and ``new``."""
    return SuiteProbe(
        name=name,
        question=question,
        draft=draft,
        due=due,
        key=ChangeKey(
            attribute=SealedText(attribute),
            old_value=SealedText(values[0]),
            new_value=SealedText(values[1]),
            m_old=SealedText(old),
            m_new=SealedText(new),
            causal_path=(SealedText(f"sleeps in {values[1]}"), SealedText("one home at a time")),
        ),
    )


def item(
    uid: str,
    remarks: Sequence[str],
    probes: Sequence[SuiteProbe],
    *,
    suite: str = "safety",
    group: str = "true_change",
    explicitness: Explicitness = Explicitness.IMPLICIT,
) -> SuiteItem:
    """An item with one dated session a remark, and small talk at the end."""
    said = [(remark, "I see.") for remark in remarks] + list(SMALL_TALK)
    sessions = tuple(
        Session(
            f"s{number:02d}",
            f"2024-{number:02d}-10 09:30",
            (Turn("user", user), Turn("assistant", assistant)),
        )
        for number, (user, assistant) in enumerate(said, start=1)
    )
    return SuiteItem(
        uid=uid,
        suite=suite,
        group=group,
        explicitness=explicitness,
        register=Register.NEUTRAL,
        sessions=sessions,
        probes=tuple(probes),
    )


MOVED = (
    "I've rented the same one-bedroom flat in Denver for four years, with no elevator.",
    "The garbage truck on my block in Milwaukee rolls past at 5:40 every Tuesday, loudly.",
)
SISTER = "My sister signed a lease for a sunny loft in Milwaukee, and she loves the harbour."
VISIT = "For three nights I slept in a hotel in Milwaukee, right by the noisy station."
SHIFT = (
    "On weekdays I work from 9 to 5 in the bakery on Harbour Street, which suits me.",
    "Since Monday I don't see daylight: my shift in the bakery starts at 11 pm and I sleep at 8.",
)


def suite_items() -> tuple[SuiteItem, ...]:
    """Two true changes and two that only look like one; one of them shares its draft."""
    return (
        item("moved", MOVED, [probe(*MOVED)], explicitness=Explicitness.EXPLICIT),
        item(
            "shift",
            SHIFT,
            [
                probe(
                    *SHIFT,
                    attribute="working hours",
                    values=("day shift, 9 to 5", "night shift from 11 pm"),
                    question="When should I go for a run?",
                    draft="Run at 6 in the evening, right after your day in the bakery.",
                )
            ],
        ),
        item(
            "sister",
            (MOVED[0], SISTER),
            [probe(MOVED[0], SISTER, due=Due.NOTHING)],
            group="other_person",
        ),
        item(
            "visit",
            (MOVED[0], VISIT),
            [probe(MOVED[0], VISIT, due=Due.NOTHING, draft="Walk by the river in Denver.")],
            group="temporary_exception",
        ),
    )


def hard_items() -> tuple[SuiteItem, ...]:
    """Two scenarios with a probe that is due and a trap each."""
    return tuple(
        item(
            f"hard-{number}",
            (*MOVED, SHIFT[0], SISTER.replace("sister", relative)),
            [
                probe(*MOVED, name="due", draft=f"Walk in Denver, number {number}."),
                probe(
                    SHIFT[0],
                    SISTER.replace("sister", relative),
                    attribute="working hours",
                    values=("9 to 5", "a lease in Milwaukee"),
                    due=Due.NOTHING,
                    name="trap",
                    question="When should I call you?",
                    draft=f"Call after five, when the bakery is quiet, number {number}.",
                ),
            ],
            suite="lifecycle_hard",
            group="partial_scope" if number == 1 else "chain",
        )
        for number, relative in enumerate(("sister", "cousin"), start=1)
    )
