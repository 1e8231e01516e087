"""Breaks each of the validator's five rules in a sound base, in every way known to us.

A construction gives None where a base offers no place for it (no number to alter, no
name). Lists of spellings are gone through from base to base, one a base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from stateauditor.data.suites import wordings
from stateauditor.data.suites.cases import Base, Case, CaseKind, Side, bare_date
from stateauditor.data.suites.misquotations import MISQUOTATIONS, Broken, Construction, pick
from stateauditor.signatures.models import Precision, Reason, RenderedEntry, Timestamp

MISSING: Final = (
    *("", "   ", "none", "None.", "n/a", "N/A", "unknown", "not specified", "null", "“none”"),
    *("—", "…", "not stated", "TBD", "\u200b", "**nothing**"),
)
"""Values that say that there is none; an absence has to be named ("no pet")."""


def violations(base: Base) -> Iterator[Case]:
    """Every violation that the base offers a place for, in a fixed order."""
    for rule, constructions in _ALL.items():
        for name, construction in constructions.items():
            broken = construction(base)
            if broken is not None:
                yield Case(
                    id=f"{base.uid}: {name}",
                    kind=CaseKind.VIOLATION,
                    rule=rule,
                    construction=name,
                    base=base.uid,
                    candidate=broken.candidate,
                    entries=broken.entries,
                    reasons=broken.reasons,
                    may_add=broken.may_add,
                )


# --- rule 2: the new entry is later ------------------------------------------------


def _timed(base: Base, old: Timestamp | None, new: Timestamp | None) -> Broken:
    """Both entries under other times."""
    entries = base.with_sides({"timestamp": old}, {"timestamp": new})
    return Broken(base.candidate, entries, frozenset({Reason.NOT_NEWER}))


def _time(base: Base, side: Side, precision: Precision | None = None) -> Timestamp:
    found = base.entry(side).timestamp
    if found is None:
        raise ValueError(f"{base.uid}: an entry of a sound base has a time")
    return found if precision is None else found.model_copy(update={"precision": precision})


def _swapped_roles(base: Base) -> Broken:
    c = base.candidate
    swapped = {
        "old_quote": c.new_quote,
        "new_quote": c.old_quote,
        "old_value": c.new_value,
        "new_value": c.old_value,
    }
    reasons = frozenset({Reason.NOT_NEWER})
    return Broken(c.model_copy(update=swapped), base.entries, reasons)


def _swapped_times(base: Base) -> Broken:
    return _timed(base, _time(base, Side.NEW), _time(base, Side.OLD))


def _equal_times(base: Base) -> Broken:
    same = _time(base, Side.NEW)
    return _timed(base, same, same)


def _day_then_time(base: Base) -> Broken:
    """A bare date, and a time on that day: nobody knows which came first."""
    day = bare_date(_time(base, Side.NEW))
    return _timed(base, day, _time(base, Side.NEW, Precision.MINUTE))


def _time_then_day(base: Base) -> Broken:
    new = _time(base, Side.NEW, Precision.MINUTE)
    early = new.model_copy(update={"instant": new.instant.replace(hour=0, minute=1)})
    return _timed(base, early, bare_date(new))


def _seconds_in_a_minute(base: Base) -> Broken:
    minute = _time(base, Side.NEW, Precision.MINUTE)
    start = minute.instant.replace(second=0, microsecond=0)
    second = Timestamp(instant=start.replace(second=30), precision=Precision.SECOND)
    return _timed(base, minute.model_copy(update={"instant": start}), second)


def _placed(old_turn: int, new_turn: int) -> Construction:
    """Both in one session at one time, by turn."""
    reasons = frozenset({Reason.NOT_NEWER})
    return lambda base: Broken(base.candidate, base.in_turns(old_turn, new_turn), reasons)


def _restated(base: Base) -> Broken:
    """The user says the old sentence again, later: the old value blocks its replacement."""
    last = max(e.timestamp.instant for e in base.entries if e.timestamp is not None)
    recap = RenderedEntry(
        id=f"E{len(base.entries) + 1:02d}",
        entry_id="recap.0",
        timestamp=Timestamp(instant=last.replace(year=last.year + 1, day=1), precision="day"),
        text=base.candidate.old_quote,
        session="recap",
        turn=0,
    )
    reasons = frozenset({Reason.NOT_NEWER})
    return Broken(base.candidate, (*base.entries, recap), reasons)


# --- rules 3 to 5: values, materiality, path ----------------------------------------


def _changed(reason: Reason, change: Callable[[Base], dict[str, object]]) -> Construction:
    def construct(base: Base) -> Broken:
        candidate = base.candidate.model_copy(update=change(base))
        return Broken(candidate, base.entries, frozenset({reason}))

    return construct


def respelled(text: str) -> tuple[str, ...]:
    """One value in spellings that say the same."""
    return (
        text,
        text.upper(),
        text.casefold(),
        f"“{text}.”",
        f"  {text}  ",
        f"the {text}",
        text.replace(" ", "\u00a0 "),
        wordings.hidden(text, "\u200b"),
        f"**{text}**!",
        text.replace("-", "\u2011").replace("'", "’"),
    )


def _short_paths(base: Base) -> dict[str, object]:
    node = base.candidate.causal_path[0]
    again = tuple(pick(respelled(node), base, offset) for offset in (0, 3, 6))
    options = ((), (node,), again[:2], again, (node, "", " … "), ("", " "))
    return {"causal_path": pick(options, base)}


def _everything(base: Base) -> Broken:
    """Four rules at once: every failed one is recorded, none hides another."""
    swapped = _swapped_roles(base).candidate
    changes = {"new_value": swapped.old_value, "causal_path": (), "material": False}
    reasons = {Reason.NOT_NEWER, Reason.SAME_VALUE, Reason.NOT_MATERIAL, Reason.SHORT_PATH}
    return Broken(swapped.model_copy(update=changes), base.entries, frozenset(reasons))


_ALL: Final[dict[str, dict[str, Construction]]] = {
    "1 grounding": MISQUOTATIONS,
    "2 chronology": {
        "quotations exchanged": _swapped_roles,
        "times exchanged": _swapped_times,
        "equal times, two sessions": _equal_times,
        "a date, then a time that day": _day_then_time,
        "a time, then that date": _time_then_day,
        "seconds within a minute": _seconds_in_a_minute,
        "old time unknown": lambda base: _timed(base, None, _time(base, Side.NEW)),
        "new time unknown": lambda base: _timed(base, _time(base, Side.OLD), None),
        "both times unknown": lambda base: _timed(base, None, None),
        "an earlier turn of the session": _placed(3, 1),
        "the same turn": _placed(1, 1),
        "old sentence said again later": _restated,
    },
    "3 values": {
        "no old value": _changed(Reason.MISSING_VALUE, lambda b: {"old_value": pick(MISSING, b)}),
        "no new value": _changed(
            Reason.MISSING_VALUE, lambda b: {"new_value": pick(MISSING, b, 5)}
        ),
        "the old value for new": _changed(
            Reason.SAME_VALUE,
            lambda b: {"new_value": pick(respelled(b.candidate.old_value), b)},
        ),
        "the new value for old": _changed(
            Reason.SAME_VALUE,
            lambda b: {"old_value": pick(respelled(b.candidate.new_value), b, 4)},
        ),
    },
    "4 materiality": {
        "not material": _changed(Reason.NOT_MATERIAL, lambda b: {"material": False}),
        "applies to another reply": _changed(
            Reason.NOT_MATERIAL,
            lambda b: {"applies_to": pick((("P2",), ("p2 ", "P3"), ("P11",), ("P0", "P-1")), b)},
        ),
    },
    "5 causal path": {"fewer than two steps": _changed(Reason.SHORT_PATH, _short_paths)},
    "several rules": {"four at once": _everything},
}
