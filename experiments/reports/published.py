"""The published figures that stand beside ours, read once from ``published.yaml``."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Self

import yaml
from pydantic import Field, model_validator

from stateauditor.metrics import CELLS, DIMENSIONS
from stateauditor.signatures.judge import Rubric
from stateauditor.signatures.models import Frozen

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Three = tuple[Share, Share, Share]


class PublishedRow(Frozen):
    """One system under one judge; ``T1`` and ``T2`` hold SR, PR, IPA where published."""

    system: str
    judge: str
    source: str
    rubric: Rubric = Rubric.BENCHMARK
    T1: Three | None = None
    T2: Three | None = None
    macro: Share
    interval: tuple[Share, Share] | None = None

    @property
    def cells(self) -> tuple[float | None, ...]:
        """The six accuracies in the order of :data:`CELLS`."""
        by_type = {"T1": self.T1, "T2": self.T2}
        found: list[float | None] = []
        for kind, dimension in CELLS:
            row = by_type[kind]
            found.append(None if row is None else row[DIMENSIONS.index(dimension)])
        return tuple(found)


class PublishedBlock(Frozen):
    """Rows that were published together, each with its judge."""

    title: str
    rows: tuple[PublishedRow, ...]


class Published(Frozen):
    """All published rows; ``sources`` says in full what a row's ``source`` stands for."""

    sources: dict[str, str]
    blocks: tuple[PublishedBlock, ...]

    @model_validator(mode="after")
    def _cited(self) -> Self:
        for block in self.blocks:
            for row in block.rows:
                if row.source not in self.sources:
                    raise ValueError(f"{row.system}: no source {row.source!r} is given")
        return self


@lru_cache(maxsize=1)
def published() -> Published:
    """The rows that ship with the package."""
    text = (files("stateauditor.experiments.reports") / "published.yaml").read_text("utf-8")
    return Published.model_validate(yaml.safe_load(text))
