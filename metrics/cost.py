"""Calls, tokens, money and latency of an arm (paper, section 6.4 and Table 2).

Money is in US dollars, time in seconds. A cost is None as soon as one call's is
unknown: a sum with a hole in it is not a sum. Replayed calls keep the cost and
latency of the call that was recorded, and are kept apart from calls paid for now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import CallRecord, Frozen, Totals, Usage

Count = Annotated[int, Field(ge=0)]

Stages = Mapping[str, int | None]
"""Stage of each role in the graph of the audit or of another method; None for a role on no path."""

Scenario = Sequence[Sequence[CallRecord]]
"""The calls of one scenario's probes, one sequence a probe."""


class Latency(Frozen):
    """Seconds over scenarios; percentiles interpolate, all None without a scenario."""

    scenarios: Count
    mean: float | None
    p50: float | None
    p95: float | None


class RoleCost(Frozen):
    """What one role cost; ``failed`` calls returned nothing usable."""

    role: str
    total: Totals
    failed: Count


class CostSummary(Frozen):
    """What an arm cost.

    ``total`` is what the run would cost with nothing replayed; ``usage`` splits it
    into paid and cached. The means are over scenarios and None without one;
    ``mean_tokens`` counts input and output. ``latency`` is on the critical path.
    """

    scenarios: Count
    total: Totals
    usage: Usage
    failed_calls: Count
    mean_calls: float | None
    mean_tokens: float | None
    mean_cost: float | None
    latency: Latency
    roles: tuple[RoleCost, ...]


def critical_path(calls: Iterable[CallRecord], stages: Stages) -> float:
    """Seconds of the longest wait in one audit: the slowest role of each stage, summed.

    Roles of one stage run together; the calls of one role follow each other (a retry
    waits for what it repeats). Stages are taken as barriers although a pass may
    start its second call early, so this never flatters. A role that ``stages`` maps
    to None is not on the path.
    Raises :class:`InputError` for a role that ``stages`` does not know.
    """
    return sum(_stage_seconds(calls, stages).values())


def scenario_path(probes: Scenario, stages: Stages, *, joint: bool = False) -> float:
    """Seconds of the critical path over a scenario's probes, which run together.

    Strict: the slowest probe. ``joint``: one proposal serves all probes, so every
    stage waits for the slowest of them. 0.0 without a call.
    """
    by_probe = [_stage_seconds(calls, stages) for calls in probes]
    if not joint:
        return max((sum(seconds.values()) for seconds in by_probe), default=0.0)
    reached = {stage for seconds in by_probe for stage in seconds}
    return sum(max(seconds.get(stage, 0.0) for seconds in by_probe) for stage in sorted(reached))


def cost_summary(
    scenarios: Iterable[Scenario],
    stages: Stages,
    *,
    joint: bool = False,
) -> CostSummary:
    """Calls, tokens, cost and latency over the scenarios of a run."""
    kept = list(scenarios)
    calls = [call for probes in kept for probe in probes for call in probe]
    total, count = Totals.of(calls), len(kept)
    tokens = total.input_tokens + total.output_tokens
    return CostSummary(
        scenarios=count,
        total=total,
        usage=Usage.of(calls),
        failed_calls=sum(call.error is not None for call in calls),
        mean_calls=total.calls / count if count else None,
        mean_tokens=tokens / count if count else None,
        mean_cost=total.cost / count if count and total.cost is not None else None,
        latency=latency([scenario_path(probes, stages, joint=joint) for probes in kept]),
        roles=tuple(
            RoleCost(
                role=role,
                total=Totals.of(call for call in calls if call.role == role),
                failed=sum(call.error is not None for call in calls if call.role == role),
            )
            for role in sorted({call.role for call in calls})
        ),
    )


def latency(seconds: Sequence[float]) -> Latency:
    """Mean, median and 95th percentile of some waits."""
    if not seconds:
        return Latency(scenarios=0, mean=None, p50=None, p95=None)
    ordered = sorted(seconds)  # so that the order of work changes no digit
    p50, p95 = np.percentile(ordered, [50, 95])
    return Latency(
        scenarios=len(ordered),
        mean=sum(ordered) / len(ordered),
        p50=float(p50),
        p95=float(p95),
    )


def _stage_seconds(calls: Iterable[CallRecord], stages: Stages) -> dict[int, float]:
    """Seconds of the slowest role of each stage."""
    roles: dict[tuple[int, str], float] = {}
    for call in calls:
        if call.role not in stages:
            known = ", ".join(stages)
            raise InputError(f"no stage is known for role {call.role!r}; known: {known}")
        stage = stages[call.role]
        if stage is not None:
            roles[stage, call.role] = roles.get((stage, call.role), 0.0) + call.seconds
    slowest: dict[int, float] = {}
    for (stage, _), seconds in roles.items():
        slowest[stage] = max(slowest.get(stage, 0.0), seconds)
    return dict(sorted(slowest.items()))
