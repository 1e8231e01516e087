"""From summaries and comparisons to the text of table.md, ``table`` and ``compare``.

Pure and deterministic to the byte. The caveats of a run stand above every table of
its figures and again in its rows; each accuracy stands beside its judge, and the key
judge's figures beside their label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from stateauditor.experiments.reports.grids import (
    agreement_grid,
    cost_grid,
    cost_sentence,
    directive_grid,
    judge_models,
    key_grid,
    published_grid,
    recall_grid,
    reply_grid,
    score_grid,
)
from stateauditor.experiments.reports.markdown import (
    DASH_NOTE,
    Grid,
    blocks,
    caveats,
    escape,
    rate_text,
    share,
    table,
)
from stateauditor.experiments.reports.paired import comparison_text
from stateauditor.experiments.reports.published import Published, published
from stateauditor.experiments.results.summary import Summary
from stateauditor.metrics import KeyRates, ReplyRates

__all__ = ["about", "comparison_text", "judge_models", "run_table", "score_notes", "table1"]

NO_JUDGE: Final = "No LM judge has scored this run: it has no Stale accuracy."
COMPARABLE: Final = (
    "Figures of different judges are not comparable. Judges of these runs follow instructions "
    "of this project; for figures comparable with published ones, score the answers with the "
    "benchmark's official scorer (`stateauditor export official`)."
)


def run_table(summary: Summary, models: Mapping[str, str] | None = None) -> str:
    """A run's ``table.md``; ``models`` names the model behind each judge."""
    scores = score_grid([summary], models or {}) if summary.scores else None
    return blocks(
        f"# {escape(summary.name)}",
        about(summary),
        _section("Accuracy on Stale", summary.labels, scores, *score_notes(summary)),
        _section("Agreement of the judges", summary.labels, agreement_grid(summary)),
        _key_section(summary),
        _reply_section(summary),
        _section("Directives", summary.labels, directive_grid(summary)),
        _section("Retrieval recall (offline analysis)", summary.labels, recall_grid(summary)),
        _section(
            "Calls, tokens, cost, latency",
            summary.labels,
            cost_grid(summary),
            cost_sentence(summary),
        ),
        DASH_NOTE,
    )


def table1(
    summaries: Sequence[Summary],
    models: Mapping[str, str] | None = None,
    beside: Published | None = None,
) -> str:
    """The paper's Table 1: these runs, then the published rows, each with its judge."""
    beside = published() if beside is None else beside
    labels = tuple(dict.fromkeys(label for summary in summaries for label in summary.labels))
    return blocks(
        _section("These runs", labels, score_grid(summaries, models or {})),
        *(_key_section(summary, of=summary.name) for summary in summaries),
        *(_reply_section(summary, of=summary.name) for summary in summaries),
        "## Published, on all 400 scenarios",
        *(f"### {block.title}\n\n{table(published_grid(block))}" for block in beside.blocks),
        COMPARABLE,
        "Sources: " + "; ".join(f"[{name}] {text}" for name, text in beside.sources.items()) + ".",
        DASH_NOTE,
    )


def about(summary: Summary) -> str:
    """One paragraph on what ran, with failures apart."""
    return (
        f"Arm {escape(summary.arm.label)}, backend {escape(summary.backend)}, policy "
        f"{summary.policy}, data {escape(summary.data)}. {summary.scenarios} scenarios with a "
        f"conflict, {summary.controls} controls, {summary.probes} probes. "
        f"{summary.errors} error(s), counted apart and in no rate. "
        f"Audits in which a role failed open: {rate_text(summary.failed_open)}."
    )


def score_notes(summary: Summary) -> tuple[str, ...]:
    """What must be read with the accuracies."""
    if not summary.scores:
        return (NO_JUDGE,)
    notes = ["n: probes with a verdict. Intervals: bootstrap over scenarios, stratified by type."]
    undecided = sum(scores.table.undecided for scores in summary.scores)
    if undecided:
        notes.append(f"Without a verdict because judges split evenly: {undecided}.")
    notes += [
        f"{escape(scores.judge)}, {scores.rubric.value}: a cell has nothing scored, so there is "
        f"no macro; the mean of the scored cells is {share(scores.table.mean_of_scored)}."
        for scores in summary.scores
        if scores.table.macro is None and scores.table.n
    ]
    return tuple(notes)


def _key_section(summary: Summary, of: str = "") -> str:
    return _scored(summary, "Key judge", summary.key, key_grid(summary), of)


def _reply_section(summary: Summary, of: str = "") -> str:
    return _scored(summary, "Replies", summary.replies, reply_grid(summary), of)


def _scored(
    summary: Summary, title: str, rates: KeyRates | ReplyRates | None, grid: Grid | None, of: str
) -> str:
    """A section under the label of what scores it; ``of`` names the run where there are several."""
    if rates is None:
        return ""
    named = f"{title}: {escape(of)}" if of else title
    return _section(named, (*summary.labels, rates.label), grid)


def _section(title: str, labels: Sequence[str], grid: Grid | None, *notes: str) -> str:
    """A heading, the caveats, a table and what is said below it; nothing without content."""
    if grid is None and not notes:
        return ""
    shown = table(grid) if grid is not None else ""
    return blocks(f"## {title}", caveats(labels), shown, *notes).rstrip()
