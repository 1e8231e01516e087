"""Rates over suites with keys: what was rightly changed, and what was wrongly (section 6.4).

The change of a key is recognised as the key judge recognises it, by evidence or else by
values. Every rate comes with its Wilson interval, over probes unless it says scenarios.
Probes that failed to run are in no rate; the caller counts them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from stateauditor.metrics.key_judge import Audited, GoldKey, KeyFindings, key_judge
from stateauditor.metrics.records import Rate
from stateauditor.metrics.safety import FailsOpen, material_stale
from stateauditor.metrics.statistics import rate_of
from stateauditor.signatures.models import CheckStatus, Frozen, Policy

POOLED = "all"
"""The name of a row over every group."""


class SuiteOutcome(Frozen):
    """What one audit of one probe came to.

    ``findings.control`` says that nothing is due. ``material_stale``: a material premise
    is STALE, or a transition was verified. ``failed_open``: some role broke.
    """

    uid: str
    group: str
    explicitness: str
    probe: str
    policy: Policy
    findings: KeyFindings
    material_stale: bool
    failed_open: bool

    @property
    def repaired(self) -> bool:
        """Whether anything at all was to be repaired or corrected, the right thing or not."""
        return self.findings.true_repair or self.findings.false_invalidation

    @property
    def right(self) -> bool:
        """Whether what was due was done: the keyed change repaired, or nothing touched."""
        return not self.repaired if self.findings.control else self.findings.true_repair


class RegimeRates(Frozen):
    """One regime under one policy.

    ``recall``: the keyed change was to be repaired; over probes that demand it.
    ``false_stale``: a material STALE or a verified transition; over probes that demand
    nothing. A rate of the other kind has 0 items. ``repair``: any repair or correction;
    ``rewritten``: the reply differs from the draft; ``verify``: the user is to be asked.
    """

    regime: str
    items: int
    recall: Rate
    false_stale: Rate
    repair: Rate
    rewritten: Rate
    verify: Rate
    failed_open: Rate


class SafetyRates(Frozen):
    """One policy over the safety suite; ``conflict_free`` pools the regimes without a change.

    ``false_invalidation`` is the share of conflict-free probes with any repair or
    correction. ``by_explicitness`` splits ``changes`` and ``conflict_free``.
    """

    policy: Policy
    true_change_recall: Rate
    false_invalidation: Rate
    changes: RegimeRates
    conflict_free: RegimeRates
    regimes: tuple[RegimeRates, ...]
    by_explicitness: tuple[tuple[str, RegimeRates, RegimeRates], ...]


class CategoryRates(Frozen):
    """One stress category under one policy.

    ``due_solved``: the keyed change was to be repaired; ``off_target``: something else
    was, on the same probes. ``trap_kept``: nothing was, where nothing was due.
    ``solved``: both probes right, over scenarios with an outcome for every probe.
    ``verify`` and ``failed_open`` are over all probes.
    """

    category: str
    scenarios: int
    due_solved: Rate
    off_target: Rate
    trap_kept: Rate
    solved: Rate
    verify: Rate
    failed_open: Rate


class LifecycleRates(Frozen):
    """One policy over a suite whose scenarios have a probe that is due and a trap."""

    policy: Policy
    pooled: CategoryRates
    categories: tuple[CategoryRates, ...]
    by_explicitness: tuple[CategoryRates, ...]


class SuiteAudit(Audited, FailsOpen, Protocol):
    """What is read of an audit; ``signatures.models.AuditResult`` has it all."""

    @property
    def policy(self) -> Policy:
        """What directives might do."""


def suite_outcome(
    result: SuiteAudit, key: GoldKey, *, group: str, explicitness: str, probe: str
) -> SuiteOutcome:
    """Score one audit by the key of its probe; ``key.control`` says that nothing is due."""
    verified = any(check.status is CheckStatus.VERIFIED for check in result.transitions)
    return SuiteOutcome(
        uid=key.uid,
        group=group,
        explicitness=explicitness,
        probe=probe,
        policy=result.policy,
        findings=key_judge(result, key),
        material_stale=verified or material_stale(result),
        failed_open=bool(result.failed_open),
    )


def safety_rates(outcomes: Iterable[SuiteOutcome]) -> tuple[SafetyRates, ...]:
    """The safety suite's figures, one entry a policy; regimes in order of name, changes first.

    Any order of outcomes gives the same figures.
    """
    return tuple(_safety(policy, found) for policy, found in _by_policy(outcomes))


def lifecycle_rates(
    outcomes: Iterable[SuiteOutcome], probes: int = 2
) -> tuple[LifecycleRates, ...]:
    """The figures of scenarios with ``probes`` probes each, one entry a policy."""
    return tuple(_lifecycle(policy, found, probes) for policy, found in _by_policy(outcomes))


def _safety(policy: Policy, outcomes: Sequence[SuiteOutcome]) -> SafetyRates:
    changes = [o for o in outcomes if not o.findings.control]
    free = [o for o in outcomes if o.findings.control]
    return SafetyRates(
        policy=policy,
        true_change_recall=rate_of(o.findings.true_repair for o in changes),
        false_invalidation=rate_of(o.repaired for o in free),
        changes=_regime("changes", changes),
        conflict_free=_regime("conflict-free", free),
        regimes=tuple(
            _regime(group, found)
            for part in (changes, free)
            for group, found in _grouped(part, lambda o: o.group)
        ),
        by_explicitness=tuple(
            (
                name,
                _regime("changes", [o for o in found if not o.findings.control]),
                _regime("conflict-free", [o for o in found if o.findings.control]),
            )
            for name, found in _grouped(outcomes, lambda o: o.explicitness)
        ),
    )


def _regime(name: str, outcomes: Sequence[SuiteOutcome]) -> RegimeRates:
    return RegimeRates(
        regime=name,
        items=len(outcomes),
        recall=rate_of(o.findings.true_repair for o in outcomes if not o.findings.control),
        false_stale=rate_of(o.material_stale for o in outcomes if o.findings.control),
        repair=rate_of(o.repaired for o in outcomes),
        rewritten=rate_of(o.findings.rewritten for o in outcomes),
        verify=rate_of(o.findings.verifies > 0 for o in outcomes),
        failed_open=rate_of(o.failed_open for o in outcomes),
    )


def _lifecycle(policy: Policy, outcomes: Sequence[SuiteOutcome], probes: int) -> LifecycleRates:
    return LifecycleRates(
        policy=policy,
        pooled=_category(POOLED, outcomes, probes),
        categories=tuple(
            _category(name, found, probes) for name, found in _grouped(outcomes, lambda o: o.group)
        ),
        by_explicitness=tuple(
            _category(name, found, probes)
            for name, found in _grouped(outcomes, lambda o: o.explicitness)
        ),
    )


def _category(name: str, outcomes: Sequence[SuiteOutcome], probes: int) -> CategoryRates:
    scenarios = [found for _, found in _grouped(outcomes, lambda o: o.uid)]
    return CategoryRates(
        category=name,
        scenarios=len(scenarios),
        due_solved=rate_of(o.right for o in outcomes if not o.findings.control),
        off_target=rate_of(
            o.findings.false_invalidation for o in outcomes if not o.findings.control
        ),
        trap_kept=rate_of(o.right for o in outcomes if o.findings.control),
        solved=rate_of(all(o.right for o in found) for found in scenarios if len(found) == probes),
        verify=rate_of(o.findings.verifies > 0 for o in outcomes),
        failed_open=rate_of(o.failed_open for o in outcomes),
    )


def _by_policy(outcomes: Iterable[SuiteOutcome]) -> list[tuple[Policy, list[SuiteOutcome]]]:
    """The outcomes of each policy, in the order observe, repair_only, full."""
    kept = list(outcomes)
    by_policy = [(policy, [o for o in kept if o.policy is policy]) for policy in Policy]
    return [(policy, found) for policy, found in by_policy if found]


def _grouped(
    outcomes: Iterable[SuiteOutcome], name: Callable[[SuiteOutcome], str]
) -> list[tuple[str, list[SuiteOutcome]]]:
    groups: dict[str, list[SuiteOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(name(outcome), []).append(outcome)
    return sorted(groups.items())
