"""What labels say once they are unblinded: the values that annotation.json holds."""

from __future__ import annotations

from typing import Literal

from stateauditor.experiments.annotation.package import Count
from stateauditor.experiments.annotation.rules import Label
from stateauditor.experiments.annotation.systems import System
from stateauditor.metrics import ClusteredSignTest, Dimension, Interval, Rate, ScenarioType
from stateauditor.metrics.records import Share
from stateauditor.signatures.models import Frozen


class SystemRate(Frozen):
    """How often one system passes; ``unsure`` and ``missing`` cells are not in the rate."""

    system: str
    passed: Rate
    unsure: Count = 0
    missing: Count = 0


class PairResult(Frozen):
    """Two systems over the ``n`` cells in which both have a verdict.

    ``fixed`` cells pass only in ``first``, ``broken`` only in ``second``; ``p`` is
    McNemar's exact test. ``clustered`` takes the scenario as the unit. In ``same``
    of the cells both say the same, so that they could not differ.
    """

    first: str
    second: str
    n: Count
    left_out: Count
    same: Count
    first_passes: Rate
    second_passes: Rate
    fixed: Count
    broken: Count
    p: Share
    clustered: ClusteredSignTest


class Labeller(Frozen):
    """What one annotator says, or one judge on the same cells.

    ``items`` are distinct answers; of them ``labelled`` have pass or fail.
    """

    name: str
    kind: Literal["annotator", "judge"]
    items: Count
    labelled: Count
    unsure: Count
    missing: Count
    systems: tuple[SystemRate, ...]
    pairs: tuple[PairResult, ...]


class Agreed(Frozen):
    """How far some labellers agree on the ``items`` that all of them passed or failed.

    ``kappa`` is Cohen's for two and Fleiss' for more, with a bootstrap interval over
    scenarios; its estimate is None where all verdicts are one label.
    """

    labellers: tuple[str, ...]
    items: Count
    left_out: Count
    agreement: Rate
    kappa: Interval


class Unblinded(Frozen):
    """One answer with its systems and what each annotator said of it."""

    uid: str
    type: ScenarioType
    dimension: Dimension
    systems: tuple[str, ...]
    labels: dict[str, Label | None]
    comments: dict[str, str]


class AnnotationResults(Frozen):
    """Everything that the labels say; ``labels`` are the caveats of the runs."""

    systems: tuple[System, ...]
    data_name: str
    data_sha256: str
    manifest_sha256: str
    exported: str
    seed: int
    cells: Count
    scenarios: Count
    items: Count
    labels: tuple[str, ...]
    annotators: tuple[Labeller, ...]
    without_labels: tuple[str, ...]
    judges: tuple[Labeller, ...]
    between: tuple[Agreed, ...]
    with_judges: tuple[Agreed, ...]
    answers: tuple[Unblinded, ...]
