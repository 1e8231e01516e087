"""Pins a quotation to one rendered entry, or says that it cannot (paper, section 4.4).

What a match proves is that the user's memory holds these words, in this order, in
this one entry. It proves nothing about their meaning.

Grounded means all of:

- at least 80% of the quotation's content tokens stand, in order, in one entry;
- its numbers, negations and names stand there exactly;
- the matched span holds no negation that the quotation lacks, and none governs it
  from just outside ("I no longer live in Denver" does not ground "live in Denver");
- no number was passed over without an ellipsis, no name was exchanged for another
  word, and no word such as "from" for its opposite.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Final

from stateauditor.program.alignment import Alignment, align
from stateauditor.program.memory.timestamps import SortKey, sort_key
from stateauditor.program.tokens import Kind, Token, tokenize
from stateauditor.program.word_lists import (
    CLAUSE_STARTERS,
    NEGATION_PREFIXES,
    OPPOSITES,
    POSTPOSED_NEGATIONS,
    TRAILING_NEGATIONS,
)
from stateauditor.signatures.models import MatchTier, QuoteMatch, RenderedEntry
from stateauditor.signatures.text import replace_surrogates

DEFAULT_THRESHOLD: Final = 0.8
"""Share of the content tokens that must stand in one entry (paper, section 4.4)."""

_GOVERNING_REACH: Final = 3  # tokens before the span in which a negation governs it
_NAMES_MINIMUM: Final = 3  # words from which a quotation in Title Case shows as such
_WRAPPING: Final = " \t\r\n\"'`*_~“”„‟‘’‚‛«»‹›「」『』…."


@dataclass(frozen=True, slots=True)
class Grounding:
    """The finding on one quotation.

    ``entry`` is the matched entry, None unless ``grounded``. ``match`` carries the
    coverage of the best entry either way. ``cross_entry`` says that no single
    entry reaches the threshold and two together would.
    """

    grounded: bool
    match: QuoteMatch
    entry: RenderedEntry | None = None
    cross_entry: bool = False


@dataclass(frozen=True, slots=True)
class _Text:
    """A tokenized text: all tokens, its content tokens, and their indices among all."""

    text: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What one entry has of a quotation."""

    matched: int  # bit i: content token i of the quotation is there
    coverage: float
    grounded: bool = False
    start: int = 0
    end: int = 0
    tier: MatchTier | None = None


class Evidence:
    """Entries, tokenized once, against which any number of quotations can be matched."""

    def __init__(self, entries: Iterable[RenderedEntry]) -> None:
        # Latest first, so that the first of equally good matches is the one to take.
        ordered = sorted(entries, key=lateness, reverse=True)
        self._entries = [(entry, _read(entry.text)) for entry in ordered]

    def best_match(self, quote: str, *, threshold: float = DEFAULT_THRESHOLD) -> Grounding:
        """Match ``quote`` against each entry; the best by grounding, then by coverage.

        Among equally good entries the latest is taken, for old and new quotations
        alike, so that a restated old value blocks its own replacement.
        """
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
        quotation = _read(quote, " ".join(quote.split()))
        unmatched = QuoteMatch(quote=replace_surrogates(quote))
        if not quotation.content:
            return Grounding(grounded=False, match=unmatched)
        found = [(entry, _find(quotation, text, threshold)) for entry, text in self._entries]
        grounded = [(entry, item) for entry, item in found if item.grounded]
        if grounded:
            entry, item = max(grounded, key=lambda pair: pair[1].coverage)
            match = QuoteMatch(
                entry_id=entry.id,
                timestamp=entry.timestamp,
                quote=entry.text[item.start : item.end],
                coverage=item.coverage,
                start=item.start,
                end=item.end,
                tier=item.tier,
            )
            return Grounding(grounded=True, match=match, entry=entry)
        coverage = max((item.coverage for _, item in found), default=0.0)
        return Grounding(
            grounded=False,
            match=unmatched.model_copy(update={"coverage": coverage}),
            cross_entry=coverage < threshold
            and _reached_by_two(
                (item.matched for _, item in found), len(quotation.content), threshold
            ),
        )


def best_match(
    quote: str, entries: Iterable[RenderedEntry], *, threshold: float = DEFAULT_THRESHOLD
) -> Grounding:
    """Match one quotation against ``entries``; see :meth:`Evidence.best_match`."""
    return Evidence(entries).best_match(quote, threshold=threshold)


def match_quote(
    quote: str, entry: RenderedEntry, *, threshold: float = DEFAULT_THRESHOLD
) -> Grounding:
    """Match one quotation against one entry."""
    return best_match(quote, (entry,), threshold=threshold)


def lateness(entry: RenderedEntry) -> tuple[SortKey, int, int, str]:
    """Return a total order of entries by time, then turn, then readout order."""
    turn = -1 if entry.turn is None else entry.turn
    return (sort_key(entry.timestamp), turn, *readout_order(entry.id))


def readout_order(entry_id: str) -> tuple[int, str]:
    """Return the order of readout ids: ``E99`` before ``E100``."""
    return (len(entry_id), entry_id)


def _read(text: str, words: str | None = None) -> _Text:
    """Tokenize ``words``, by default all of ``text``.

    Of a quotation the line breaks and wide spaces go first: they are the writer's, and
    would tear a unit from its number ("300\ng") and hide a name ("in\nBoston").
    """
    tokens = tokenize(text if words is None else words)
    places = tuple(index for index, token in enumerate(tokens) if token.content)
    return _Text(text, tokens, tuple(tokens[index] for index in places), places)


def _find(quotation: _Text, entry: _Text, threshold: float) -> _Found:
    size = len(quotation.content)
    best: _Found | None = None
    for alignment, exact in _places(quotation, entry):
        matched = sum(1 << index for index, _ in alignment.pairs)
        found = _Found(matched, len(alignment.pairs) / size)
        if best is None or found.coverage > best.coverage:
            best = found
        if not _reaches(len(alignment.pairs), size, threshold):
            break  # the places come best first
        if _faithful(alignment, quotation, entry):
            first, last = _stretched(alignment, quotation, entry)
            start, end = entry.tokens[first].start, entry.tokens[last].end
            tier = MatchTier.FUZZY
            if exact:
                tier = MatchTier.EXACT
            elif len(alignment.pairs) == size and not alignment.fuzzy:
                tier = MatchTier.FOLDED
            return _Found(matched, found.coverage, True, start, end, tier)
    return best or _Found(0, 0.0)


def _places(quotation: _Text, entry: _Text) -> Iterator[tuple[Alignment, bool]]:
    """Yield alignments, verbatim ones first, with whether they are verbatim."""
    words = quotation.text.strip(_WRAPPING)
    size = len(quotation.content)
    at = entry.text.find(words) if words else -1
    while at >= 0:
        first = bisect_left(entry.content, at, key=lambda token: token.start)
        span = entry.content[first : first + size]
        inside = len(span) == size and span[-1].end <= at + len(words)
        if inside and all(a.text == b.text for a, b in zip(span, quotation.content, strict=True)):
            pairs = tuple((index, first + index) for index in range(size))
            yield Alignment(pairs=pairs, fuzzy=0), True
        at = entry.text.find(words, at + len(words))
    for alignment in align(quotation.content, entry.content):
        yield alignment, False


def _reaches(count: int, size: int, threshold: float) -> bool:
    return count >= threshold * size - 1e-9  # 4 of 5 is 0.8, whatever floats make of it


def _faithful(alignment: Alignment, quotation: _Text, entry: _Text) -> bool:
    """Whether nothing that decides the sense was dropped, added or exchanged."""
    quoted = {index for index, _ in alignment.pairs}
    named = _names_tell(quotation)
    for index, token in enumerate(quotation.content):
        if index not in quoted and (token.exact or (token.name and named)):
            return False
    found = {position for _, position in alignment.pairs}
    for position in range(alignment.first, alignment.last):
        if position not in found and entry.content[position].kind is Kind.NEGATION:
            return False
    if not all(_gap_allowed(one, two, quotation, entry) for one, two in pairwise(alignment.pairs)):
        return False
    if _name_exchanged(alignment, quotation, entry):
        return False
    first, last = _stretched(alignment, quotation, entry)
    return not (_negated_before(entry, first) or _negated_after(entry, last))


def _gap_allowed(
    one: tuple[int, int], two: tuple[int, int], quotation: _Text, entry: _Text
) -> bool:
    """Whether what lies between two neighbouring pairs may differ as it does."""
    skipped = entry.content[one[1] + 1 : two[1]]
    if any(token.kind is Kind.NUMBER for token in skipped):
        elided = any(token.elided for token in quotation.content[one[0] + 1 : two[0] + 1])
        if not elided:
            return False
    said = _between(quotation, one[0], two[0])
    meant = _between(entry, one[1], two[1])
    return not any(pair in OPPOSITES for pair in product(said - meant, meant - said))


def _name_exchanged(alignment: Alignment, quotation: _Text, entry: _Text) -> bool:
    """Whether a word that the entry lacks stands where the entry has a name.

    This looks at the entry's capitals, since a quotation may have lost its own.
    """
    pairs, words = alignment.pairs, entry.content
    for one, two in pairwise(pairs):
        if two[0] - one[0] > 1 and any(token.name for token in words[one[1] + 1 : two[1]]):
            return True
    # Beyond either end a word stands for the one beside it, within the sentence.
    position, foreign = alignment.first, pairs[0][0]
    while foreign and position and not words[position].sentence:
        position, foreign = position - 1, foreign - 1
        if words[position].name:
            return True
    position, foreign = alignment.last + 1, len(quotation.content) - pairs[-1][0] - 1
    while foreign and position < len(words) and not words[position].sentence:
        if words[position].name:
            return True
        position, foreign = position + 1, foreign - 1
    return False


def _between(text: _Text, one: int, two: int) -> set[str]:
    return {token.text for token in text.tokens[text.places[one] + 1 : text.places[two]]}


def _names_tell(quotation: _Text) -> bool:
    """Whether capitals mark names: not so in a quotation that Capitalises Every Word."""
    words = [token for token in quotation.content if token.kind is Kind.WORD]
    return len(words) < _NAMES_MINIMUM or not all(token.name for token in words[1:])


def _stretched(alignment: Alignment, quotation: _Text, entry: _Text) -> tuple[int, int]:
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


def _negated_before(entry: _Text, first: int) -> bool:
    for index in range(first, max(first - _GOVERNING_REACH, 0), -1):
        if entry.tokens[index].clause:
            return False
        before = entry.tokens[index - 1]
        if before.kind is Kind.NEGATION:
            return True
        if before.text in CLAUSE_STARTERS:
            return False
    return False


def _negated_after(entry: _Text, last: int) -> bool:
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


def _reached_by_two(matched: Iterable[int], size: int, threshold: float) -> bool:
    return any(
        _reaches((one | two).bit_count(), size, threshold)
        for one, two in combinations(sorted(set(matched)), 2)
    )
