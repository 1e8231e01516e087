"""From labels to numbers: paired tests of the systems, agreement of who labelled.

Pure: a key, the labels and a seed go in. ``unsure`` and a missing label are no
verdict; they leave a comparison for both systems and are counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from stateauditor.experiments.annotation.findings import (
    Agreed,
    AnnotationResults,
    Labeller,
    PairResult,
    SystemRate,
    Unblinded,
)
from stateauditor.experiments.annotation.labels import Filled
from stateauditor.experiments.annotation.package import Item, Key, Manifest
from stateauditor.experiments.annotation.rules import Label
from stateauditor.metrics import (
    DRAWS,
    Dimension,
    Rate,
    clustered_sign_test,
    kappa_interval,
    mcnemar_exact,
    rate_of,
)

Cell = tuple[str, Dimension]
Votes = Mapping[str, Mapping[Cell, bool | None]]
"""System -> cell -> passed; None for unsure and for no label."""


def results(
    key: Key,
    manifest: Manifest,
    filled: Sequence[Filled],
    *,
    manifest_sha256: str,
    draws: int = DRAWS,
) -> AnnotationResults:
    """Unblind the labels and compute every figure; the manifest's seed drives the draws."""
    names = [system.name for system in key.systems]
    said = {sheet.annotator: _by_item(sheet, key) for sheet in filled}
    votes = {annotator: _votes(labels, names) for annotator, labels in said.items()}
    judged = {v.judge: _judge_votes(v.passed, names) for v in key.verdicts}
    same = _same(key.items)
    return AnnotationResults(
        systems=key.systems,
        data_name=manifest.data_name,
        data_sha256=manifest.data_sha256,
        manifest_sha256=manifest_sha256,
        exported=manifest.exported,
        seed=manifest.seed,
        cells=manifest.cells,
        scenarios=manifest.scenarios,
        items=len(key.items),
        labels=tuple(dict.fromkeys(label for system in key.systems for label in system.labels)),
        annotators=tuple(_annotator(a, said[a], votes[a], same) for a in said),
        without_labels=tuple(a for a in manifest.annotators if a not in said),
        judges=tuple(_judge(name, votes_, same) for name, votes_ in judged.items()),
        between=_between(said, manifest.seed, draws),
        with_judges=tuple(
            _agreed((a, name), _rows(votes[a], verdicts), manifest.seed, draws)
            for a in said
            for name, verdicts in judged.items()
        ),
        answers=tuple(_unblinded(item, filled) for item in key.items),
    )


# --- who said what ------------------------------------------------------------------

_Said = Sequence[tuple[Item, Label | None]]


def _unblinded(item: Item, filled: Sequence[Filled]) -> Unblinded:
    ids = [(sheet, item.ids[sheet.annotator]) for sheet in filled]
    return Unblinded(
        uid=item.uid,
        type=item.type,
        dimension=item.dimension,
        systems=item.systems,
        labels={sheet.annotator: sheet.labels[i] for sheet, i in ids},
        comments={sheet.annotator: sheet.comments[i] for sheet, i in ids if i in sheet.comments},
    )


def _by_item(sheet: Filled, key: Key) -> _Said:
    return [(item, sheet.labels[item.ids[sheet.annotator]]) for item in key.items]


def _votes(said: _Said, systems: Iterable[str]) -> Votes:
    """An item's label counts for each system that gave this answer."""
    votes: dict[str, dict[Cell, bool | None]] = {name: {} for name in systems}
    for item, label in said:
        for system in item.systems:
            votes[system][item.uid, item.dimension] = label.vote if label else None
    return votes


def _judge_votes(
    passed: Iterable[tuple[str, Dimension, str, bool]], systems: Iterable[str]
) -> Votes:
    votes: dict[str, dict[Cell, bool | None]] = {name: {} for name in systems}
    for uid, dimension, system, verdict in passed:
        votes[system][uid, dimension] = verdict
    return votes


def _same(items: Iterable[Item]) -> dict[tuple[str, str], set[Cell]]:
    """The cells in which two systems say the same."""
    found: dict[tuple[str, str], set[Cell]] = {}
    for item in items:
        for pair in combinations(item.systems, 2):
            found.setdefault(pair, set()).add((item.uid, item.dimension))
    return found


# --- systems ------------------------------------------------------------------------


def _annotator(
    name: str, said: _Said, votes: Votes, same: Mapping[tuple[str, str], set[Cell]]
) -> Labeller:
    labels = [label for _, label in said]
    return Labeller(
        name=name,
        kind="annotator",
        items=len(labels),
        labelled=sum(label is not None and label.vote is not None for label in labels),
        unsure=labels.count(Label.UNSURE),
        missing=labels.count(None),
        systems=tuple(
            SystemRate(
                system=system,
                passed=_rate(cells),
                unsure=sum(
                    label is Label.UNSURE and system in item.systems for item, label in said
                ),
                missing=sum(label is None and system in item.systems for item, label in said),
            )
            for system, cells in votes.items()
        ),
        pairs=_pairs(votes, same),
    )


def _judge(name: str, votes: Votes, same: Mapping[tuple[str, str], set[Cell]]) -> Labeller:
    scored = {system: cells for system, cells in votes.items() if cells}
    count = sum(len(cells) for cells in scored.values())
    return Labeller(
        name=name,
        kind="judge",
        items=count,
        labelled=count,
        unsure=0,
        missing=0,
        systems=tuple(SystemRate(system=s, passed=_rate(cells)) for s, cells in scored.items()),
        pairs=_pairs(scored, same),
    )


def _rate(cells: Mapping[Cell, bool | None]) -> Rate:
    return rate_of(vote for vote in cells.values() if vote is not None)


def _pairs(votes: Votes, same: Mapping[tuple[str, str], set[Cell]]) -> tuple[PairResult, ...]:
    return tuple(
        compare(first, second, votes, same.get((first, second), set()))
        for first, second in combinations(votes, 2)
    )


def compare(first: str, second: str, votes: Votes, same: Iterable[Cell] = ()) -> PairResult:
    """Two systems by one labeller's votes; ``same`` are cells in which they say the same."""
    one, two = votes[first], votes[second]
    both = [
        (cell, a, b)
        for cell, a in sorted(one.items())
        if a is not None and (b := two.get(cell)) is not None
    ]
    fixed = sum(a and not b for _, a, b in both)
    broken = sum(b and not a for _, a, b in both)
    return PairResult(
        first=first,
        second=second,
        n=len(both),
        left_out=len(one.keys() | two.keys()) - len(both),
        same=len({cell for cell, _, _ in both} & set(same)),
        first_passes=rate_of(a for _, a, _ in both),
        second_passes=rate_of(b for _, _, b in both),
        fixed=fixed,
        broken=broken,
        p=mcnemar_exact(fixed, broken),
        clustered=clustered_sign_test((cell[0], a - b) for cell, a, b in both),
    )


# --- agreement ----------------------------------------------------------------------

_Rows = Sequence[tuple[str, tuple[bool | None, ...]]]


def _between(said: Mapping[str, _Said], seed: int, draws: int) -> tuple[Agreed, ...]:
    """Every two annotators, and all together where they are more."""
    groups = list(combinations(said, 2))
    everybody: list[tuple[str, ...]] = [tuple(said)] if len(said) > 2 else []
    return tuple(
        _agreed(
            group,
            [
                (of_one[0][0].uid, tuple(label.vote if label else None for _, label in of_one))
                for of_one in zip(*(said[name] for name in group), strict=True)
            ],
            seed,
            draws,
        )
        for group in [*everybody, *groups]
    )


def _rows(votes: Votes, verdicts: Votes) -> _Rows:
    """An annotator's and a judge's word on each answer that the judge scored."""
    return [
        (cell[0], (votes[system].get(cell), verdict))
        for system, cells in verdicts.items()
        for cell, verdict in sorted(cells.items())
    ]


def _agreed(names: Sequence[str], rows: _Rows, seed: int, draws: int) -> Agreed:
    both = [
        (uid, tuple(vote for vote in row if vote is not None))
        for uid, row in rows
        if None not in row
    ]
    return Agreed(
        labellers=tuple(names),
        items=len(both),
        left_out=len(rows) - len(both),
        agreement=rate_of(len(set(row)) == 1 for _, row in both),
        kappa=kappa_interval(both, seed=seed, draws=draws),
    )
