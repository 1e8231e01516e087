"""What a sentence says in the lexicon's terms: values, endings, arrivals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.patterns import Match
from stateauditor.program.offline.statements import Statement
from stateauditor.program.offline.words import Sentence, content_words, normalise

_LASTING = frozenset({"negated", "former"})
# "My current favourite café is Kettle", "my dentist is now Dr Lindqvist".
_PROPERTY = re.compile(
    r" (?P<now>Now )?(?:My|User) (?P<new>new |current |latest )?"
    r"(?P<noun>(?:[^\s,;:().!?]+ ){1,4}?)"
    r"(?:is|are|has changed to|changed to) (?P<still>now |currently )?(?:called |named |at |with )?"
    r"(?P<value>(?:[^\s,;:().!?]+ ){1,4}?)(?P<later>now |these days |today )?"
    r"(?=[,;:().!?]|and |but |because |since |so |$)",
    re.IGNORECASE,
)
_CHANGED_TO = re.compile(r" (?:has )?changed to ", re.IGNORECASE)


@dataclass(frozen=True)
class ValueMention:
    """A value of an attribute that a statement gives to the user.

    ``fresh`` says that the words tell of something new; ``restated`` that a newer value
    counts without them.
    """

    attribute: str
    value: str
    statement: Statement
    fresh: bool
    restated: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The content words of the value."""
        return content_words(self.value)


@dataclass(frozen=True)
class EndingMention:
    """Something that a statement says is over, and what has come instead if it says so."""

    attribute: str
    statement: Statement
    match: Match

    @property
    def old(self) -> str:
        """What is over, as written."""
        return self.match.old or ""


def is_name(value: str) -> bool:
    """Whether a capitalised phrase can name a place, a firm or a person."""
    words = value.casefold().split()
    return not any(w in lexicon().not_names for w in words) and len(value) > 1


def value_mentions(statement: Statement) -> list[ValueMention]:
    """The values in a statement; of one attribute the most telling pattern wins."""
    found: dict[str, ValueMention] = {}
    for label, match in lexicon().frame_patterns.find(statement.sentence):
        name, _, kind = label.partition(":")
        frame = lexicon().frames[name]
        value = match.value or ""
        if frame.attribute in found or not content_words(value):
            continue
        if value[:1].isupper() and not is_name(value):
            continue
        if statement.obstacle(match) is None:
            found[frame.attribute] = ValueMention(
                frame.attribute, value, statement, kind == "fresh", frame.restated
            )
    if (held := property_mention(statement)) is not None:
        found.setdefault(held.attribute, held)
    return list(found.values())


def property_mention(statement: Statement) -> ValueMention | None:
    """The value of a noun that names one thing at a time, or of a favourite."""
    found = _PROPERTY.search(statement.sentence.norm)
    if found is None or not content_words(found["value"]):
        return None
    noun = found["noun"].casefold().split()
    favourite = bool(lexicon().favourites & set(noun))
    if not favourite and (noun[-1] not in lexicon().nouns or len(noun) > 3):
        return None
    match = Match(found.start(), found.end(), found.group().strip(), frozenset(noun))
    if statement.obstacle(match) is not None:
        return None
    if favourite:
        noun = ["favourite", *(w for w in noun if w not in lexicon().favourites)]
    marks = (found[name] for name in ("now", "new", "still", "later"))
    fresh = any(marks) or bool(_CHANGED_TO.search(found.group()))
    return ValueMention(" ".join(noun), found["value"].strip(), statement, fresh)


def ending_mentions(statement: Statement) -> Iterator[EndingMention]:
    """What a statement says is over, and nothing in it disarms."""
    for name, match in lexicon().ending_patterns.find(statement.sentence):
        words = content_words(match.old or "")
        if not words or words <= _passing():
            continue
        entry = lexicon().endings[name]
        if entry.anyone and lexicon().relations & set((match.old or "").casefold().split()):
            continue
        reason = statement.obstacle(match, _LASTING)
        if reason is None or (entry.anyone and reason == "other_person"):
            yield EndingMention(entry.attribute, statement, match)


def _passing() -> frozenset[str]:
    return content_words(" ".join(lexicon().passing))


def arrival(sentence: Sentence, start: int = 0) -> str | None:
    """What a sentence says holds from now on, looking from a position of its normal form."""
    tail = sentence if not start else Sentence(sentence.text, f" {sentence.norm[start:].lstrip()}")
    for _, match in lexicon().arrivals.find(tail):
        if match.new and content_words(match.new):
            return match.new
    return None


def proper_words(phrase: str) -> frozenset[str]:
    """The content words of a phrase that are written as names or figures."""
    named = [w for w in normalise(phrase).split() if w[0].isupper() or w[0].isdigit()]
    return content_words(" ".join(named))
