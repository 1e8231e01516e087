"""In-order alignment of a quotation's content tokens with an entry's (paper, section 4.4).

A quotation may leave out a few words of its entry, or any number where it says so
with an ellipsis; what it may not do is collect words from all over a long entry.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import regex
from rapidfuzz.distance import OSA

from stateauditor.program.grounding.tokens import Kind, Token
from stateauditor.program.grounding.word_lists import stems

MAX_UNMARKED_GAP: Final = 3
"""Content tokens of one sentence that a quotation may skip without an ellipsis."""

MAX_PAIRS: Final = 100_000
"""Matching token pairs looked at in one entry. Past it (an entry that repeats one
word many thousand times) the rest of the entry is not searched: a quotation is
then rejected at worst, and the reply is not kept waiting."""

_FUZZY_MINIMUM: Final = 4  # letters; shorter words differ in meaning by one letter
_ONE_EDIT: Final = 5
_TWO_EDITS: Final = 9
# Scripts in which a word keeps its sense through one wrong letter. A word that mixes
# two of them is a disguise (a Cyrillic "e" in "Denver") and equals only itself.
_SCRIPTS: Final = tuple(
    regex.compile(rf"[\p{{{script}}}\p{{M}}]+") for script in ("Latin", "Greek", "Cyrillic")
)
_MARKS: Final = regex.compile(r"\p{M}")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs (index in the quotation, index in the entry) of matching content tokens."""

    pairs: tuple[tuple[int, int], ...]
    fuzzy: int

    @property
    def first(self) -> int:
        """Entry index of the first matched content token."""
        return self.pairs[0][1]

    @property
    def last(self) -> int:
        """Entry index of the last matched content token."""
        return self.pairs[-1][1]


def same_word(one: Token, other: Token) -> bool:
    """Whether two differing tokens are one word, inflected or mistyped.

    Numbers and negations never are; a name only as its plural. First and last
    letter must agree in a typing error: "employer" is not "employee".
    """
    if one.kind is not Kind.WORD or other.kind is not Kind.WORD:
        return False
    a, b = one.text, other.text
    if a[0] != b[0] or not any(s.fullmatch(a) and s.fullmatch(b) for s in _SCRIPTS):
        return False
    a, b = _MARKS.sub("", a), _MARKS.sub("", b)
    if min(len(a), len(b)) < _FUZZY_MINIMUM:
        return False
    if one.name or other.name:
        short, long = sorted((a, b), key=len)
        return long in (short, short + "s", short + "es")
    if a == b or stems(a) & stems(b):
        return True
    if a[-1] != b[-1]:
        return False
    length = min(len(a), len(b))
    allowed = 2 if length >= _TWO_EDITS else 1 if length >= _ONE_EDIT else 0
    return allowed > 0 and OSA.distance(a, b, score_cutoff=allowed) <= allowed


class _Vocabulary:
    """The quotation's tokens, to look entry tokens up in."""

    def __init__(self, quotation: Sequence[Token]) -> None:
        self._quotation = quotation
        self._equal: dict[str, list[int]] = defaultdict(list)
        self._initial: dict[str, list[int]] = defaultdict(list)
        for index, token in enumerate(quotation):
            self._equal[token.text].append(index)
            if token.kind is Kind.WORD:
                self._initial[token.text[0]].append(index)
        self._known: dict[tuple[str, Kind, bool], dict[int, bool]] = {}

    def matches(self, token: Token) -> dict[int, bool]:
        """Return the quotation indices that ``token`` matches -> whether only fuzzily."""
        key = (token.text, token.kind, token.name)
        if key not in self._known:
            found = {
                index: False
                for index in self._equal.get(token.text, ())
                if self._quotation[index].exact == token.exact
            }
            for index in self._initial.get(token.text[0], ()):
                if index not in found and same_word(self._quotation[index], token):
                    found[index] = True
            self._known[key] = dict(sorted(found.items()))
        return self._known[key]


# (matched tokens, minus the fuzzy ones, entry index of the first): more is better,
# and the latest start gives the shortest span for one end.
_Value = tuple[int, int, int]
_Node = tuple[int, int]


class _Row:
    """Best chains that end at or before each quotation index, for one entry token."""

    def __init__(self) -> None:
        self._indices: list[int] = []
        self._best: list[tuple[_Value, _Node]] = []

    def add(self, index: int, value: _Value, node: _Node) -> None:
        best = (value, node)
        if self._best and self._best[-1][0] >= value:
            best = self._best[-1]
        self._indices.append(index)
        self._best.append(best)

    def before(self, index: int) -> tuple[_Value, _Node] | None:
        position = bisect_left(self._indices, index)
        return self._best[position - 1] if position else None


def align(quotation: Sequence[Token], entry: Sequence[Token]) -> Iterator[Alignment]:
    """Yield the disjoint places of ``entry`` where ``quotation`` stands, best first.

    Both hold content tokens only; ``sentence`` and ``elided`` of each must tell
    about everything since the content token before it. Each place is given by its
    best alignment: more tokens, then fewer fuzzy ones, then the shorter span.
    """
    vocabulary = _Vocabulary(quotation)
    elisions = [0]
    for token in quotation[1:]:
        elisions.append(elisions[-1] + token.elided)
    rows: dict[int, _Row] = {}
    anywhere: dict[int, tuple[_Value, _Node]] = {}  # only read where the quotation is elided
    values: dict[_Node, _Value] = {}
    origin: dict[_Node, _Node] = {}
    for position, token in enumerate(entry):
        matches = vocabulary.matches(token)
        if not matches:
            continue
        if len(values) > MAX_PAIRS:
            break
        near = [rows[p] for p in _reach(entry, position) if p in rows]
        row = _Row()
        for index, fuzzy in matches.items():
            options = [found for r in near if (found := r.before(index)) is not None]
            options += [
                anywhere[i] for i in anywhere if i < index and elisions[i] < elisions[index]
            ]
            node = (index, position)
            if options:
                (count, exact, start), parent = max(options)
                value = (count + 1, exact - fuzzy, start)
                origin[node] = parent
            else:
                value = (1, -int(fuzzy), position)
            values[node] = value
            row.add(index, value, node)
        rows[position] = row
        if elisions[-1]:
            for index in matches:
                node = (index, position)
                anywhere[index] = max(
                    anywhere.get(index, (values[node], node)), (values[node], node)
                )
    yield from _disjoint(values, origin)


def _reach(entry: Sequence[Token], position: int) -> Iterator[int]:
    """Yield the positions from which ``position`` may follow without an ellipsis."""
    ended = False
    for previous in range(position - 1, max(position - 2 - MAX_UNMARKED_GAP, -1), -1):
        ended = ended or entry[previous + 1].sentence
        if ended and previous != position - 1:
            return  # skipping words and a full stop: not one quotation
        yield previous


def _disjoint(values: dict[_Node, _Value], origin: dict[_Node, _Node]) -> Iterator[Alignment]:
    taken: list[tuple[int, int]] = []

    def rank(node: _Node) -> tuple[int, int, int, int]:
        count, exact, start = values[node]
        return (-count, -exact, node[1] - start, node[1])

    for node in sorted(values, key=rank):
        start, end = values[node][2], node[1]
        if any(start <= last and first <= end for first, last in taken):
            continue
        taken.append((start, end))
        pairs = [node]
        while pairs[-1] in origin:
            pairs.append(origin[pairs[-1]])
        yield Alignment(pairs=tuple(reversed(pairs)), fuzzy=-values[node][1])
