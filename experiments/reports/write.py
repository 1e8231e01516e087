"""Writes everything that a finished run leaves for people into its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stateauditor.experiments.reports.figures import figures_of
from stateauditor.experiments.reports.html import report_html
from stateauditor.experiments.reports.plots import write_plots
from stateauditor.experiments.reports.tables import judge_models, run_table
from stateauditor.experiments.results.compare import RunComparison
from stateauditor.experiments.results.summary import Summary, summary_of
from stateauditor.experiments.runs.folder import RunFolder


@dataclass(frozen=True)
class ReportPaths:
    """Where the reports of a run stand."""

    table: Path
    summary: Path
    plots: tuple[Path, ...]
    html: Path


@dataclass(frozen=True, slots=True)
class Report:
    """A run's numbers, the text of its table, and where its files are."""

    summary: Summary
    table: str
    paths: ReportPaths


def report_run(folder: RunFolder) -> Report:
    """Write everything that follows from the records; a run that is not complete has it too."""
    summary = summary_of(folder)
    paths = write_reports(folder, summary)
    return Report(summary, paths.table.read_text("utf-8"), paths)


def write_reports(
    folder: RunFolder,
    summary: Summary,
    comparison: RunComparison | None = None,
    others: Sequence[Summary] = (),
) -> ReportPaths:
    """Write table.md, summary.json, plots/ and report.html; the same bytes for the same records.

    ``comparison`` adds paired wins and losses. ``others`` are runs to stand beside this one
    where cost is drawn against accuracy. Items are read from the folder twice and never
    held all at once. Raises :class:`ConfigError` where matplotlib or jinja2 is missing.
    """
    models = judge_models(folder.items())
    figures = figures_of(summary, comparison, others)
    table = folder.write_text("table.md", run_table(summary, models))
    written = folder.write_json("summary.json", summary.model_dump(mode="json"))
    plots = write_plots(figures, folder.path / "plots")
    spec, manifest = folder.spec(), folder.manifest()
    page = report_html(summary, spec, manifest, folder.items(), figures, comparison, models)
    return ReportPaths(table, written, plots, folder.write_text("report.html", page))
