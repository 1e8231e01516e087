"""What a sentence says in the lexicon's terms: values, events, facets, endings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.patterns import Match
from stateauditor.program.offline.statements import Statement
from stateauditor.program.offline.words import Sentence, content_words


@dataclass(frozen=True)
class ValueMention:
    """A value of a frame that a statement gives to the user."""

    frame: str
    kind: str
    value: str
    statement: Statement
    match: Match

    @property
    def words(self) -> frozenset[str]:
        """The content words of the value."""
        return content_words(self.value)


@dataclass(frozen=True)
class EventMention:
    """An effect, or an ending, that a statement announces."""

    name: str
    statement: Statement
    match: Match


@dataclass(frozen=True)
class FacetHits:
    """The phrases by which a text names one facet."""

    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    @property
    def named(self) -> bool:
        """Whether the text turns on the facet rather than brushing it."""
        return bool(self.strong) or len(self.weak) >= 2

    @property
    def weight(self) -> int:
        """How much of the text speaks of the facet; for ranking."""
        return 2 * len(self.strong) + len(self.weak)


def is_name(value: str) -> bool:
    """Whether a capitalised phrase can name a place, a firm or a person."""
    words = value.casefold().split()
    return not any(w in lexicon().not_names for w in words) and len(value) > 1


def value_mentions(statement: Statement) -> list[ValueMention]:
    """The values of frames in a statement; the most telling pattern of a frame wins."""
    found: dict[str, ValueMention] = {}
    for label, match in lexicon().frame_patterns.find(statement.sentence):
        frame, _, kind = label.partition(":")
        value = match.value or _spelled_value(match)
        if frame in found or not value or not content_words(value):
            continue
        if match.value is not None and match.value[:1].isupper() and not is_name(value):
            continue
        # "My new Austin flat" takes the flat for granted, whatever is wanted of it.
        ignore = frozenset({"hypothetical"} if kind == "held" else ())
        if statement.obstacle(match, ignore) is None:
            found[frame] = ValueMention(frame, kind, value, statement, match)
    return list(found.values())


def _spelled_value(match: Match) -> str:
    """The value of a pattern that lists its values, e.g. "my new iphone"."""
    return match.phrase.split()[-1]


def event_mentions(statement: Statement) -> list[EventMention]:
    """The effects that a statement announces and nothing in it disarms."""
    found: dict[str, EventMention] = {}
    for name, match in lexicon().effect_patterns.find(statement.sentence):
        ignore = frozenset({"temporary", "additive"} if lexicon().effects[name].bounded else ())
        if match.value is not None and not is_name(match.value):
            continue
        # A pattern that names somebody ("Amari and I broke up") tells more than one that does not.
        known = found.get(name)
        better = known is None or (known.match.value is None and match.value is not None)
        if better and statement.obstacle(match, ignore) is None:
            found[name] = EventMention(name, statement, match)
    return list(found.values())


def over_mentions(statement: Statement) -> list[str]:
    """The effects that a statement declares to be over."""
    ignore = frozenset({"cancelled", "additive", "temporary"})
    return [
        name
        for name, match in lexicon().over_patterns.find(statement.sentence)
        if statement.obstacle(match, ignore) is None
    ]


def ending_mentions(statement: Statement) -> list[EventMention]:
    """The endings in a statement that name a lasting thing."""
    return [
        EventMention(name, statement, match)
        for name, match in lexicon().ending_patterns.find(statement.sentence)
        if match.value is not None
        and content_words(match.value)
        and not content_words(match.value) & lexicon().passing
        and statement.obstacle(match) is None
    ]


def facet_hits(sentences: Iterable[Sentence]) -> dict[str, FacetHits]:
    """The facets that a text names; mentions that it advises against are left out."""
    return _hits((s, label, match) for s in sentences for label, match in facet_mentions(s))


def facet_mentions(sentence: Sentence) -> Iterator[tuple[str, Match]]:
    """The phrases of a sentence that name a facet, each with "facet:strong" or "facet:weak"."""
    for label, match in lexicon().facet_patterns.find(sentence):
        if not _avoided(sentence, match):
            yield label, match


def _hits(mentions: Iterable[tuple[Sentence, str, Match]]) -> dict[str, FacetHits]:
    found: dict[str, tuple[set[str], set[str]]] = {}
    for _, label, match in mentions:
        facet, _, kind = label.partition(":")
        strong, weak = found.setdefault(facet, (set(), set()))
        (strong if kind == "strong" else weak).add(match.phrase.casefold())
    return {f: FacetHits(frozenset(s), frozenset(w)) for f, (s, w) in found.items()}


def _avoided(sentence: Sentence, match: Match) -> bool:
    before = sentence.norm[: match.start].casefold().split()[-3:]
    return any(word in lexicon().avoided for word in before)


def facets_stated(statement: Statement) -> dict[str, FacetHits]:
    """The facets that a statement gives to the user (a question about one's own counts).

    Ordinary words count only beside a word of habit: "I run most mornings".
    """
    if not statement.first_person:
        return {}
    ignore = frozenset({"question", "additive"})
    sentence = statement.sentence
    standing = [
        (sentence, label, match)
        for label, match in facet_mentions(sentence)
        if statement.obstacle(match, ignore) is None
    ]
    habit = bool(standing) and tells_habit(sentence)
    return {facet: hits for facet, hits in _hits(standing).items() if hits.strong or habit}


def tells_habit(sentence: Sentence) -> bool:
    """Whether a sentence tells of a habit or a lasting state."""
    return lexicon().habit.matches(sentence)
