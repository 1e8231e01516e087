"""The page of a readout: lines and their price (DESIGN: the unit that a quotation must match).

Ranges of one turn that touch become one line, because a quotation must stand in one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from stateauditor.program.retrieval.tokens import CHARS_PER_TOKEN, count_tokens
from stateauditor.program.retrieval.windows import SentenceLists
from stateauditor.signatures.models import Precision, RetrievalStep, Timestamp
from stateauditor.signatures.readout import UNDATED, render_line, validity_mark

Redact = Callable[[str], str]
_FEWEST_DIGITS: Final = 2
_MARKS: Final = len(' [] ""\n')
_WHEN_CHARS: Final = {
    Precision.DAY: len("2024-02-20"),
    Precision.MINUTE: len("2024-02-20T02:45Z"),
    Precision.SECOND: len("2024-02-20T02:45:00Z"),
    Precision.MICROSECOND: len("2024-02-20T02:45:00.000000Z"),
}
# What a line of JSON text escapes, besides what is not ASCII to begin with.
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\x7f]')


def identity(text: str) -> str:
    """The text as it is: no redaction."""
    return text


class Range(NamedTuple):
    """Sentences ``first`` up to but not including ``last``, all of one entry."""

    first: int
    last: int
    step: RetrievalStep


class ShownLines:
    """Lines as a prompt shows them, and what they cost: read once, whatever is asked later."""

    def __init__(self, sentences: SentenceLists, redact: Redact = identity) -> None:
        self.sentences = sentences
        self._redact = redact
        self._texts: dict[tuple[int, int], str] = {}
        self._costs: dict[tuple[int, int, int], int] = {}

    def text(self, first: int, last: int) -> str:
        """The text of sentences ``first`` up to but not including ``last``: redacted."""
        text = self._texts.get((first, last))
        if text is None:
            sentences = self.sentences
            whole = sentences.entries[sentences.entry[first]].text
            text = self._redact(whole[sentences.start[first] : sentences.end[last - 1]])
            self._texts[first, last] = text
        return text

    def cost(self, first: int, last: int, digits: int) -> int:
        """What they cost as a line, in tokens, with an id of so many digits."""
        cost = self._costs.get((first, last, digits))
        if cost is None:
            entry = self.sentences.entries[self.sentences.entry[first]]
            cost = line_cost(
                "E" + "0" * digits, entry.timestamp, self.text(first, last), validity_mark(entry)
            )
            self._costs[first, last, digits] = cost
        return cost


class Page:
    """The lines chosen so far and what they cost; a range is added only if it fits.

    Lines are numbered when the page is done. Until then every id is priced as wide as the
    widest so far, so that the price can only fall.
    """

    def __init__(self, lines: ShownLines, budget: int) -> None:
        self._entry_of = lines.sentences.entry
        self._cost = lines.cost
        self._budget = budget
        self._ranges: dict[int, list[Range]] = {}
        self._count = 0
        self._digits = _FEWEST_DIGITS
        self._limit = 10**_FEWEST_DIGITS
        self._margin = 0
        self.tokens = 0

    @property
    def room(self) -> int:
        """How many tokens are left."""
        return self._budget - self.tokens

    def add(self, first: int, last: int, step: RetrievalStep) -> bool:
        """Add sentences ``first`` to ``last``, merging with lines they touch, if they fit."""
        entry = self._entry_of[first]
        lines = self._ranges.get(entry)
        if lines is None:
            if self._count + 1 < self._limit:  # most lines: nothing to merge with
                price = self.tokens + self._cost(first, last, self._digits) + self._margin
                if price > self._budget:
                    return False
                self._ranges[entry] = [Range(first, last, step)]
                self._count += 1
                self.tokens = price
                return True
            lines = []
        if len(lines) == 1 and lines[0].first <= first and last <= lines[0].last:
            return True  # most that is left: it stands there already
        touching = [line for line in lines if line.first <= last and first <= line.last]
        merged = Range(first, last, step)
        if touching:
            before, after = touching[0], touching[-1]
            merged = Range(min(first, before.first), max(last, after.last), before.step)
            if merged == before:
                return True
        count = self._count + 1 - len(touching)
        spent = self.tokens
        digits = self._digits
        if count >= 10**digits:
            digits += 1
            spent = self._priced(digits)
        saved = sum(self._cost(line.first, line.last, digits) for line in touching)
        price = spent + self._cost(merged.first, merged.last, digits) - saved + self._margin
        if price > self._budget:
            return False
        kept = [line for line in lines if line not in touching]
        self._ranges[entry] = sorted([merged, *kept])
        self._count, self._digits, self.tokens = count, digits, price
        self._limit = 10**digits
        return True

    def settle(self) -> None:
        """Price the lines by the ids that they have now: what that saves is room again."""
        # A new line may push one other line over each border between widths.
        self._margin = self._digits - _FEWEST_DIGITS
        if not self._margin:
            return  # every id is as wide as it was priced
        lines = self.lines()
        begin = self.tokens = 0
        for digits in range(_FEWEST_DIGITS, self._digits + 1):
            end = 10**digits - 1
            self.tokens += self._sum(lines[begin:end], digits)
            begin = end

    def take(self, ranges: Iterable[Range]) -> None:
        """Start anew with these lines, one an entry, whatever they cost."""
        self._ranges = {self._entry_of[line.first]: [line] for line in ranges}
        self._count = len(self._ranges)
        self._digits = max(_FEWEST_DIGITS, len(str(self._count)))
        self._limit = 10**self._digits
        self.tokens = self._priced(self._digits)
        self.settle()

    def lines(self) -> list[Range]:
        """The lines, oldest first."""
        return [line for entry in sorted(self._ranges) for line in self._ranges[entry]]

    def _priced(self, digits: int) -> int:
        """What the lines cost with ids of so many digits."""
        return self._sum(self.lines(), digits)

    def _sum(self, lines: Iterable[Range], digits: int) -> int:
        cost = self._cost
        return sum([cost(first, last, digits) for first, last, _ in lines])


def when_width(timestamp: Timestamp | None) -> int:
    """How many characters a line spends on its time."""
    return len(UNDATED) if timestamp is None else _WHEN_CHARS[timestamp.precision]


def line_cost(entry_id: str, timestamp: Timestamp | None, text: str, mark: str = "") -> int:
    """What a line costs in a prompt, its line break included."""
    when = when_width(timestamp) + len(mark)
    if text.isascii() and not _ESCAPED.search(
        text
    ):  # the same number as below, without writing the line
        return -(-(len(entry_id) + when + len(text) + _MARKS) // CHARS_PER_TOKEN)
    return count_tokens(render_line(entry_id, timestamp, text, mark) + "\n")
