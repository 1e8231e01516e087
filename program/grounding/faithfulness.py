"""What a match must keep of the sense: numbers, negations, names, directions (section 4.4).

Four fifths of the words are enough to find a quotation, and not enough to trust it:
one word can turn a statement around. These rules look at what differs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final

from stateauditor.program.grounding.alignment import Alignment
from stateauditor.program.grounding.tokens import Kind, Token, tokenize
from stateauditor.program.grounding.word_lists import (
    CLAUSE_STARTERS,
    NEGATION_PREFIXES,
    OPPOSITES,
    POSTPOSED_NEGATIONS,
    TRAILING_NEGATIONS,
)

_GOVERNING_REACH: Final = 3  # tokens before the span in which a negation governs it
_NAMES_MINIMUM: Final = 3  # words from which a quotation in Title Case shows as such


@dataclass(frozen=True, slots=True)
class Text:
    """A tokenized text: all tokens, its content tokens, and their indices among all."""

    text: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    places: tuple[int, ...]


def read_text(text: str, words: str | None = None) -> Text:
    """Tokenize ``words``, by default all of ``text``.

    Of a quotation the line breaks and wide spaces go first: they are the writer's, and
    would tear a unit from its number ("300\ng") and hide a name ("in\nBoston").
    """
    tokens = tokenize(text if words is None else words)
    places = tuple(index for index, token in enumerate(tokens) if token.content)
    return Text(text, tokens, tuple(tokens[index] for index in places), places)


def faithful(alignment: Alignment, quotation: Text, entry: Text, names: frozenset[str]) -> bool:
    """Whether nothing that decides the sense was dropped, added or exchanged.

    ``names`` are the words that have a capital inside a sentence of any entry.
    """
    quoted = {index for index, _ in alignment.pairs}
    named = _names_tell(quotation)
    for index, token in enumerate(quotation.content):
        name = token.name or (token.capital and token.text in names)
        if index not in quoted and (token.exact or (name and named)):
            return False
    found = {position for _, position in alignment.pairs}
    for position in range(alignment.first, alignment.last):
        if position not in found and entry.content[position].kind is Kind.NEGATION:
            return False
    if not all(_gap_allowed(one, two, quotation, entry) for one, two in pairwise(alignment.pairs)):
        return False
    if _name_exchanged(alignment, quotation, entry, names):
        return False
    first, last = stretched(alignment, quotation, entry)
    return not (_negated_before(entry, first) or _negated_after(entry, last))


def _gap_allowed(one: tuple[int, int], two: tuple[int, int], quotation: Text, entry: Text) -> bool:
    """Whether what lies between two neighbouring pairs may differ as it does."""
    skipped = entry.content[one[1] + 1 : two[1]]
    if any(token.kind is Kind.NUMBER for token in skipped):
        elided = any(token.elided for token in quotation.content[one[0] + 1 : two[0] + 1])
        if not elided:
            return False
    said = _between(quotation, one[0], two[0])
    meant = _between(entry, one[1], two[1])
    # Counted, for "to myself from nine" holds both words before one is exchanged.
    return not any(pair in OPPOSITES for pair in product(said - meant, meant - said))


def _name_exchanged(
    alignment: Alignment, quotation: Text, entry: Text, names: frozenset[str]
) -> bool:
    """Whether a word that the entry lacks stands where the entry has a name.

    This looks at the entry's capitals, since a quotation may have lost its own.
    """
    pairs, words = alignment.pairs, entry.content

    def named(position: int) -> bool:
        return words[position].name or words[position].text in names

    for one, two in pairwise(pairs):
        if two[0] - one[0] > 1 and any(map(named, range(one[1] + 1, two[1]))):
            return True
    # Beyond either end a word stands for the one beside it, within the sentence.
    position, foreign = alignment.first, pairs[0][0]
    while foreign and position and not words[position].sentence:
        position, foreign = position - 1, foreign - 1
        if named(position):
            return True
    position, foreign = alignment.last + 1, len(quotation.content) - pairs[-1][0] - 1
    while foreign and position < len(words) and not words[position].sentence:
        if named(position):
            return True
        position, foreign = position + 1, foreign - 1
    return False


def _between(text: Text, one: int, two: int) -> Counter[str]:
    return Counter(token.text for token in text.tokens[text.places[one] + 1 : text.places[two]])


def _names_tell(quotation: Text) -> bool:
    """Whether capitals mark names: not so in a quotation that Capitalises Every Word."""
    words = [token for token in quotation.content if token.kind is Kind.WORD]
    return len(words) < _NAMES_MINIMUM or not all(token.name for token in words[1:])


def stretched(alignment: Alignment, quotation: Text, entry: Text) -> tuple[int, int]:
    """Widen the span over stop words that the quotation has at its edges, too.

    Returns indices into ``entry.tokens``, both inclusive.
    """
    first, last = entry.places[alignment.first], entry.places[alignment.last]
    left = quotation.places[alignment.pairs[0][0]]
    right = quotation.places[alignment.pairs[-1][0]]
    while left and first and _same(quotation.tokens[left - 1], entry.tokens[first - 1]):
        left, first = left - 1, first - 1
    while (
        right + 1 < len(quotation.tokens)
        and last + 1 < len(entry.tokens)
        and _same(quotation.tokens[right + 1], entry.tokens[last + 1])
    ):
        right, last = right + 1, last + 1
    return first, last


def _same(one: Token, other: Token) -> bool:
    return one.text == other.text and one.kind is other.kind is Kind.STOP


def _negated_before(entry: Text, first: int) -> bool:
    for index in range(first, max(first - _GOVERNING_REACH, 0), -1):
        if entry.tokens[index].clause:
            return False
        before = entry.tokens[index - 1]
        if before.kind is Kind.NEGATION:
            return True
        if before.text in CLAUSE_STARTERS:
            return False
    return False


def _negated_after(entry: Text, last: int) -> bool:
    following: list[str] = []
    for token in entry.tokens[last + 1 : last + 4]:
        if token.clause:
            break
        following.append(token.text)
    # "live in it no more": the grammar that ends the span is no part of the negation.
    if following and (
        following[0] in POSTPOSED_NEGATIONS or following[0].startswith(NEGATION_PREFIXES)
    ):
        return True
    return any(
        tuple(following[skip : skip + len(words)]) == words
        for words in TRAILING_NEGATIONS
        for skip in (0, 1)
        if skip == 0 or following[:1] in (["it"], ["that"], ["there"], ["here"])
    )
