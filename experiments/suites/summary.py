"""From a suite run's records to its numbers and its table: pure, the same for any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from stateauditor.experiments.reports.markdown import (
    DASH_NOTE,
    Grid,
    blocks,
    caveats,
    escape,
    number,
    rate_text,
    table,
)
from stateauditor.experiments.suites.records import SuiteFolder, SuiteItemRecord
from stateauditor.experiments.suites.scripted import is_scripted, manner
from stateauditor.experiments.suites.spec import SuiteSpec
from stateauditor.metrics.key_judge import KEY_JUDGE_LABEL
from stateauditor.metrics.suites import (
    CategoryRates,
    LifecycleRates,
    RegimeRates,
    SafetyRates,
    SuiteOutcome,
    lifecycle_rates,
    safety_rates,
)
from stateauditor.program.offline.label import BACKEND_LABEL
from stateauditor.signatures.models import AuditResult, Frozen, Totals, Usage

SAFETY: Final = "safety"
INTERVALS: Final = "Each share with its 95% Wilson interval and its counts."


class SuiteSummary(Frozen):
    """Everything that is printed about a suite run.

    ``labels`` stand above every table. Items and probes that failed are in ``errors``
    and in no rate. ``failed_roles`` counts the audits in which a role failed open.
    ``safety`` or ``lifecycle`` has one entry a policy. ``paid`` are calls that no
    earlier policy had asked, ``replayed`` those that one had.
    """

    suite: str
    seed: int
    variant: str
    backend: str
    labels: tuple[str, ...]
    items: int
    probes: int
    errors: int
    failed_roles: dict[str, int]
    safety: tuple[SafetyRates, ...] = ()
    lifecycle: tuple[LifecycleRates, ...] = ()
    paid: Totals
    replayed: Totals


def summary_of(folder: SuiteFolder) -> SuiteSummary:
    """A run's summary, computed from its records now; incomplete runs have one too."""
    return summarise(folder.spec(), folder.items(), backend=folder.manifest().backend)


def summarise(spec: SuiteSpec, records: Iterable[SuiteItemRecord], *, backend: str) -> SuiteSummary:
    """The figures of a run; records may come in any order."""
    items = sorted(records, key=lambda item: item.uid)
    probes = [probe for item in items for probe in item.probes.values()]
    outcomes = [outcome for probe in probes for outcome in probe.outcomes.values()]
    usage = Usage.of(call for item in items for call in item.all_calls())
    results = [result for probe in probes for result in probe.results.values()]
    return SuiteSummary(
        suite=spec.suite,
        seed=spec.seed,
        variant=spec.variant.value,
        backend=backend,
        labels=labels(spec, backend),
        items=len(items),
        probes=len(probes),
        errors=sum(item.error is not None for item in items)
        + sum(probe.error is not None for probe in probes),
        failed_roles=_failed_roles(results),
        safety=safety_rates(outcomes) if spec.suite == SAFETY else (),
        lifecycle=() if spec.suite == SAFETY else _lifecycle(items, outcomes),
        paid=_timeless(usage.paid),
        replayed=_timeless(usage.cached),
    )


def labels(spec: SuiteSpec, backend: str) -> tuple[str, ...]:
    """What must be said beside every figure of a suite run."""
    found = []
    if is_scripted(spec.backend):
        found.append(manner(spec.backend).label)
    elif backend == BACKEND_LABEL:
        found.append("offline lexical rules: a floor, no model")
    found.append(KEY_JUDGE_LABEL)
    found += [f"audit setting: {name}={value}" for name, value in sorted(spec.audit.items())]
    if spec.compiled is not None:
        found.append(f"compiled prompts: {spec.compiled.name}")
    if spec.limit is not None:
        found.append(f"{spec.limit} items only, taken from the groups in turn")
    return tuple(found)


def _lifecycle(
    items: Sequence[SuiteItemRecord], outcomes: Sequence[SuiteOutcome]
) -> tuple[LifecycleRates, ...]:
    return lifecycle_rates(outcomes, max((len(item.probes) for item in items), default=0))


def _failed_roles(results: Iterable[AuditResult]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for result in results:
        for failure in result.failed_open:
            counts[failure.role] = counts.get(failure.role, 0) + 1
    return dict(sorted(counts.items()))


def _timeless(totals: Totals) -> Totals:
    """Without the seconds, which no two runs share."""
    return totals.model_copy(update={"seconds": 0.0})


# --- the table ---------------------------------------------------------------------------


def suite_table(summary: SuiteSummary) -> str:
    """A run's ``table.md``."""
    bodies = [
        *((rates.policy, _safety(rates)) for rates in summary.safety),
        *((rates.policy, _lifecycle_section(rates)) for rates in summary.lifecycle),
    ]
    sections = [
        f"## Policy {policy}\n\n{caveats(summary.labels)}\n\n{body}" for policy, body in bodies
    ]
    return blocks(
        f"# {escape(summary.suite)}, seed {summary.seed}",
        _about(summary),
        *sections,
        INTERVALS,
        DASH_NOTE,
    )


def _about(summary: SuiteSummary) -> str:
    roles = ", ".join(f"{role} {count}" for role, count in summary.failed_roles.items())
    return (
        f"Variant {summary.variant}, backend {escape(summary.backend)}. {summary.items} items, "
        f"{summary.probes} probes. {summary.errors} error(s), counted apart and in no rate. "
        f"Roles that failed open: {roles or 'none'}. Calls: {number(summary.paid.calls)} asked, "
        f"{number(summary.replayed.calls)} replayed from an earlier policy."
    )


def _safety(rates: SafetyRates) -> str:
    return blocks(
        f"True-change recall {rate_text(rates.true_change_recall)}. "
        f"False invalidation on conflict-free items {rate_text(rates.false_invalidation)}.",
        table(_regimes([*rates.regimes, rates.conflict_free])),
        table(
            _regimes(
                [
                    part.model_copy(update={"regime": f"{part.regime}, {name}"})
                    for name, changes, free in rates.by_explicitness
                    for part in (changes, free)
                ]
            )
        ),
    ).rstrip()


def _regimes(rows: Sequence[RegimeRates]) -> Grid:
    columns = {
        "recall": "change repaired",
        "false_stale": "false material STALE",
        "repair": "repair directive",
        "rewritten": "rewritten",
        "verify": "question to verify",
        "failed_open": "failed open",
    }
    named = [(row.regime, row.items, row) for row in rows if row.items]
    return _rates(("regime", "items"), columns, named)


def _lifecycle_section(rates: LifecycleRates) -> str:
    return blocks(
        table(_categories([*rates.categories, rates.pooled])),
        table(_categories(rates.by_explicitness)),
    ).rstrip()


def _categories(rows: Sequence[CategoryRates]) -> Grid:
    columns = {
        "due_solved": "due solved",
        "off_target": "off target",
        "trap_kept": "trap kept",
        "solved": "scenario solved",
        "verify": "question to verify",
        "failed_open": "failed open",
    }
    named = [(row.category, row.scenarios, row) for row in rows]
    return _rates(("category", "scenarios"), columns, named)


def _rates(
    first: tuple[str, str],
    columns: Mapping[str, str],
    rows: Sequence[tuple[str, int, RegimeRates | CategoryRates]],
) -> Grid:
    """Rates by their fields, behind each row's name and count."""
    return Grid(
        (*first, *columns.values()),
        tuple(
            (name, str(count), *(rate_text(getattr(row, field)) for field in columns))
            for name, count, row in rows
        ),
    )


def write_summary(folder: SuiteFolder) -> tuple[SuiteSummary, str]:
    """Write summary.json and table.md; the summary and the table's text."""
    summary = summary_of(folder)
    text = suite_table(summary)
    folder.write_json("summary.json", summary.model_dump(mode="json"))
    folder.write_text("table.md", text)
    return summary, text
