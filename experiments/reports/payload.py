"""From a run's records to the data of the item browser, small enough to open anywhere.

The lines of a scenario's readouts stand once, and its probes refer to them. Scenarios
keep their full readouts as long as they fit a budget of bytes; after that only the
lines that some finding cites, and each probe says how many are left out. Judge-only
text is in no record, and so in no report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from stateauditor.experiments.results.summary import MAJORITY
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord, ProbeRecord, Result
from stateauditor.metrics import majority_vote
from stateauditor.signatures.judge import Rubric
from stateauditor.signatures.models import (
    CallRecord,
    CheckStatus,
    QuoteMatch,
    RenderedEntry,
    TransitionCheck,
)

READOUT_BUDGET: Final = 16_000_000
"""Bytes of scenarios embedded in full; 400 scenarios then stay well below 30 MB."""

Data = dict[str, Any]


@dataclass(frozen=True)
class Payload:
    """The browser's data as JSON, and how many of its scenarios have full readouts."""

    json: str
    scenarios: int
    full: int


def payload(items: Iterable[ItemRecord], budget: int = READOUT_BUDGET) -> Payload:
    """The records as the browser reads them, by uid, whatever order they come in."""
    forms = {item.uid: (_json(item, whole=True), _json(item, whole=False)) for item in items}
    pieces: list[str] = []
    full = 0
    for uid in sorted(forms):
        whole, cut = forms[uid]
        size = len(whole.encode("utf-8"))
        fits = size <= budget
        budget -= size if fits else 0
        full += fits or whole == cut
        pieces.append(whole if fits else cut)
    return Payload("[" + ",\n".join(pieces) + "]", len(forms), full)


def dumps(value: Any) -> str:
    """JSON that is safe inside a script element, whatever the texts in it say."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


_UNSAFE: Final = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def _json(item: ItemRecord, *, whole: bool) -> str:
    """One scenario, with its readouts whole or only with the lines that findings cite."""
    lines: dict[tuple[Any, ...], int] = {}
    probes = [
        _probe(item, dimension, item.probes[dimension], lines, whole=whole)
        for dimension in DIMENSIONS
        if dimension in item.probes
    ]
    errors = {name: j.error for name, j in item.judgments.items() if j.error}
    return dumps(
        _plain(
            uid=item.uid,
            type=item.type,
            control=item.control,
            error=item.error,
            judges=[{"judge": name, "error": error} for name, error in errors.items()],
            calls=_calls(item.calls),
            lines=[list(line) for line in lines],
            probes=probes or [_failed_whole(item)],
        )
    )


def _failed_whole(item: ItemRecord) -> Data:
    """What stands in the list for a scenario that came to no probe."""
    return {"dimension": "", "tags": ["control" if item.control else "conflict", "error"]}


def _probe(
    item: ItemRecord,
    dimension: str,
    probe: ProbeRecord,
    lines: dict[tuple[Any, ...], int],
    *,
    whole: bool,
) -> Data:
    found = _plain(
        dimension=dimension,
        tags=tags(item, dimension),
        question=probe.question,
        draft=probe.draft,
        reply=probe.response if probe.response != probe.draft else None,
        error=probe.error,
        tokens=probe.tokens,
        key=probe.key.model_dump(exclude={"label", "uid", "control"}) if probe.key else None,
        recall=probe.recall.model_dump() if probe.recall else None,
        judged=[
            {"judge": name, **judgment.probes[dimension].model_dump()}
            for name, judgment in item.judgments.items()
            if dimension in judgment.probes
        ],
    )
    if probe.result is not None:
        found |= _audit(probe.result, lines, whole=whole)
    return found


def _audit(result: Result, lines: dict[tuple[Any, ...], int], *, whole: bool) -> Data:
    quoted = cited(result)
    kept = [e for e in result.readout if whole or e.id in quoted]
    return _plain(
        readout=[[e.id, lines.setdefault(_line(e), len(lines)), e.step.value] for e in kept],
        cited=sorted(quoted),
        left_out=len(result.readout) - len(kept),
        premises=[p.model_dump(mode="json", exclude_defaults=True) for p in result.premises],
        timeline=[t.model_dump(mode="json", exclude_defaults=True) for t in result.timeline],
        transitions=[_check(check) for check in result.transitions],
        directives=[d.model_dump(mode="json") for d in result.directives],
        calls=_calls(result.calls),
        failed=[f.model_dump() for f in result.failed_open],
    )


def cited(result: Result) -> set[str]:
    """The ids of the readout lines that some finding names."""
    found = {m.entry_id for c in result.transitions for m in (c.old, c.new) if m.entry_id}
    found |= {entry for premise in result.premises for entry in premise.evidence}
    return found | {entry for item in result.timeline for entry in item.evidence}


def tags(item: ItemRecord, dimension: str) -> list[str]:
    """What the outcome filter knows about a probe; verdicts are in :func:`judge_tag`'s form."""
    probe = item.probes[dimension]
    found = ["control" if item.control else "conflict"]
    if probe.error is not None or item.error is not None:
        found.append("error")
    elif probe.response == probe.draft:
        found.append("untouched")
    else:
        found.append("repaired")
    if probe.result is not None:
        found += _audit_tags(probe.result)
    if probe.key is not None and item.control:
        found += ["false_invalidation"] if probe.key.false_invalidation else []
    elif probe.key is not None:
        found.append("true_change" if probe.key.change_found else "missed_change")
        found += ["off_target"] if probe.key.false_invalidation else []
    return found + _judge_tags(item, dimension)


def _judge_tags(item: ItemRecord, dimension: str) -> list[str]:
    judged = {n: j.probes[dimension] for n, j in item.judgments.items() if dimension in j.probes}
    found = []
    for rubric in Rubric:
        votes: dict[str, bool | None] = {
            name: j.grounded if rubric is Rubric.GROUNDED else j.passed
            for name, j in judged.items()
        }
        if len(item.judgments) > 1:
            votes[MAJORITY] = majority_vote(votes.values()).passed
        found += [
            judge_tag(name, rubric, passed=vote) for name, vote in votes.items() if vote is not None
        ]
    return found


def judge_tag(judge: str, rubric: Rubric, *, passed: bool) -> str:
    """What the outcome filter calls one judge's verdict."""
    return f"judge:{judge}:{rubric.value}:{'pass' if passed else 'fail'}"


def _audit_tags(result: Result) -> list[str]:
    statuses = {check.status for check in result.transitions}
    return [
        *(["failed_open"] if result.failed_open else []),
        *(["verified"] if CheckStatus.VERIFIED in statuses else []),
        *(["rejected"] if CheckStatus.REJECTED in statuses else []),
    ]


def _calls(calls: Iterable[CallRecord]) -> list[Data]:
    return [call.model_dump(mode="json", exclude_defaults=True) for call in calls]


def _check(check: TransitionCheck) -> Data:
    return _plain(
        id=check.id,
        status=check.status.value,
        reasons=[reason.value for reason in check.reasons],
        attribute=check.attribute,
        old_value=check.old_value,
        new_value=check.new_value,
        path=list(check.causal_path),
        material=check.material,
        old=_match(check.old),
        new=_match(check.new),
    )


def _match(match: QuoteMatch) -> Data:
    return match.model_dump(mode="json", exclude_defaults=True)


def _line(entry: RenderedEntry) -> tuple[Any, ...]:
    """What identifies a line among the readouts of one scenario."""
    date = "" if entry.timestamp is None else str(entry.timestamp)
    return (date, entry.text, entry.role.value, entry.session or "", entry.turn)


def _plain(**values: Any) -> Data:
    """Only what says something (an empty text does): the browser reads what is missing as empty."""
    return {name: value for name, value in values.items() if value or isinstance(value, str)}
