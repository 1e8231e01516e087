"""Harmless ways to write a sound candidate: each says what the untouched one says.

They are what LMs do to a quotation when they copy it (typography, cuts), and what
stores do to times and roles. The gate must accept every one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from stateauditor.data.suites import wordings
from stateauditor.data.suites.cases import Base, Case, CaseKind, Side, bare_date
from stateauditor.signatures.models import (
    EntryRole,
    RenderedEntry,
    TransitionCandidate,
)

Sound = tuple[TransitionCandidate, tuple[RenderedEntry, ...]]
Construction = Callable[[Base], Sound | None]

_LIGATURES: Final = (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"))
_CURLY: Final = str.maketrans({"'": "’"})
_STRAIGHT: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_NEGATING: Final = re.compile(
    r"n['’]t\b|\b(?:no|not|never|none|nor|neither|nobody|nothing|nowhere|without|cannot"
    r"|hardly|barely|scarcely|rarely|seldom|any ?more|any longer)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[,;:] ")
_CUT_MINIMUM: Final = 3  # long words that a cut quotation keeps


def controls(base: Base) -> Iterator[Case]:
    """The untouched candidate and every harmless variant that the base offers a place for."""
    for rule, constructions in _ALL.items():
        for name, construction in constructions.items():
            sound = construction(base)
            if sound is not None:
                yield Case(
                    id=f"{base.uid}: {name}",
                    kind=CaseKind.CONTROL,
                    rule=rule,
                    construction=name,
                    base=base.uid,
                    candidate=sound[0],
                    entries=sound[1],
                )


# --- how quotations are written -----------------------------------------------------


def _written(edit: Callable[[str], str | None]) -> Construction:
    """Both quotations edited; None where neither changes."""

    def construct(base: Base) -> Sound | None:
        edited = {f"{s.value}_quote": edit(base.quote(s)) or base.quote(s) for s in Side}
        candidate = base.candidate.model_copy(update=edited)
        return (candidate, base.entries) if candidate != base.candidate else None

    return construct


def _ligatures(quote: str) -> str:
    for letters, one in _LIGATURES:
        quote = quote.replace(letters, one)
    return quote


def _dashes(quote: str) -> str:
    return quote.replace(" - ", " — ").replace("--", "—").replace("-", "\u2011")


def _en_dashes(quote: str) -> str:
    return quote.replace("-", "–")


def _soft_breaks(quote: str) -> str:
    """A line broken at every third space."""
    words = quote.split(" ")
    ends = ["\n" if number % 3 == 2 else " " for number in range(len(words))]
    return "".join(w + end for w, end in zip(words, ends, strict=True)).rstrip()


def _spaced(quote: str) -> str:
    return quote.replace(" ", "  ")


def _no_break_spaces(quote: str) -> str:
    return quote.replace(" ", "\u00a0")


def _invisible(quote: str) -> str:
    """A mark of no width inside every long word: the same words to any reader."""
    marks = iter(wordings.ZERO_WIDTH * len(quote))
    return wordings.LONG.sub(lambda m: wordings.hidden(m.group(), next(marks)), quote)


def _decomposed(quote: str) -> str:
    return unicodedata.normalize("NFD", quote)


def _full_width_digits(quote: str) -> str:
    return re.sub(r"\d", lambda m: chr(ord(m.group()) + 0xFEE0), quote)


def _without_end(quote: str) -> str:
    return quote.rstrip(".!?")


# --- cuts ------------------------------------------------------------------------------


def _cut(edit: Callable[[str], str | None]) -> Construction:
    """Both quotations cut, where what is left tells its entry from every other of the user's."""

    def construct(base: Base) -> Sound | None:
        edited = {}
        for side in Side:
            kept = edit(base.quote(side))
            if kept is not None and _distinctive(kept, base, side):
                edited[f"{side.value}_quote"] = kept
        if not edited:
            return None
        return base.candidate.model_copy(update=edited), base.entries

    return construct


def _distinctive(kept: str, base: Base, side: Side) -> bool:
    """Whether no other entry has half of the words, or of the same first letters."""
    starts = [word[:4].casefold() for word in wordings.LONG.findall(kept)]
    own = base.entry(side)
    return all(
        2 * sum(start in entry.text.casefold() for start in starts) < len(starts)
        for entry in base.entries
        if entry.id != own.id and entry.role is EntryRole.USER
    )


def _first_clause(quote: str) -> str | None:
    """Up to a comma, where what is left out takes nothing back."""
    for match in _CLAUSE.finditer(quote):
        kept, rest = quote[: match.start()], quote[match.end() :]
        if _enough(kept) and not _NEGATING.search(rest):
            return kept
    return None


def _last_clause(quote: str) -> str | None:
    """From a comma on, where what is left out takes nothing back."""
    for match in reversed(list(_CLAUSE.finditer(quote))):
        left, kept = quote[: match.start()], quote[match.end() :]
        if _enough(kept) and not _NEGATING.search(left):
            return kept
    return None


def _cut_short(quote: str) -> str | None:
    """Without its last quarter, marked by an ellipsis."""
    words = quote.split()
    at = len(words) - max(1, len(words) // 4)
    kept, rest = " ".join(words[:at]), " ".join(words[at:])
    clean = _enough(kept) and not _NEGATING.search(rest) and not _torn(words, at)
    return f"{kept}…" if clean else None


def _elided(quote: str) -> str | None:
    """Without its middle, marked by an ellipsis."""
    words = quote.split()
    third = len(words) // 3
    first, last = " ".join(words[:third]), " ".join(words[-third:] if third else ())
    if not (_enough(first) and _enough(last)) or _NEGATING.search(quote):
        return None
    if _torn(words, third) or _torn(words, len(words) - third):
        return None
    return f"{first} [...] {last}"


def _torn(words: list[str], at: int) -> bool:
    """Whether a cut before word ``at`` stands beside a number: "300" and "g" are one."""
    return any(character.isdigit() for word in words[at - 1 : at + 1] for character in word)


def _enough(kept: str) -> bool:
    return len(wordings.LONG.findall(kept)) >= _CUT_MINIMUM


# --- times, roles, paths -------------------------------------------------------------


def _bare_dates(base: Base) -> Sound | None:
    old, new = (base.entry(side).timestamp for side in Side)
    if old is None or new is None or old.instant.date() == new.instant.date():
        return None
    days = ({"timestamp": bare_date(stamp)} for stamp in (old, new))
    return base.candidate, base.with_sides(*days)


def _later_turn(base: Base) -> Sound | None:
    """At one time and in one session, the new statement in a later turn."""
    if base.entry(Side.NEW).timestamp is None:
        return None
    return base.candidate, base.in_turns(1, 3)


def _stored_facts(base: Base) -> Sound:
    stored = {"role": EntryRole.FACT, "session": None, "turn": None}
    return base.candidate, base.with_sides(stored, stored)


def _any_order(base: Base) -> Sound:
    return base.candidate, base.entries[::-1]


def _no_pair_named(base: Base) -> Sound:
    return base.candidate.model_copy(update={"applies_to": ()}), base.entries


def _among_pairs(base: Base) -> Sound:
    return base.candidate.model_copy(update={"applies_to": ("P2", " p1 ")}), base.entries


def _longer_path(base: Base) -> Sound:
    path = ("", base.candidate.causal_path[0].upper(), *base.candidate.causal_path)
    return base.candidate.model_copy(update={"causal_path": path}), base.entries


_ALL: Final[dict[str, dict[str, Construction]]] = {
    "untouched": {"as the key has it": lambda base: (base.candidate, base.entries)},
    "typography": {
        "curly apostrophes": _written(lambda q: q.translate(_CURLY)),
        "straight marks": _written(lambda q: q.translate(_STRAIGHT)),
        "non-breaking and em dashes": _written(_dashes),
        "en dashes": _written(_en_dashes),
        "curly quotation marks around": _written(lambda q: f"“{q}”"),
        "guillemets around": _written(lambda q: f"«{q}»"),
        "markdown bold": _written(lambda q: f"**{q}**"),
        "quoted markdown": _written(lambda q: f'> _"{q}"_'),
        "ligatures": _written(_ligatures),
        "line breaks": _written(_soft_breaks),
        "double spaces": _written(_spaced),
        "no-break spaces": _written(_no_break_spaces),
        "upper case": _written(str.upper),
        "lower case": _written(str.lower),
        "invisible marks": _written(_invisible),
        "decomposed accents": _written(_decomposed),
        "full-width digits": _written(_full_width_digits),
        "ellipses around": _written(lambda q: f"…{_without_end(q)}…"),
        "no full stop": _written(_without_end),
    },
    "cuts": {
        "first clause": _cut(_first_clause),
        "last clause": _cut(_last_clause),
        "last words left out": _cut(_cut_short),
        "middle left out": _cut(_elided),
    },
    "times, roles, paths": {
        "bare dates": _bare_dates,
        "a later turn at the same time": _later_turn,
        "stored facts": _stored_facts,
        "entries in another order": _any_order,
        "no pair named": _no_pair_named,
        "this pair among others": _among_pairs,
        "a step said twice": _longer_path,
    },
}
