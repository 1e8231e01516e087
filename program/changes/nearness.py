"""When two values, or two names of an attribute, are near enough to be one (section 4.5).

The gate compares values strictly (``values``). The arbiter must also see that "Austin"
and "Austin, Texas" are one place, and that "home" and "home city" are one attribute:
LMs name the same thing differently from one finding to the next, and two findings on
one attribute must never become two contradictory repairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import regex

from stateauditor.program.grounding.values import is_missing, plain_value


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What leads up to a value and is no part of it: "lives in Austin", "works as a nurse".
_LEADING: Final = _words(
    """
    user users i im we they he she is am are was were be being has have had having
    lives live living lived resides residing works work working worked owns own owning
    owned in at as on a an the now currently presently
    """
)
_TRAILING: Final = _words("now currently presently")
# A place, a job and a way of life under the names that LMs give them.
_SYNONYMS: Final = {
    **dict.fromkeys(_words("home house housing residence residency domicile living"), "home"),
    **dict.fromkeys(_words("work job occupation profession employment career"), "work"),
    **dict.fromkeys(_words("diet dietary"), "diet"),
    **dict.fromkeys(_words("car vehicle automobile"), "car"),
    **dict.fromkeys(_words("transport transportation commute commuting"), "commute"),
}
_PLACES: Final = _words("city town place location address area region where lives live based")
# Words of an attribute's name that set nothing apart.
_GENERIC: Final = _words(
    """
    user users my me i their his her current currently present new now latest primary main
    usual status state situation arrangement type kind name title detail info information
    preference choice habit of the a an in for
    """
)
# Whose attribute it is, where it is not the user's own.
_OTHERS: Final = _words(
    """
    sister brother sibling mother father mom mum dad parent grandmother grandfather grandma
    grandpa wife husband spouse partner girlfriend boyfriend fiance fiancee son daughter child
    kid friend colleague coworker boss manager neighbor neighbour roommate flatmate aunt uncle
    cousin nephew niece family
    """
)
# A qualifier is set off from what it qualifies; a comma between digits is none.
_SET_OFF: Final = regex.compile(r"(?<!\d),|,(?!\d)|[();]")
_POSSESSIVE: Final = regex.compile(r"(\w+)['’]s\b")


@dataclass(frozen=True, slots=True)
class _Core:
    head: tuple[str, ...]
    qualifiers: tuple[str, ...]


def near_value(one: str, other: str) -> bool:
    """Whether one value is the other, or the other with a qualifier or in a short sentence.

    >>> near_value("Austin", "lives in Austin, Texas")
    True
    >>> near_value("Portland, Oregon", "Portland, Maine")
    False
    """
    if is_missing(one) or is_missing(other):
        return False  # "unknown" is no value, and so near none
    a, b = _core(one), _core(other)
    return a.head == b.head and all(map(_compatible, a.qualifiers, b.qualifiers))


def core_value(value: str) -> str:
    """The words of a value without what leads up to it and what qualifies it.

    >>> core_value("lives in Austin, Texas")
    'austin'
    """
    return " ".join(_core(value).head)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute's name as it is compared: what sets it apart, and whose it is."""

    words: frozenset[str]
    owners: frozenset[str]


@lru_cache(maxsize=4096)
def attribute_of(name: str) -> Attribute:
    """Read the name of an attribute.

    >>> attribute_of("user's current home city") == attribute_of("Residence")
    True
    """
    possessors = {plain_value(found) for found in _POSSESSIVE.findall(name)} - {"user", "users"}
    said = [_singular(w) for w in plain_value(_POSSESSIVE.sub(r"\1", name)).split()]
    owners = frozenset(w for w in said if w in _OTHERS or w in possessors)
    words = {_SYNONYMS.get(w, w) for w in said if w not in owners}
    words = {w for w in words if w not in _GENERIC} or words
    rest = words - _PLACES
    if rest <= {"home"} and words:  # "home city", "city"; but "work location" keeps its place
        words = {"home"}
    return Attribute(frozenset(words), owners)


def same_attribute(one: str, other: str) -> bool:
    """Whether two names mean one attribute, by the names alone; a blank one means none."""
    a, b = attribute_of(one), attribute_of(other)
    return bool(a.words or a.owners) and a == b


def within_attribute(one: str, other: str) -> bool:
    """Whether one name says what the other says and more, of the same person; blank says least.

    "job" and "job in the hospital" may be one attribute: a value in common decides.
    """
    a, b = attribute_of(one), attribute_of(other)
    return a.owners == b.owners and (a.words <= b.words or b.words <= a.words)


@lru_cache(maxsize=4096)
def _core(value: str) -> _Core:
    parts = [part.strip() for part in _SET_OFF.split(value)]
    parts = [part for part in parts if plain_value(part)] or [value]
    head, qualifiers = parts[0], [plain_value(part) for part in parts[1:]]
    words = head.split()
    last = words[-1].strip(".") if words else ""
    if len(words) > 1 and len(last) == 2 and last.isalpha() and last.isupper():  # "Austin TX"
        words, qualifiers = words[:-1], [last.casefold(), *qualifiers]
    plain = plain_value(" ".join(words)).split()
    if plain[:2] == ["city", "of"]:
        plain = plain[2:] or plain
    while len(plain) > 1 and plain[0] in _LEADING:
        plain = plain[1:]
    while len(plain) > 1 and plain[-1] in _TRAILING:
        plain = plain[:-1]
    return _Core(tuple(plain), tuple(qualifiers))


def _compatible(one: str, other: str) -> bool:
    """Whether two qualifiers are one, written out or abbreviated ("TX", "Texas")."""
    short, long = sorted((one, other), key=len)
    if short == long or short in long.split() or long.startswith(short + " "):
        return True
    letters = iter(long)
    return len(short) in (2, 3) and short[0] == long[0] and all(c in letters for c in short)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
