"""The values that metrics are computed from, and the one kind of value they share.

A *cell* is a scenario type with a dimension: (T1, T2) x (SR, PR, IPA), six in all
(paper, section 3 and Table 1). A :class:`CellScore` is the judge's word on one probe
of one scenario; an :class:`ItemScore` holds the probes of one scenario.

An item that failed is neither right nor wrong: it carries ``passed=None`` and
``error=True`` and is counted apart by everything that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen

ScenarioType = Literal["T1", "T2"]
Dimension = Literal["SR", "PR", "IPA"]
Cell = tuple[ScenarioType, Dimension]

TYPES: Final[tuple[ScenarioType, ...]] = ("T1", "T2")
DIMENSIONS: Final[tuple[Dimension, ...]] = ("SR", "PR", "IPA")
CELLS: Final[tuple[Cell, ...]] = tuple((kind, dim) for kind in TYPES for dim in DIMENSIONS)
"""All six cells in the order of every table: T1 SR, PR, IPA, then T2 SR, PR, IPA."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class CellScore(Frozen):
    """The verdict on one probe.

    ``passed`` is None where there is no verdict: the item failed (``error``), or the
    judges tied or have not spoken yet. A failed item never has a verdict.
    """

    uid: str
    type: ScenarioType
    dimension: Dimension
    passed: bool | None
    error: bool = False

    @model_validator(mode="after")
    def _no_verdict_on_an_error(self) -> Self:
        if self.error and self.passed is not None:
            raise ValueError(
                f"{self.uid} {self.dimension}: a failed item has no verdict, "
                f"got passed={self.passed} with error=True"
            )
        return self

    @property
    def cell(self) -> Cell:
        """Where the score belongs in the table."""
        return (self.type, self.dimension)


class ItemScore(Frozen):
    """The scores of one scenario, at most one a dimension, in SR, PR, IPA order."""

    uid: str
    type: ScenarioType
    cells: tuple[CellScore, ...]

    def passed(self, dimension: Dimension) -> bool | None:
        """The verdict on one dimension; None where there is none."""
        return next((cell.passed for cell in self.cells if cell.dimension == dimension), None)

    @property
    def passes(self) -> int:
        """How many of the scenario's probes passed."""
        return sum(cell.passed is True for cell in self.cells)

    @property
    def errors(self) -> int:
        """How many of the scenario's probes failed to run."""
        return sum(cell.error for cell in self.cells)


class Rate(Frozen):
    """A share of ``n`` items with its Wilson interval; all None where ``n`` is 0.

    Built by :func:`stateauditor.metrics.rate`.
    """

    hits: Annotated[int, Field(ge=0)]
    n: Annotated[int, Field(ge=0)]
    value: Share | None = None
    low: Share | None = None
    high: Share | None = None


def cell_scores(
    uid: str,
    type: ScenarioType,  # the record's own word
    verdicts: Mapping[Dimension, bool | None],
    errors: Iterable[Dimension] = (),
) -> tuple[CellScore, ...]:
    """The cells of one scenario from a mapping of verdicts, in SR, PR, IPA order.

    ``errors`` names the dimensions that failed to run; whatever ``verdicts`` says
    about those is dropped, so that a judged error message counts for nothing.
    """
    failed = frozenset(errors)
    return tuple(
        CellScore(
            uid=uid,
            type=type,
            dimension=dimension,
            passed=None if dimension in failed else verdicts[dimension],
            error=dimension in failed,
        )
        for dimension in DIMENSIONS
        if dimension in failed or dimension in verdicts
    )


def item_scores(cells: Iterable[CellScore]) -> tuple[ItemScore, ...]:
    """Group cells by scenario, sorted by uid, so that the order of work shows nowhere.

    Raises :class:`InputError` for two scores of the same probe, or one scenario
    under both types.
    """
    grouped: dict[str, dict[Dimension, CellScore]] = {}
    types: dict[str, ScenarioType] = {}
    for cell in cells:
        if types.setdefault(cell.uid, cell.type) != cell.type:
            raise InputError(f"{cell.uid}: scored both as {types[cell.uid]} and as {cell.type}")
        scenario = grouped.setdefault(cell.uid, {})
        if cell.dimension in scenario:
            raise InputError(f"{cell.uid}: dimension {cell.dimension} is scored twice")
        scenario[cell.dimension] = cell
    return tuple(
        ItemScore(
            uid=uid,
            type=types[uid],
            cells=tuple(grouped[uid][name] for name in DIMENSIONS if name in grouped[uid]),
        )
        for uid in sorted(grouped)
    )
