"""The text of ``annotate import``: annotation.md, and what the terminal shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stateauditor.experiments.annotation.findings import (
    Agreed,
    AnnotationResults,
    Labeller,
    PairResult,
)
from stateauditor.experiments.reports.markdown import (
    DASH,
    DASH_NOTE,
    Grid,
    blocks,
    caveats,
    escape,
    p_text,
    rate_text,
    table,
)
from stateauditor.metrics import Interval

PAIR_NOTE: Final = (
    "Fixed : broken are cells that pass in A only, and in B only; p is McNemar's exact test, "
    "two-sided. Scenarios are won, lost and tied by A with the exact sign test, since cells of "
    "one scenario share a history. Same text: both systems say the same there, byte for byte, so "
    "one label counted for both. p-values are not adjusted for the number of rows."
)
RATE_NOTE: Final = (
    "Rates are over cells labelled pass or fail, with Wilson's 95% interval. Unsure and missing "
    "cells are in no rate and in no test."
)
KAPPA_NOTE: Final = (
    "Agreement and kappa (Cohen's for two, Fleiss' for more) are over distinct answers that all "
    "of them passed or failed; the interval of kappa is a 95% bootstrap over scenarios, that of "
    "the agreement Wilson's. Kappa is low where one label is rare, even if agreement is high."
)
JUDGE_NOTE: Final = (
    "Judges under the benchmark's rubric, as they stood in the runs when the sheets were written; "
    "over the answers that the judge scored."
)


def annotation_text(found: AnnotationResults) -> str:
    """All figures as markdown, each with its n and interval."""
    top = caveats(found.labels)
    everybody = (*found.annotators, *(judge for judge in found.judges if judge.pairs))
    return blocks(
        f"# Blind labels: {escape(' and '.join(s.name for s in found.systems))}",
        top,
        _what(found),
        "## Passes",
        top,
        table(rate_grid((*found.annotators, *found.judges))),
        RATE_NOTE,
        "## Systems, paired by cell",
        top,
        table(pair_grid(everybody)),
        PAIR_NOTE,
        "## Agreement of the annotators" if found.between else "",
        table(agreement_grid(found.between)) if found.between else "",
        KAPPA_NOTE if found.between else "",
        "## Agreement with the judges" if found.with_judges else "",
        table(agreement_grid(found.with_judges)) if found.with_judges else "",
        JUDGE_NOTE if found.with_judges else "",
        _identity(found),
        DASH_NOTE,
    )


def rate_grid(labellers: Iterable[Labeller]) -> Grid:
    """How often each system passes, by who labelled it."""
    rows = tuple(
        (
            _name(who),
            rate.system,
            rate_text(rate.passed),
            *((str(rate.unsure), str(rate.missing)) if who.kind == "annotator" else (DASH, DASH)),
        )
        for who in labellers
        for rate in who.systems
    )
    header = ("Labelled by", "System", "Passes [95% CI] (of n)", "Unsure", "Missing")
    return Grid(header, rows, left=2)


def pair_grid(labellers: Iterable[Labeller]) -> Grid:
    """Each two systems, by who labelled them."""
    rows = tuple((_name(who), *_pair(pair)) for who in labellers for pair in who.pairs)
    header = (
        *("Labelled by", "A against B", "Cells", "Left out", "Same text", "A passes", "B passes"),
        *("Fixed : broken", "p (McNemar)", "Scenarios won : lost : tied", "p (sign)"),
    )
    return Grid(header, rows, left=2)


def _pair(pair: PairResult) -> tuple[str, ...]:
    scenarios = pair.clustered.clusters
    return (
        f"{pair.first} against {pair.second}",
        *(str(count) for count in (pair.n, pair.left_out, pair.same)),
        rate_text(pair.first_passes),
        rate_text(pair.second_passes),
        f"{pair.fixed}:{pair.broken}",
        p_text(pair.p),
        f"{scenarios.wins}:{scenarios.losses}:{scenarios.ties}",
        p_text(scenarios.p),
    )


def agreement_grid(rows: Iterable[Agreed]) -> Grid:
    """How far labellers agree."""
    header = ("Who", "Agreement [95% CI] (of n)", "Kappa [95% CI]", "Left out")
    return Grid(
        header,
        tuple(
            (
                " and ".join(row.labellers),
                rate_text(row.agreement),
                kappa_text(row.kappa),
                str(row.left_out),
            )
            for row in rows
        ),
    )


def kappa_text(kappa: Interval) -> str:
    """A kappa with its interval, and the draws in which it was undefined."""
    if kappa.estimate is None:
        return DASH
    if kappa.low is None or kappa.high is None:
        return f"{kappa.estimate:.3f}"
    dropped = f", {kappa.undefined} draws undefined" if kappa.undefined else ""
    return f"{kappa.estimate:.3f} [{kappa.low:.3f}, {kappa.high:.3f}]{dropped}"


def _what(found: AnnotationResults) -> str:
    lines = [
        f"{found.cells} cells of {found.scenarios} scenarios of {escape(found.data_name)}, "
        f"{found.items} distinct answers.",
        *(
            f"{escape(who.name)}: {who.labelled} of {who.items} answers passed or failed, "
            f"{who.unsure} unsure, {who.missing} without a label."
            for who in found.annotators
        ),
    ]
    if found.without_labels:
        names = ", ".join(escape(name) for name in found.without_labels)
        lines.append(f"No sheet yet from {names}.")
    return "\n".join(f"- {line}" for line in lines)


def _identity(found: AnnotationResults) -> str:
    systems = (f"{escape(s.name)}: {s.phase} of run {s.run_id}" for s in found.systems)
    return (
        f"Frozen {found.exported}, seed {found.seed}, manifest SHA-256 {found.manifest_sha256}; "
        f"data SHA-256 {found.data_sha256}. {'; '.join(systems)}."
    )


def _name(who: Labeller) -> str:
    return who.name if who.kind == "annotator" else f"judge {who.name}"
