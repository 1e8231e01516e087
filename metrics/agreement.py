"""How far several judges agree, and what they say together (paper, section 5).

Cohen's kappa is for two judges, Fleiss' for two or more. Both compare the observed
agreement with the one expected by chance. Where all verdicts are the same label,
chance alone already explains full agreement and kappa is 0/0: it is then None, never
1 and never NaN, and the percent agreement says what there is to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Annotated

from pydantic import Field

from stateauditor.metrics.records import CellScore, Dimension, Share, item_scores
from stateauditor.metrics.statistics import load_extra
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen

Count = Annotated[int, Field(ge=0)]
Vote = bool | None
"""A judge's word on one item; None where it gave none."""


class Majority(Frozen):
    """What several judges say about one item.

    ``passed`` is None on a tie (``tie`` is then true) and where nobody voted.
    """

    passed: bool | None
    tie: bool
    yes: Count
    no: Count
    abstained: Count


class PairKappa(Frozen):
    """Two judges over the items that both voted on; ``kappa`` None where undefined."""

    first: str
    second: str
    items: Count
    percent: Share | None
    kappa: float | None


class Agreement(Frozen):
    """All judges together.

    ``items`` have a verdict from every judge and carry ``percent`` (the share on
    which all judges agree) and ``fleiss``; ``left_out`` lack one. ``pairs`` has every
    two judges in the order given, over the items that those two share.
    """

    judges: tuple[str, ...]
    items: Count
    left_out: Count
    percent: Share | None
    fleiss: float | None
    pairs: tuple[PairKappa, ...]


class PanelVerdict(Frozen):
    """The majority of several judges on each cell, ready to be scored.

    ``ties`` names the cells without a verdict because the judges split evenly.
    """

    cells: tuple[CellScore, ...]
    ties: tuple[tuple[str, Dimension], ...]


def majority_vote(votes: Iterable[Vote]) -> Majority:
    """The majority of the votes that were cast; an even split is a tie, not a fail.

    >>> majority_vote([True, False, None]).tie
    True
    """
    kept = list(votes)
    yes, no = kept.count(True), kept.count(False)
    tie = yes == no and yes > 0
    return Majority(
        passed=None if yes == no else yes > no,
        tie=tie,
        yes=yes,
        no=no,
        abstained=len(kept) - yes - no,
    )


def percent_agreement(first: Sequence[Vote], second: Sequence[Vote]) -> float | None:
    """Share of items on which two judges agree, over those both voted on; None if none."""
    pairs = _both(first, second)
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def cohen_kappa(first: Sequence[Vote], second: Sequence[Vote]) -> float | None:
    """Cohen's kappa of two judges over the items that both voted on.

    None without such an item, and where both judges gave one and the same label
    throughout. When only one of them never varies, kappa is 0: no better than chance.
    """
    pairs = _both(first, second)
    if len({vote for pair in pairs for vote in pair}) < 2:
        return None
    table = [[pairs.count((a, b)) for b in (True, False)] for a in (True, False)]
    rater = load_extra("statsmodels.stats.inter_rater")
    return float(rater.cohens_kappa(table, return_results=False))


def fleiss_kappa(votes: Sequence[Sequence[Vote]]) -> float | None:
    """Fleiss' kappa; ``votes`` has one row an item and one column a judge.

    Items without a vote from every judge are left out. None where nothing is left,
    for fewer than two judges, and where all votes are one label.
    Raises :class:`InputError` when rows differ in length.
    """
    if len({len(row) for row in votes}) > 1:
        raise InputError("every item needs one vote, or None, from each judge")
    complete = [row for row in votes if None not in row]
    if not complete or len(complete[0]) < 2 or len({v for row in complete for v in row}) < 2:
        return None
    counts = [[row.count(True), row.count(False)] for row in map(list, complete)]
    rater = load_extra("statsmodels.stats.inter_rater")
    return float(rater.fleiss_kappa(counts, method="fleiss"))


def agreement(judged: Mapping[str, Iterable[CellScore]]) -> Agreement:
    """Agreement of several judges on the same cells.

    Raises :class:`InputError` when a judge scores a cell twice.
    """
    judges, rows = _rows(judged)
    columns = list(zip(*rows.values(), strict=True)) if rows else [() for _ in judges]
    votes = [[cell.passed if cell else None for cell in row] for row in rows.values()]
    complete = [row for row in votes if None not in row]
    by_judge = [[cell.passed if cell else None for cell in column] for column in columns]
    return Agreement(
        judges=judges,
        items=len(complete),
        left_out=len(votes) - len(complete),
        percent=sum(len(set(r)) == 1 for r in complete) / len(complete) if complete else None,
        fleiss=fleiss_kappa(votes),
        pairs=tuple(
            PairKappa(
                first=judges[i],
                second=judges[j],
                items=len(_both(by_judge[i], by_judge[j])),
                percent=percent_agreement(by_judge[i], by_judge[j]),
                kappa=cohen_kappa(by_judge[i], by_judge[j]),
            )
            for i, j in combinations(range(len(judges)), 2)
        ),
    )


def majority_cells(judged: Mapping[str, Iterable[CellScore]]) -> PanelVerdict:
    """One score a cell by majority; a cell on which every judge failed is an error.

    A tie has no verdict and no error, so that scores count it as undecided.
    """
    _, rows = _rows(judged)
    cells: list[CellScore] = []
    ties: list[tuple[str, Dimension]] = []
    for row in rows.values():
        present = [cell for cell in row if cell is not None]
        verdict = majority_vote(cell.passed for cell in present)
        error = all(cell.error for cell in present)
        cells.append(present[0].model_copy(update={"passed": verdict.passed, "error": error}))
        if verdict.tie:
            ties.append((present[0].uid, present[0].dimension))
    return PanelVerdict(cells=tuple(cells), ties=tuple(ties))


_Row = list[CellScore | None]


def _rows(
    judged: Mapping[str, Iterable[CellScore]],
) -> tuple[tuple[str, ...], dict[tuple[str, Dimension], _Row]]:
    """For each cell, in order of uid and dimension, what each judge said about it."""
    judges = tuple(judged)
    scores = [
        {(item.uid, cell.dimension): cell for item in item_scores(cells) for cell in item.cells}
        for cells in judged.values()
    ]
    # Grouping them once more gives the order of scenarios and dimensions.
    first: dict[tuple[str, Dimension], CellScore] = {}
    for judge in scores:
        for key, cell in judge.items():
            first.setdefault(key, cell)
    order = [(i.uid, c.dimension) for i in item_scores(first.values()) for c in i.cells]
    return judges, {key: [judge.get(key) for judge in scores] for key in order}


def _both(first: Sequence[Vote], second: Sequence[Vote]) -> list[tuple[bool, bool]]:
    if len(first) != len(second):
        raise InputError(f"two judges, {len(first)} and {len(second)} votes: one item, one vote")
    return [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
