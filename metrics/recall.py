"""Whether retrieval brought back the old and the new statement (paper, section 4.1).

Offline analysis only: the texts and indices that it reads (``M_old``, ``M_new``,
``relevant_session_index``) must never reach a run.

*Strict* means that the gold text itself stands in the readout, not something near
it. *Session* recall only asks for a line from each of the two relevant sessions; it
is an upper bound of strict recall wherever the gold texts stand word for word in
their sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from stateauditor.metrics.records import CELLS, DIMENSIONS, TYPES, Dimension, Rate, ScenarioType
from stateauditor.metrics.statistics import rate_of
from stateauditor.metrics.text import contains, fold, sentences
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen


class PairRecall(Frozen):
    """Which of the two statements a readout holds."""

    found_old: bool
    found_new: bool

    @property
    def both(self) -> bool:
        """Whether the pair is complete: only then can the change be proved."""
        return self.found_old and self.found_new


class RecallItem(Frozen):
    """The recall of one probe's readout; ``tokens`` is what the readout costs in a prompt."""

    uid: str
    type: ScenarioType
    dimension: Dimension
    recall: PairRecall
    tokens: Annotated[int, Field(ge=0)]


class RecallRow(Frozen):
    """Recall over some probes: ``pair`` is the paper's figure; ``mean_tokens`` None for none."""

    name: str
    pair: Rate
    old: Rate
    new: Rate
    mean_tokens: float | None


class RecallTable(Frozen):
    """Recall over all probes, and broken down.

    ``cells`` has six rows in the order of :data:`CELLS`, named ``T1-SR`` and so on.
    """

    overall: RecallRow
    dimensions: tuple[RecallRow, ...]
    types: tuple[RecallRow, ...]
    cells: tuple[RecallRow, ...]


def pair_recall(readout_texts: Iterable[str], old_text: str, new_text: str) -> PairRecall:
    """Strict window-level recall of the (old, new) pair in the lines of one readout.

    A text is found when it stands whole in one line, white space, case and
    typography aside, or when each of its sentences stands whole in some line
    (windows overlap, so a text of several sentences may be cut). Words at its edges
    must be whole words. Raises :class:`InputError` for a blank gold text.
    """
    lines = [fold(text) for text in readout_texts]
    return PairRecall(
        found_old=_found(lines, old_text, "old"), found_new=_found(lines, new_text, "new")
    )


def session_recall(readout_sessions: Iterable[int], old_index: int, new_index: int) -> PairRecall:
    """Session-level recall: whether a line comes from each relevant session.

    ``readout_sessions`` holds the zero-based session of each line. Needs no gold
    text, only ``relevant_session_index``; never to be reported as strict recall.
    """
    seen = frozenset(readout_sessions)
    return PairRecall(found_old=old_index in seen, found_new=new_index in seen)


def recall_table(items: Iterable[RecallItem]) -> RecallTable:
    """Recall by dimension, type and cell, with Wilson intervals.

    Raises :class:`InputError` when a probe comes twice.
    """
    kept = list(items)
    seen: set[tuple[str, Dimension]] = set()
    for item in kept:
        if (item.uid, item.dimension) in seen:
            raise InputError(f"{item.uid}: the recall of dimension {item.dimension} comes twice")
        seen.add((item.uid, item.dimension))

    return RecallTable(
        overall=_row("all", kept),
        dimensions=tuple(_row(d, [i for i in kept if i.dimension == d]) for d in DIMENSIONS),
        types=tuple(_row(t, [i for i in kept if i.type == t]) for t in TYPES),
        cells=tuple(
            _row(f"{t}-{d}", [i for i in kept if (i.type, i.dimension) == (t, d)]) for t, d in CELLS
        ),
    )


def _found(lines: Sequence[str], gold: str, which: str) -> bool:
    parts = sentences(gold)
    if not parts:
        raise InputError(f"the {which} gold text is blank; nothing can be searched for")
    whole = fold(gold)
    if any(contains(line, whole) for line in lines):
        return True
    return all(any(contains(line, part) for line in lines) for part in parts)


def _row(name: str, items: Sequence[RecallItem]) -> RecallRow:
    return RecallRow(
        name=name,
        pair=rate_of(item.recall.both for item in items),
        old=rate_of(item.recall.found_old for item in items),
        new=rate_of(item.recall.found_new for item in items),
        mean_tokens=sum(item.tokens for item in items) / len(items) if items else None,
    )
