"""Changes of the user's state between the lines of a readout.

Three kinds of rule, each over an older and a newer statement: another value of
a frame that holds one value at a time (T1), an event whose effects end a facet
(T2), and an ending that names the thing it ends. A change found here is a
suggestion of lexical rules; provenance and order are checked again by the
validator.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.mentions import (
    EventMention,
    FacetHits,
    ValueMention,
    ending_mentions,
    event_mentions,
    facets_stated,
    over_mentions,
    tells_habit,
    value_mentions,
)
from stateauditor.program.offline.statements import Statement, newer
from stateauditor.program.offline.words import content_words

_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_COUNTED, start=1)} | {
    "a": 1,
    "couple": 2,
    "few": 3,
    "twelve": 12,
}
_SPAN = re.compile(
    r" (?:for|another|next|about) (?:another |the next |about |at least )?(?:a )?"
    r"(\d+|[a-z]+)(?: of| more)? (day|week|month)s? ",
    re.IGNORECASE,
)
# What the user claims: the words that follow "my" or "I" in the same clause.
_OWN = re.compile(r"(?<= )(?=(?:my|our|i|we|user) ((?:[^\s,;:().!?]+ ){1,6}))", re.IGNORECASE)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_UNTIL = re.compile(
    rf" (?:until|till|through) (?:the )?(?:(?:end|middle|start|late|early|mid) )?(?:of )?"
    rf"({'|'.join(_MONTHS)}) ",
    re.IGNORECASE,
)
_DAYS = {"day": 1, "week": 7, "month": 31}


@dataclass(frozen=True)
class Change:
    """An older statement that a newer one supersedes, by one rule of the lexicon.

    ``old_words`` are the words by which a text names the old value where no facet
    does; ``effect`` names the rule, so that its words of awareness can be found.
    """

    attribute: str
    old_value: str
    new_value: str
    old: Statement
    new: Statement
    path: tuple[str, ...]
    facet: str | None = None
    effect: str | None = None
    old_words: frozenset[str] = frozenset()
    new_words: frozenset[str] = frozenset()
    weak: bool = False


@dataclass
class Findings:
    """What the statements of a readout say, gathered in one pass."""

    values: dict[str, list[ValueMention]] = field(default_factory=dict)
    facets: dict[str, list[tuple[Statement, FacetHits]]] = field(default_factory=dict)
    events: dict[str, list[EventMention]] = field(default_factory=dict)
    over: dict[str, list[Statement]] = field(default_factory=dict)
    endings: list[EventMention] = field(default_factory=list)
    all: Sequence[Statement] = ()


def gather(statements: Sequence[Statement]) -> Findings:
    """Read every statement once; text that tries to steer a program is passed over."""
    known = lexicon()
    found = Findings(all=statements)
    for statement in statements:
        if known.instruction_like.matches(statement.sentence):
            continue
        for value in value_mentions(statement):
            found.values.setdefault(value.frame, []).append(value)
        for event in event_mentions(statement):
            found.events.setdefault(event.name, []).append(event)
        for name in over_mentions(statement):
            found.over.setdefault(name, []).append(statement)
        for facet, hits in facets_stated(statement).items():
            found.facets.setdefault(facet, []).append((statement, hits))
        found.endings.extend(ending_mentions(statement))
    return found


def find_changes(found: Findings, context: frozenset[str] = frozenset()) -> list[Change]:
    """All changes that the rules see; ``context`` helps to choose the older statement.

    It holds the content words of the questions and drafts: among several older
    statements the one that they speak of makes the better evidence.
    """
    changes = [c for frame in found.values for c in _value_changes(found.values[frame])]
    changes += [c for event in found.events for c in _effect_changes(found, event, context)]
    changes += [c for ending in found.endings for c in _ending_changes(found, ending, context)]
    return changes


# --- T1: another value of the same frame -------------------------------------


def _value_changes(mentions: Sequence[ValueMention]) -> list[Change]:
    """The earlier values of one frame against the last one that announces itself."""
    current = next((m for m in reversed(mentions) if _replaces_any(m, mentions)), None)
    if current is None:
        return []
    frame = lexicon().frames[current.frame]
    changes: dict[frozenset[str], Change] = {}
    for old in mentions:
        if not _replaces(current, old) or _restated(old, current, mentions):
            continue
        changes[old.words] = Change(
            attribute=frame.attribute,
            old_value=old.value,
            new_value=current.value,
            old=old.statement,
            new=current.statement,
            path=(
                f"{frame.attribute}: {current.value}",
                f"one {frame.attribute} at a time",
                f"no longer {old.value}",
            ),
            old_words=old.words,
            new_words=current.words,
        )
    return list(changes.values())


def _replaces_any(new: ValueMention, mentions: Sequence[ValueMention]) -> bool:
    return any(_replaces(new, old) for old in mentions)


def _replaces(new: ValueMention, old: ValueMention) -> bool:
    if not newer(new.statement, old.statement) or not _incompatible(new.words, old.words):
        return False
    if new.kind in ("fresh", "held"):
        return True
    restated = new.match.literals == old.match.literals
    return restated or lexicon().newness.matches(new.statement.sentence)


def _incompatible(new: frozenset[str], old: frozenset[str]) -> bool:
    """Two values exclude each other unless they share words or one is a region."""
    if new & old:
        # Shared units do not make figures equal ("500 mbps", "1000 mbps").
        figures = [{w for w in words if w[0].isdigit()} for words in (new, old)]
        return all(figures) and figures[0] != figures[1]
    regions = lexicon().regions
    return bool(new & regions) == bool(old & regions)


def _restated(old: ValueMention, new: ValueMention, mentions: Sequence[ValueMention]) -> bool:
    """Whether the old value is stated again after the new one: then it is not over."""
    return any(
        m.words & old.words
        and not _incompatible(m.words, old.words)
        and newer(m.statement, new.statement)
        for m in mentions
    )


# --- T2: an event that ends a facet ------------------------------------------


def _effect_changes(found: Findings, name: str, context: frozenset[str]) -> list[Change]:
    effect = lexicon().effects[name]
    event = next((e for e in reversed(found.events[name]) if not _over(found, e)), None)
    if event is None:
        return []
    changes = []
    for facet in effect.ends:
        earlier = [
            (statement, hits)
            for statement, hits in found.facets.get(facet, ())
            if newer(event.statement, statement)
        ]
        if not earlier:
            continue
        old, _ = max(earlier, key=lambda pair: _fitness(pair[0], pair[1], context))
        label = lexicon().facets[facet].label
        changes.append(
            Change(
                attribute=effect.attribute,
                old_value=label,
                new_value=effect.value,
                old=old,
                new=event.statement,
                path=(effect.value, f"ends: {label}"),
                facet=facet,
                effect=name,
                weak=effect.weak,
            )
        )
    return changes + _named_plan(found, event, context)


def _named_plan(found: Findings, event: EventMention, context: frozenset[str]) -> list[Change]:
    """Plans with a person whom the event names end with it ("Amari and I broke up")."""
    if event.match.value is None:
        return []
    name, effect = event.match.value, lexicon().effects[event.name]
    words = content_words(name)
    earlier = [
        s
        for s in found.all
        if s.first_person and words <= s.sentence.content and newer(event.statement, s)
    ]
    if not earlier:
        return []
    old = max(earlier, key=lambda s: _fitness(s, FacetHits(), context))
    return [
        Change(
            attribute=effect.attribute,
            old_value=f"together with {name}",
            new_value=effect.value,
            old=old,
            new=event.statement,
            path=(effect.value, f"plans with {name} depend on it", "those plans end"),
            effect=event.name,
            old_words=words,
        )
    ]


def _fitness(statement: Statement, hits: FacetHits, context: frozenset[str]) -> tuple[int, int]:
    shared = len(statement.sentence.content & context)
    return (3 * tells_habit(statement.sentence) + 2 * shared + hits.weight, statement.order)


def _over(found: Findings, event: EventMention) -> bool:
    """Whether a later line ends the condition, or its stated time has run out."""
    if any(newer(s, event.statement) for s in found.over.get(event.name, ())):
        return True
    start = event.statement.line.timestamp
    if not lexicon().effects[event.name].bounded or start is None:
        return False
    end = _stated_end(event.statement.sentence.norm, start.instant)
    times = [s.line.timestamp.instant for s in found.all if s.line.timestamp is not None]
    return end is not None and max(times) > end


def _stated_end(norm: str, start: datetime) -> datetime | None:
    """When "for six weeks" or "until the end of August" runs out, counted from a date."""
    if span := _SPAN.search(norm):
        word = span.group(1).casefold()
        count = int(word) if word.isdecimal() else _NUMBERS.get(word, 0)
        days = min(count, 999) * _DAYS[span.group(2).casefold()]
        return start + timedelta(days=days) if days else None
    if month := _UNTIL.search(norm):
        number = _MONTHS.index(month.group(1).casefold()) + 1
        year = start.year + (number < start.month)
        # The first day of the month after it: "until August" leaves all of August.
        return datetime(year + number // 12, number % 12 + 1, 1, tzinfo=UTC)
    return None


# --- endings that name the thing ---------------------------------------------


def _ending_changes(found: Findings, ending: EventMention, context: frozenset[str]) -> list[Change]:
    entry = lexicon().endings[ending.name]
    value = ending.match.value or ""
    words = content_words(value)
    earlier = [s for s in found.all if _claims(s, words) and newer(ending.statement, s)]
    if not earlier or _taken_up_again(found, ending, words):
        return []
    old = max(earlier, key=lambda s: _fitness(s, FacetHits(), context))
    return [
        Change(
            attribute=entry.attribute,
            old_value=value,
            new_value=entry.new_value.format(value=value),
            old=old,
            new=ending.statement,
            path=(ending.match.phrase, f"ends: {value}"),
            old_words=words,
        )
    ]


def _claims(statement: Statement, words: frozenset[str]) -> bool:
    """Whether a statement says of a thing that it is the user's: "my kayak", "I play the piano"."""
    if not (statement.first_person and words <= statement.sentence.content):
        return False
    near = _OWN.finditer(statement.sentence.norm)
    return any(words <= content_words(match.group(1)) for match in near)


def _taken_up_again(found: Findings, ending: EventMention, words: frozenset[str]) -> bool:
    """Whether a later statement speaks of the thing as the user's again."""
    return any(
        newer(s, ending.statement) and s.first_person and words <= s.sentence.content
        for s in found.all
    )
