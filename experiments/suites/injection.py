"""Injection at the gate: derived cases through the validator, raw outputs through the audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from stateauditor.data.suites.cases import PAIR, Case, CaseKind
from stateauditor.data.suites.injection import LIMIT_TITLE, derive
from stateauditor.data.suites.items import Due, SuiteItem
from stateauditor.data.suites.registry import SUITES, load_suite
from stateauditor.experiments.reports.markdown import Grid, blocks, escape, number, table
from stateauditor.experiments.runs.folder import Folder, git_hash, package_versions
from stateauditor.experiments.suites.parse_failures import RIGHT, parse_cases
from stateauditor.metrics.records import Rate
from stateauditor.metrics.statistics import rate
from stateauditor.program.validator import check_transitions
from stateauditor.signatures.models import Frozen, Reason, TransitionCheck

PARSE_RULE: Final = "unreadable output"
PARSE_BASES: Final = 4
"""So many probes, spread over the bases, get every raw output: each is a whole audit."""


class CaseResult(Frozen):
    """One case as it came out: one line of cases.jsonl, without the texts."""

    id: str
    kind: CaseKind
    rule: str
    construction: str
    base: str
    expected: str
    expected_reasons: tuple[Reason, ...] = ()
    may_add: tuple[Reason, ...] = ()
    status: str
    reasons: tuple[Reason, ...] = ()
    right: bool


class InjectionRow(Frozen):
    """The cases of one construction, and how many came out as they must."""

    kind: CaseKind
    rule: str
    construction: str
    cases: int
    right: int


class InjectionSummary(Frozen):
    """Counts by construction, in the order of the rules; ``wrong`` names what went wrong.

    ``violations`` were rejected for the right reason, ``controls`` and ``limit``
    accepted; each rate has its Wilson interval.
    """

    items: int
    violations: Rate
    controls: Rate
    limit: Rate
    rows: tuple[InjectionRow, ...]
    wrong: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every case came out as it must."""
        return not self.wrong


def inject(out: Path | None = None) -> InjectionSummary:
    """Run every case of the suites as published; with ``out`` also write them there.

    The folder gets manifest.json, cases.jsonl (no memory text), summary.json, table.md.
    """
    suites = [load_suite(name) for name in SUITES]
    items = [item for suite in suites for item in suite.items]
    results = list(run_injection(items))
    summary = summarise_injection(results, items=len(items))
    if out is not None:
        manifest = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "git": git_hash(),
            "suites": {suite.name: suite.sha256 for suite in suites},
            "versions": package_versions(),
        }
        out.mkdir(parents=True, exist_ok=True)
        folder: Folder[Any, Any] = Folder(out)
        lines = (json.dumps(r.model_dump(mode="json"), ensure_ascii=False) for r in results)
        folder.write_text("cases.jsonl", "".join(f"{line}\n" for line in lines))
        folder.write_json("manifest.json", manifest)
        folder.write_json("summary.json", summary.model_dump(mode="json"))
        folder.write_text("table.md", injection_table(summary))
    return summary


def run_injection(items: Sequence[SuiteItem]) -> Iterator[CaseResult]:
    """Every case of some items: those of the validator, then unreadable proposer outputs."""
    for _, group in groupby(derive(items), key=lambda case: case.base):
        yield from _checked(list(group))
    yield from _unreadable(items)


def _checked(cases: Sequence[Case]) -> Iterator[CaseResult]:
    """One base's cases; those over the same entries share one reading of them."""
    places: dict[int, list[int]] = {}
    for place, case in enumerate(cases):
        places.setdefault(id(case.entries), []).append(place)
    checks: dict[int, TransitionCheck] = {}
    for shared in places.values():
        found = check_transitions(
            [cases[place].candidate for place in shared], cases[shared[0]].entries, pair=PAIR
        )
        checks.update(zip(shared, found, strict=True))
    for place, case in enumerate(cases):
        check = checks[place]
        yield CaseResult(
            id=case.id,
            kind=case.kind,
            rule=case.rule,
            construction=case.construction,
            base=case.base,
            expected=case.expected,
            expected_reasons=tuple(sorted(case.reasons)),
            may_add=tuple(sorted(case.may_add)),
            status=check.status,
            reasons=check.reasons,
            right=case.agrees(check),
        )


def _unreadable(items: Sequence[SuiteItem]) -> Iterator[CaseResult]:
    due = [(item, probe) for item in items for probe in item.probes if probe.due is Due.REPAIR]
    step = max(1, len(due) // PARSE_BASES)
    for item, probe in due[::step][:PARSE_BASES]:
        for case in parse_cases(item, probe):
            well_formed = case.name == RIGHT
            yield CaseResult(
                id=f"{case.base}: {case.name}",
                kind=CaseKind.CONTROL if well_formed else CaseKind.VIOLATION,
                rule=PARSE_RULE,
                construction=case.name,
                base=case.base,
                expected="reply repaired" if well_formed else "draft untouched",
                status="reply repaired" if case.result.changed else "draft untouched",
                right=case.right,
            )


def summarise_injection(results: Iterable[CaseResult], *, items: int) -> InjectionSummary:
    """The counts; the order of the rows is that in which constructions first occur."""
    counts: dict[tuple[CaseKind, str, str], list[bool]] = {}
    wrong = []
    for result in results:
        key = (result.kind, result.rule, result.construction)
        counts.setdefault(key, []).append(result.right)
        if not result.right:
            wrong.append(result.id)
    rows = tuple(
        InjectionRow(kind=k, rule=r, construction=c, cases=len(found), right=sum(found))
        for (k, r, c), found in sorted(counts.items(), key=lambda item: _order(item[0]))
    )
    return InjectionSummary(
        items=items,
        violations=_total(rows, CaseKind.VIOLATION),
        controls=_total(rows, CaseKind.CONTROL),
        limit=_total(rows, CaseKind.LIMIT),
        rows=rows,
        wrong=tuple(wrong),
    )


def _order(key: tuple[CaseKind, str, str]) -> tuple[int, str, str]:
    return (list(CaseKind).index(key[0]), key[1], key[2])


def _total(rows: Iterable[InjectionRow], kind: CaseKind) -> Rate:
    kept = [row for row in rows if row.kind is kind]
    return rate(sum(row.right for row in kept), sum(row.cases for row in kept))


# --- the table ---------------------------------------------------------------------------


def injection_table(summary: InjectionSummary) -> str:
    """The one table: each rule's violations, the valid variants, and the limit last."""
    parts = (
        (CaseKind.VIOLATION, summary.violations, "rejected for the right reason"),
        (CaseKind.CONTROL, summary.controls, "accepted"),
        (CaseKind.LIMIT, summary.limit, "accepted"),
    )
    rows: list[tuple[str, ...]] = []
    for kind, total, outcome in parts:
        rows += [
            (row.rule, row.construction, number(row.cases), number(row.right), outcome)
            for row in summary.rows
            if row.kind is kind
        ]
        rows.append((f"all: {_TITLES[kind]}", "", number(total.n), number(total.hits), outcome))
    wrong = [f"- {escape(name)}" for name in summary.wrong]
    return blocks(
        "# Injection at the gate",
        f"Derived from {summary.items} items with no LM: each candidate goes through the "
        "validator, each unreadable output through a whole audit.",
        table(
            Grid(
                ("rule", "construction", "cases", "as it must", "what it must be"),
                tuple(rows),
                left=2,
            )
        ),
        f"{LIMIT_TITLE.capitalize()}. The candidates of the last block break no rule, although "
        "nothing in the user's state has changed: the gate accepts them, and a proposer that "
        "sends them is not stopped.",
        "\n".join(["Not as it must be:", *wrong]) if wrong else "",
    )


_TITLES: Final = {
    CaseKind.VIOLATION: "violations",
    CaseKind.CONTROL: "valid candidates",
    CaseKind.LIMIT: "valid, and nothing has changed",
}
