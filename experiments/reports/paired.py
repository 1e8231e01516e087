"""The text of ``compare``: two runs on the same scenarios, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from stateauditor.experiments.reports.markdown import (
    CELL_NAMES,
    COLUMNS,
    DASH_NOTE,
    Grid,
    blocks,
    bounds,
    caveats,
    difference,
    dollars,
    escape,
    number,
    p_text,
    rate_text,
    share,
    table,
)
from stateauditor.experiments.results.compare import Accuracies, PairedRate, RunComparison
from stateauditor.experiments.results.summary import Summary
from stateauditor.metrics import ScoreTable, SignTest


def comparison_text(
    comparison: RunComparison, a: Summary | None = None, b: Summary | None = None
) -> str:
    """The paired table of two runs; with their summaries, what each cost beside it."""
    labels = comparison_labels(comparison)
    return blocks(
        f"# {escape(comparison.first.name)} (A) against {escape(comparison.second.name)} (B)",
        caveats(labels),
        table(runs_grid(comparison)),
        pairing(comparison),
        "\n".join(f"- Warning: {escape(warning)}" for warning in comparison.warnings),
        _accuracies(comparison, labels),
        *(
            blocks(f"## {title}", caveats((*labels, label)), table(grid), note).rstrip()
            for title, label, grid, note in scored_tables(comparison)
        ),
        _costs(a, b, labels) if a is not None and b is not None else "",
        DASH_NOTE,
    )


def comparison_labels(comparison: RunComparison) -> tuple[str, ...]:
    """The caveats of both runs."""
    return tuple(dict.fromkeys(comparison.first.labels + comparison.second.labels))


def pairing(comparison: RunComparison) -> str:
    """What is compared, and whether on the same drafts."""
    drafts = (
        "Paired on frozen drafts: every common probe started from the same draft."
        if comparison.frozen_drafts
        else f"Not paired on frozen drafts: {comparison.same_drafts} of "
        f"{comparison.common_probes} common probes started from the same one."
    )
    return (
        f"Data: {escape(comparison.first.data)}; {comparison.common_scenarios} common scenarios, "
        f"{comparison.common_probes} common probes with drafts. {drafts}"
    )


def runs_grid(comparison: RunComparison) -> Grid:
    """Which runs are compared, each with its caveats."""
    rows = tuple(
        (side, f.name, f.arm, f.backend, f.policy, "; ".join(f.labels) or "none")
        for side, f in (("A", comparison.first), ("B", comparison.second))
    )
    return Grid(("", "Run", "Arm", "Backend", "Policy", "Caveats"), rows, left=6)


def accuracy_title(found: Accuracies) -> str:
    """Whose verdicts are compared."""
    return f"Accuracy on Stale, judge {found.judge}, rubric {found.rubric.value}"


def accuracy_grid(comparison: RunComparison, found: Accuracies) -> Grid:
    """Both runs' six cells, their difference, and the discordant probes."""
    differences, cells = found.comparison.differences, found.comparison.cells
    ordered = [cells[i] for i in COLUMNS]
    intervals = [*(differences.cells[i] for i in COLUMNS), differences.macro]
    discordant = f"{sum(c.fixed for c in cells)}:{sum(c.broken for c in cells)}"
    rows = (
        (f"A {comparison.first.name}", *_cells(found.first)),
        (f"B {comparison.second.name}", *_cells(found.second)),
        ("A - B", *(difference(interval.estimate) for interval in intervals)),
        ("95% CI", *(bounds(interval, signed=True) for interval in intervals)),
        ("A only : B only", *(f"{c.fixed}:{c.broken}" for c in ordered), discordant),
        ("p", *(p_text(c.p) for c in ordered), ""),
        ("p (Holm)", *(p_text(c.p_holm) for c in ordered), ""),
    )
    return Grid(("", *CELL_NAMES, "Macro"), rows)


def accuracy_note(found: Accuracies) -> str:
    """How to read the paired table, and what was left out."""
    return (
        "A only : B only are probes that pass in one run only; p is McNemar's exact test, also "
        "adjusted over the six cells (Holm). Left out: "
        f"{found.comparison.unpaired_cells} probe(s) without a verdict in both runs, "
        f"{found.comparison.unpaired_scenarios} whole scenario(s)."
    )


def wins_grid(found: Accuracies) -> Grid:
    """Scenarios won and lost (paper, Figure 3)."""
    rows = tuple(_test_row(wins.name, wins.test) for wins in found.wins)
    return Grid(("Over", "A wins", "B wins", "Ties", "Sign test p"), rows)


def clustered(found: Accuracies) -> str:
    """The sign test with the scenario as the unit of probes."""
    test = found.comparison.clustered
    return (
        f"By net probes of each scenario: {test.fixes} probes pass only in A and {test.breaks} "
        f"only in B; {test.clusters.wins}:{test.clusters.losses} scenarios, "
        f"p = {p_text(test.clusters.p)}."
    )


def key_pair_grid(comparison: RunComparison) -> Grid | None:
    """The key judge's paired figures; None where it did not score both."""
    key = comparison.key
    if key is None:
        return None
    header = (key.label, "A", "B", "A only : B only", "p", "Scenarios A:B", "p")
    rows = (
        _key_row("true-change recall (conflicts)", key.true_change),
        _key_row("false invalidation (controls)", key.false_invalidation),
    )
    return Grid(header, rows)


def reply_pair_grid(comparison: RunComparison) -> Grid | None:
    """What the replies' words say in both runs; None where the data ship no keys."""
    found = comparison.replies
    if found is None:
        return None
    header = (found.label, "A", "B", "A only : B only", "p", "Scenarios A:B", "p")
    rows = (
        _key_row("the reply names the new value (conflicts)", found.names_new),
        _key_row("rewritten (controls)", found.rewritten),
    )
    return Grid(header, rows)


KEY_NOTE = (
    "p: McNemar's exact test on probes; beside it the sign test on scenarios, since the probes "
    "of one share a history. Fewer false invalidations are better."
)

REPLY_NOTE = "p as above. Fewer rewritten controls are better: nothing has changed in them."


def _accuracies(comparison: RunComparison, labels: Sequence[str]) -> str:
    found = comparison.accuracies
    if found is None:
        return ""
    return blocks(
        f"## {escape(accuracy_title(found))}",
        caveats(labels),
        table(accuracy_grid(comparison, found)),
        accuracy_note(found),
        "### Scenario wins",
        caveats(labels),
        table(wins_grid(found)),
        clustered(found),
    ).rstrip()


def _cells(scores: ScoreTable) -> list[str]:
    return [*(share(scores.cells[i].accuracy) for i in COLUMNS), share(scores.macro)]


def _test_row(name: str, test: SignTest) -> tuple[str, ...]:
    return (name, str(test.wins), str(test.losses), str(test.ties), p_text(test.p))


def scored_tables(comparison: RunComparison) -> tuple[tuple[str, str, Grid, str], ...]:
    """What scores replies and findings with no LM judge: title, label, table and note of each."""
    parts = (
        ("Key judge", comparison.key, key_pair_grid(comparison), KEY_NOTE),
        ("Replies", comparison.replies, reply_pair_grid(comparison), REPLY_NOTE),
    )
    return tuple(
        (title, found.label, grid, note)
        for title, found, grid, note in parts
        if found is not None and grid is not None
    )


def _key_row(name: str, rate: PairedRate) -> tuple[str, ...]:
    return (
        name,
        rate_text(rate.first),
        rate_text(rate.second),
        f"{rate.only_first}:{rate.only_second}",
        p_text(rate.p),
        f"{rate.scenarios.wins}:{rate.scenarios.losses}",
        p_text(rate.scenarios.p),
    )


def _costs(a: Summary, b: Summary, labels: Sequence[str]) -> str:
    rows = tuple(
        (
            f"{side} {summary.name}",
            number(summary.cost.mean_calls, 2),
            number(summary.cost.mean_tokens),
            dollars(summary.cost.mean_cost),
            number(summary.cost.latency.p50, 2),
            number(summary.cost.latency.p95, 2),
            str(summary.errors),
        )
        for side, summary in (("A", a), ("B", b))
    )
    header = ("A scenario", "Calls", "Tokens", "Cost", "Median s", "95th percentile s", "Errors")
    return blocks("## Cost", caveats(labels), table(Grid(header, rows))).rstrip()
