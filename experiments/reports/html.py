"""Writes the one self-contained page: text, styles, script, drawings and data in a file.

Nothing is fetched: the page's own policy forbids it, and allows only the one script
and the one style sheet that ship with it. Whatever comes from a run is data: the
templates escape it, and the script inserts it as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from stateauditor.experiments.reports import grids, paired
from stateauditor.experiments.reports.drawing import WIDTH, Drawing, draw
from stateauditor.experiments.reports.figures import Figure
from stateauditor.experiments.reports.page import digest, environment, part, safe
from stateauditor.experiments.reports.payload import READOUT_BUDGET, judge_tag, payload
from stateauditor.experiments.reports.tables import about, score_notes
from stateauditor.experiments.results.compare import RunComparison
from stateauditor.experiments.results.summary import Summary
from stateauditor.experiments.runs.folder import Manifest
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.metrics import KeyRates, ReplyRates

VERIFIED_MEANS: Final = (
    "Verified is about provenance and chronology: where a quotation stands, and which one is "
    "newer. It never is about meaning."
)
OUTCOMES: Final = (
    ("repaired", "repaired: the reply differs from the draft"),
    ("untouched", "untouched: the reply is the draft"),
    ("failed_open", "failed open in some role"),
    ("error", "error"),
    ("verified", "a verified transition"),
    ("rejected", "a rejected transition"),
)
KEY_OUTCOMES: Final = (
    ("true_change", "true change found"),
    ("missed_change", "true change missed"),
    ("off_target", "off-target repair on a conflict"),
    ("false_invalidation", "false invalidation on a control"),
)
_SCRIPTS: Final = ("elements.js", "words.js", "readout.js", "probe.js", "browser.js")
_COMPARISON: Final = ("wins", "key_wins")
_FURTHER: Final = "cells_"  # cells of judges and rubrics beside the headline's


def report_html(
    summary: Summary,
    spec: RunSpec,
    manifest: Manifest,
    items: Iterable[ItemRecord],
    figures: Sequence[Figure],
    comparison: RunComparison | None = None,
    models: Mapping[str, str] | None = None,
    *,
    budget: int = READOUT_BUDGET,
) -> str:
    """The page for one run; ``figures`` are those of :func:`figures_of`.

    Raises :class:`ConfigError` where jinja2 is not installed.
    """
    data = payload(items, budget)
    drawings = [draw(figure) for figure in figures]
    css, script = part("report.css"), "\n".join(part(name) for name in _SCRIPTS)
    text: str = (
        environment()
        .get_template("report.html.j2")
        .render(
            summary=summary,
            about=about(summary),
            scores=grids.score_grid([summary], models or {}) if summary.scores else None,
            score_notes=score_notes(summary),
            sections=_sections(summary),
            drawings=[d for d in drawings if not _apart(d)],
            more_drawings=[d for d in drawings if d.slug.startswith(_FURTHER)],
            comparison=None if comparison is None else _comparison(comparison, drawings),
            provenance=_provenance(spec, manifest),
            verified_means=VERIFIED_MEANS,
            outcome_groups=_outcomes(summary),
            data=safe(data.json),
            scenarios=data.scenarios,
            full=data.full,
            width=WIDTH,
            css=safe(css),
            script=safe(script),
            css_hash=digest(css),
            script_hash=digest(script),
        )
    )
    return text


def _sections(summary: Summary) -> list[dict[str, Any]]:
    """The tables below the headline, with the caveats of each."""
    named = (
        ("Agreement of the judges", grids.agreement_grid(summary), "", ()),
        ("Key judge", grids.key_grid(summary), "", _label(summary.key)),
        ("Replies", grids.reply_grid(summary), "", _label(summary.replies)),
        ("Directives", grids.directive_grid(summary), "", ()),
        ("Retrieval recall (offline analysis)", grids.recall_grid(summary), "", ()),
        ("Calls, tokens, cost", grids.cost_grid(summary), grids.payment_sentence(summary), ()),
    )
    return [
        {"title": title, "grid": grid, "note": note, "caveats": (*summary.labels, *more)}
        for title, grid, note, more in named
        if grid is not None
    ]


def _label(rates: KeyRates | ReplyRates | None) -> tuple[str, ...]:
    return () if rates is None else (rates.label,)


def _comparison(comparison: RunComparison, drawings: Sequence[Drawing]) -> dict[str, Any]:
    labels = paired.comparison_labels(comparison)
    tables: list[dict[str, Any]] = []
    found = comparison.accuracies
    if found is not None:
        title = paired.accuracy_title(found)
        note = paired.accuracy_note(found)
        grid = paired.accuracy_grid(comparison, found)
        tables.append({"title": title, "grid": grid, "note": note, "caveats": labels})
        grid, note = paired.wins_grid(found), paired.clustered(found)
        tables.append({"title": "Scenario wins", "grid": grid, "note": note, "caveats": labels})
    tables += [
        {"title": title, "grid": grid, "note": note, "caveats": (*labels, label)}
        for title, label, grid, note in paired.scored_tables(comparison)
    ]
    return {
        "first": comparison.first.name,
        "second": comparison.second.name,
        "pairing": paired.pairing(comparison),
        "runs": paired.runs_grid(comparison),
        "warnings": comparison.warnings,
        "tables": tables,
        "drawings": [d for d in drawings if d.slug in _COMPARISON],
    }


def _apart(drawing: Drawing) -> bool:
    return drawing.slug in _COMPARISON or drawing.slug.startswith(_FURTHER)


def _outcomes(summary: Summary) -> list[tuple[str, list[tuple[str, str]]]]:
    """The choices of the outcome filter, grouped."""
    groups = [("The audit", list(OUTCOMES))]
    if summary.key is not None:
        groups.append((summary.key.label, list(KEY_OUTCOMES)))
    verdicts = [
        (judge_tag(s.judge, s.rubric, passed=passed), f"{s.judge}, {s.rubric.value}: {word}")
        for s in summary.scores
        for passed, word in ((True, "pass"), (False, "fail"))
    ]
    return [*groups, ("Judges", verdicts)] if verdicts else groups


def _provenance(spec: RunSpec, manifest: Manifest) -> list[tuple[str, str]]:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(manifest.versions.items()))
    return [
        ("Run", manifest.run_id),
        ("Started", manifest.started),
        ("Code", manifest.git or "no checkout"),
        ("Data", f"{manifest.data_name}, SHA-256 {manifest.data_sha256}"),
        ("Frozen list", manifest.frozen_sha256 or "none"),
        ("Memory", spec.memory.value),
        ("Protocol", spec.protocol.value),
        ("Seed", f"{spec.seed}, {spec.draws:,} bootstrap draws"),
        ("Versions", versions),
    ]
