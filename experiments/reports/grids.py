"""From one run's summary to the cells of its tables, the same for markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from stateauditor.experiments.reports.markdown import (
    CELL_NAMES,
    COLUMNS,
    DASH,
    Grid,
    bounds,
    dollars,
    number,
    rate_text,
    share,
)
from stateauditor.experiments.reports.published import PublishedBlock, PublishedRow
from stateauditor.experiments.results.summary import JudgeScores, Summary
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.metrics import DirectiveRates, Rate
from stateauditor.signatures.models import Totals

_JUDGE_ROLE: Final = "stale_judgment"

DIRECTIVES: Final = (
    ("any directive", "directed"),
    ("repair", "repair"),
    ("correct and inform", "inform"),
    ("verify", "verify"),
    ("verify and nothing else", "verify_only"),
    ("reply rewritten", "rewritten"),
    ("a material premise is STALE", "material_stale"),
)
"""What a directive rate is called, and its field."""


def judge_models(items: Iterable[ItemRecord]) -> dict[str, str]:
    """The model behind each judge, as far as the records tell.

    Judges' calls stand in the order of the judges; a scenario tells which model is
    whose when each judge took one call. Contradicting scenarios leave a judge out.
    """
    found: dict[str, set[str]] = {}
    for item in items:
        models = [call.model for call in item.calls if call.role == _JUDGE_ROLE]
        if len(models) == len(item.judgments):
            for name, model in zip(item.judgments, models, strict=True):
                found.setdefault(name, set()).add(model)
    return {name: models.pop() for name, models in found.items() if len(models) == 1}


def score_grid(summaries: Iterable[Summary], models: Mapping[str, str]) -> Grid:
    """The paper's Table 1: a row for each run, judge and rubric."""
    rows = [row for summary in summaries for row in _score_rows(summary, models)]
    header = ("Run", "Judge (model)", "Rubric", *CELL_NAMES, "Macro [95% CI]", "n", "Errors")
    return Grid(header, tuple(rows), left=3)


def _score_rows(summary: Summary, models: Mapping[str, str]) -> list[tuple[str, ...]]:
    name = _row_name(summary)
    if not summary.scores:
        return [(name, "none", DASH, *[DASH] * 6, DASH, "0", str(summary.errors))]
    return [
        (
            name,
            _judge(scores, models),
            scores.rubric.value,
            *(share(scores.table.cells[i].accuracy) for i in COLUMNS),
            _macro(scores),
            str(scores.table.n),
            str(scores.table.errors),
        )
        for scores in summary.scores
    ]


def _row_name(summary: Summary) -> str:
    """Name and arm, with each caveat's first words; the whole caveats stand above."""
    same = summary.name == summary.arm.value
    name = summary.arm.label if same else f"{summary.name}: {summary.arm.label}"
    short = "; ".join(label.partition(":")[0] for label in summary.labels)
    return f"{name} [{short}]" if short else name


def _macro(scores: JudgeScores) -> str:
    if scores.table.macro is None:
        return DASH
    return f"{share(scores.table.macro)} {bounds(scores.intervals.macro)}"


def _judge(scores: JudgeScores, models: Mapping[str, str]) -> str:
    model = models.get(scores.judge)
    return scores.judge if model is None else f"{scores.judge} ({model})"


def published_grid(block: PublishedBlock) -> Grid:
    """Rows that others published, in the same columns."""
    header = ("System", "Judge", "Rubric", *CELL_NAMES, "Macro [95% CI]", "Source")
    return Grid(header, tuple(_published_row(row) for row in block.rows), left=3)


def _published_row(row: PublishedRow) -> tuple[str, ...]:
    interval = "" if row.interval is None else f" [{', '.join(share(x) for x in row.interval)}]"
    cells = [share(row.cells[i]) for i in COLUMNS]
    macro = share(row.macro) + interval
    return (row.system, row.judge, row.rubric.value, *cells, macro, f"[{row.source}]")


def agreement_grid(summary: Summary) -> Grid | None:
    """How far the judges agree; None for fewer than two."""
    rows = []
    for rubric, found in summary.agreement.items():
        together = (f"all {len(found.judges)} judges (Fleiss)", rubric.value)
        rows.append((*together, share(found.percent), _kappa(found.fleiss), str(found.items)))
        for pair in found.pairs:
            who = (f"{pair.first} and {pair.second} (Cohen)", rubric.value)
            rows.append((*who, share(pair.percent), _kappa(pair.kappa), str(pair.items)))
    header = ("Judges", "Rubric", "Agreement", "Kappa", "Probes")
    return Grid(header, tuple(rows), left=2) if rows else None


def _kappa(value: float | None) -> str:
    return DASH if value is None else f"{value:.3f}"


def key_rows(summary: Summary) -> tuple[tuple[str, str, Rate], ...]:
    """The key judge's figures: what, over which probes, how often."""
    key = summary.key
    if key is None:
        return ()
    return (
        ("stale-premise recall", "conflicts", key.stale_premise_recall),
        *((f"stale-premise recall, {d}", "conflicts", rate) for d, rate in key.stale_by_dimension),
        ("true-change recall", "conflicts", key.true_change_recall),
        ("true change verified", "conflicts", key.verified_recall),
        ("off-target repair (upper bound)", "conflicts", key.off_target_repair),
        ("false invalidation", "controls", key.false_invalidation),
        ("rewritten", "conflicts", key.conflicts_rewritten),
        ("rewritten", "controls", key.controls_rewritten),
        ("verify", "conflicts", key.conflicts_verify),
        ("verify", "controls", key.controls_verify),
    )


def key_grid(summary: Summary) -> Grid | None:
    """The key judge's figures under their label; None where no key was there."""
    if summary.key is None:
        return None
    rows = tuple((what, over, rate_text(rate)) for what, over, rate in key_rows(summary))
    return Grid((summary.key.label, "Probes", "Rate [95% CI]"), rows, left=3)


def reply_grid(summary: Summary) -> Grid | None:
    """What the replies' words say, under the label of that proxy; None without keys."""
    found = summary.replies
    if found is None:
        return None
    rows = (
        ("the reply names the new value, the draft did not", "conflicts", found.conflicts_name_new),
        ("the reply names what never came about", "controls", found.controls_name_new),
        ("rewritten", "conflicts", found.conflicts_rewritten),
        ("rewritten", "controls", found.controls_rewritten),
    )
    texts = tuple((what, over, rate_text(rate)) for what, over, rate in rows)
    return Grid((found.label, "Probes", "Rate [95% CI]"), texts, left=3)


def directive_grid(summary: Summary) -> Grid | None:
    """What the audits did to replies, on conflicts and on controls; baselines audit nothing."""
    if summary.arm.is_baseline:
        return None
    columns = [("conflicts", summary.directives)]
    if summary.directives_on_controls is not None:
        columns.append(("controls", summary.directives_on_controls))
    rows = tuple(
        (label, *(rate_text(directive_rate(rates, field)) for _, rates in columns))
        for label, field in DIRECTIVES
    )
    return Grid(("Share of audited probes", *(name for name, _ in columns)), rows, left=3)


def directive_rate(rates: DirectiveRates, field: str) -> Rate:
    """One rate by its field."""
    rate: Rate = getattr(rates, field)
    return rate


def recall_grid(summary: Summary) -> Grid | None:
    """Recall of the annotated pair; None where it was not measured."""
    found = summary.recall
    if found is None:
        return None
    rows = tuple(
        (
            row.name,
            rate_text(row.pair),
            share(row.old.value),
            share(row.new.value),
            number(row.mean_tokens),
        )
        for row in (found.overall, *found.dimensions, *found.types, *found.cells)
    )
    return Grid(("Probes", "Pair [95% CI]", "Old", "New", "Mean tokens"), rows, left=2)


def cost_grid(summary: Summary) -> Grid:
    """Calls, tokens and money by role."""
    cost = summary.cost
    rows = [("all", *_totals(cost.total, cost.failed_calls))]
    rows += [(role.role, *_totals(role.total, role.failed)) for role in cost.roles]
    return Grid(("Role", "Calls", "Failed", "Tokens in", "Tokens out", "Cost"), tuple(rows))


def _totals(total: Totals, failed: int) -> tuple[str, ...]:
    counts = (total.calls, failed, total.input_tokens, total.output_tokens)
    return (*(number(count) for count in counts), dollars(total.cost))


def cost_sentence(summary: Summary) -> str:
    """What a scenario takes: the same for a run, its continuation and its replay."""
    cost = summary.cost
    return (
        f"A scenario: {number(cost.mean_calls, 2)} calls, {number(cost.mean_tokens)} tokens, "
        f"{dollars(cost.mean_cost)}."
    )


def payment_sentence(summary: Summary) -> str:
    """What this very run paid and waited; only the report says so, not the table."""
    cost = summary.cost
    return (
        f"{cost_sentence(summary)} Paid now: {number(cost.usage.paid.calls)} calls, "
        f"{dollars(cost.usage.paid.cost)}; from the cache: {number(cost.usage.cached.calls)} "
        f"calls, {dollars(cost.usage.cached.cost)}. On the critical path "
        f"{number(cost.latency.mean, 2)} s (median {number(cost.latency.p50, 2)} s, 95th "
        f"percentile {number(cost.latency.p95, 2)} s)."
    )
