"""The budget is used up: a memory that fits is shown whole, a larger one to the next line.

Slots and steps choose what matters most; what they leave of the budget is room for other
statements, above all in stores of short facts, where each line is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stateauditor.program.retrieval.page import Page, Range, when_width
from stateauditor.program.retrieval.tokens import CHARS_PER_TOKEN
from stateauditor.program.retrieval.windows import SentenceLists, Sentences
from stateauditor.signatures.models import RetrievalStep

Ints = npt.NDArray[np.int64]

_BARE_LINE: Final = len('E01 [] ""\n')
"""The characters of a line besides its date and its text."""

_PATIENCE: Final = 4
"""Refusals in a row before the sentences that are too long for the room are dropped."""


class Filling(NamedTuple):
    """All sentences by their worth for a question, best first.

    ``statements`` are those that read like statements or match, ``sizes`` is for each
    sentence a number of tokens that it costs at the least, ``characters`` the length of all.
    """

    rows: Ints
    statements: Ints
    sizes: Ints
    characters: int


def least_sizes(sentences: Sentences) -> Ints:
    """What a line with this sentence alone costs at the least."""
    when = np.array([when_width(e.timestamp) for e in sentences.entries], dtype=np.int64)
    if not len(when):
        return np.zeros(0, dtype=np.int64)
    length = sentences.end - sentences.start + when[sentences.entry] + _BARE_LINE
    return -(-length // CHARS_PER_TOKEN)


def fill(page: Page, rows: Ints, sizes: Ints, step: RetrievalStep = RetrievalStep.FILL) -> Ints:
    """Add sentences in order until none that is left fits, and return those that fitted."""
    fitted: list[int] = []
    left = rows
    before = -1
    while before < len(fitted):
        before = len(fitted)
        left = _pass(page, left, sizes, step, fitted)
        room = page.room
        page.settle()
        if page.room == room:
            break  # what settling saves may be room for one more line, and it saved nothing
    return np.array(fitted, dtype=np.int64)


def _pass(page: Page, rows: Ints, sizes: Ints, step: RetrievalStep, fitted: list[int]) -> Ints:
    """One walk over the rows; the refused ones that could still fit come back."""
    refused: list[int] = []
    waiting = rows[sizes[rows] <= page.room]
    while len(waiting):
        in_a_row = 0
        done = 0
        for row in waiting.tolist():
            done += 1
            if page.add(row, row + 1, step):
                fitted.append(row)
                in_a_row = 0
                continue
            refused.append(row)
            in_a_row += 1
            if in_a_row == _PATIENCE:
                break
        waiting = waiting[done:]
        waiting = waiting[sizes[waiting] <= page.room]
    return np.array(refused, dtype=np.int64)


def whole(
    page: Page,
    sentences: SentenceLists,
    characters: int,
    budget: int,
    steps: Mapping[int, RetrievalStep],
) -> bool:
    """Show every entry as one line if that fits; ``steps`` says why a sentence was chosen.

    ``characters`` is the length of all sentences together.
    """
    if characters > budget * CHARS_PER_TOKEN:
        return False
    firsts = sentences.first_of_entry
    lines = [
        Range(first, last, _step(range(first, last), steps))
        for first, last in pairwise(firsts)
        if first < last
    ]
    page.take(lines)
    if page.tokens <= budget:
        return True
    page.take([])
    return False


def _step(rows: range, steps: Mapping[int, RetrievalStep]) -> RetrievalStep:
    return next((steps[row] for row in rows if row in steps), RetrievalStep.FILL)
