"""One pass-or-fail measure for all runs of a grid, so that every cell is read the same way.

The first that all runs have counts: an LM judge's verdict, the key judge's true-change
recall, or the words of the reply. The label goes with every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stateauditor.experiments.results.summary import MAJORITY, judged_cells, judges_of
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord, ProbeRecord
from stateauditor.metrics import (
    KEY_JUDGE_LABEL,
    REPLY_KEY_LABEL,
    CellScore,
    majority_cells,
)
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.judge import Rubric

Records = Sequence[ItemRecord]


@dataclass(frozen=True)
class Measure:
    """What passes; ``cells`` reads it off a run's records, over conflicts only."""

    name: str
    label: str
    cells: Callable[[Records], tuple[CellScore, ...]]


def choose_measure(runs: Mapping[str, Records]) -> Measure:
    """The first measure that every run has. Raises :class:`ConfigError` where there is none."""
    shared = [set(judges_of(items)) for items in runs.values()]
    judges = sorted(set.intersection(*shared)) if shared else []
    if judges:
        return _judged(judges)
    if all(_any(items, lambda probe: probe.key is not None) for items in runs.values()):
        return Measure("true-change recall", KEY_JUDGE_LABEL, _key_cells)
    if all(_any(items, lambda probe: probe.reply_key is not None) for items in runs.values()):
        return Measure("replies that name the new value", REPLY_KEY_LABEL, _reply_cells)
    raise ConfigError(
        "nothing scores all runs of this grid: give base.judges, or data that ship keys"
    )


def _judged(judges: Sequence[str]) -> Measure:
    several = len(judges) > 2  # a majority of two decides nothing
    name = MAJORITY if several else judges[0]

    def cells(items: Records) -> tuple[CellScore, ...]:
        conflicts = _conflicts(items)
        if not several:
            return judged_cells(conflicts, name, Rubric.BENCHMARK)
        by_judge = {judge: judged_cells(conflicts, judge, Rubric.BENCHMARK) for judge in judges}
        return majority_cells(by_judge).cells

    return Measure("accuracy", f"judge {name}, rubric {Rubric.BENCHMARK.value}", cells)


def _key_cells(items: Records) -> tuple[CellScore, ...]:
    return _cells(items, lambda probe: None if probe.key is None else probe.key.change_found)


def _reply_cells(items: Records) -> tuple[CellScore, ...]:
    return _cells(
        items, lambda probe: None if probe.reply_key is None else probe.reply_key.names_new
    )


def _cells(items: Records, passed: Callable[[ProbeRecord], bool | None]) -> tuple[CellScore, ...]:
    found = []
    for item in _conflicts(items):
        for dimension in DIMENSIONS:
            probe = item.probes.get(dimension)
            verdict = None if probe is None else passed(probe)
            found.append(
                CellScore(
                    uid=item.uid,
                    type=item.type,
                    dimension=dimension,
                    passed=verdict,
                    error=verdict is None,
                )
            )
    return tuple(found)


def _conflicts(items: Records) -> list[ItemRecord]:
    return [item for item in items if not item.control]


def _any(items: Records, has: Callable[[ProbeRecord], bool]) -> bool:
    return any(has(probe) for item in items for probe in item.probes.values())


NO_ACCURACY: Final = "No LM judge scored these runs: no figure here is a Stale accuracy."
