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
from itertools import combinations
from typing import Final

from stateauditor.program.grounding.alignment import Alignment, align
from stateauditor.program.grounding.faithfulness import Text, faithful, read_text, stretched
from stateauditor.program.memory.timestamps import SortKey, sort_key
from stateauditor.signatures.models import MatchTier, QuoteMatch, RenderedEntry, Validity
from stateauditor.signatures.surrogates import replace_surrogates

DEFAULT_THRESHOLD: Final = 0.8
"""Share of the content tokens that must stand in one entry (paper, section 4.4)."""

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
        self._entries = [(entry, read_text(entry.text)) for entry in ordered]
        # A name that begins a sentence is known by its capital inside another.
        self._names = frozenset(
            token.text for _, text in self._entries for token in text.content if token.name
        )
        self._known: dict[tuple[str, float], Grounding] = {}

    def best_match(self, quote: str, *, threshold: float = DEFAULT_THRESHOLD) -> Grounding:
        """Match ``quote`` against each entry; the best by grounding, then by coverage.

        Among equally good entries the latest is taken, for old and new quotations
        alike, so that a restated old value blocks its own replacement.
        """
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
        asked = (quote, threshold)
        if asked not in self._known:  # several candidates often quote one statement
            self._known[asked] = self._match(quote, threshold)
        return self._known[asked]

    def _match(self, quote: str, threshold: float) -> Grounding:
        quotation = read_text(quote, " ".join(quote.split()))
        unmatched = QuoteMatch(quote=replace_surrogates(quote))
        if not quotation.content:
            return Grounding(grounded=False, match=unmatched)
        found = [
            (entry, _find(quotation, text, threshold, self._names)) for entry, text in self._entries
        ]
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


def lateness(entry: RenderedEntry) -> tuple[bool, SortKey, int, int, str]:
    """Return a total order of entries by time, then turn, then readout order.

    A fact that its store has closed comes before every open one, whatever its time.
    """
    turn = -1 if entry.turn is None else entry.turn
    is_open = entry.validity is Validity.OPEN
    return (is_open, sort_key(entry.timestamp), turn, *readout_order(entry.id))


def readout_order(entry_id: str) -> tuple[int, str]:
    """Return the order of readout ids: ``E99`` before ``E100``."""
    return (len(entry_id), entry_id)


def _find(quotation: Text, entry: Text, threshold: float, names: frozenset[str]) -> _Found:
    size = len(quotation.content)
    best: _Found | None = None
    for alignment, exact in _places(quotation, entry):
        matched = sum(1 << index for index, _ in alignment.pairs)
        found = _Found(matched, len(alignment.pairs) / size)
        if best is None or found.coverage > best.coverage:
            best = found
        if not _reaches(len(alignment.pairs), size, threshold):
            break  # the places come best first
        if faithful(alignment, quotation, entry, names):
            first, last = stretched(alignment, quotation, entry)
            start, end = entry.tokens[first].start, entry.tokens[last].end
            tier = MatchTier.FUZZY
            if exact:
                tier = MatchTier.EXACT
            elif len(alignment.pairs) == size and not alignment.fuzzy:
                tier = MatchTier.FOLDED
            return _Found(matched, found.coverage, True, start, end, tier)
    return best or _Found(0, 0.0)


def _places(quotation: Text, entry: Text) -> Iterator[tuple[Alignment, bool]]:
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


def _reached_by_two(matched: Iterable[int], size: int, threshold: float) -> bool:
    return any(
        _reaches((one | two).bit_count(), size, threshold)
        for one, two in combinations(sorted(set(matched)), 2)
    )
