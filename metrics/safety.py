"""What an arm does to replies, wanted or not (paper, section 6.4).

Directive rates hold for any items. On conflict-free items every repair is a false
invalidation; where a data set has no gold labels for conflicts (LoCoMo) that is an
upper bound, and the caller has to say so. The rates from keys are the key judge's:
they carry its label and are not Stale accuracy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from stateauditor.metrics.key_judge import KEY_JUDGE_LABEL, REPAIR_KINDS, Audited, KeyFindings
from stateauditor.metrics.records import DIMENSIONS, Dimension, Rate
from stateauditor.metrics.statistics import rate_of
from stateauditor.signatures.models import DirectiveKind, Failure, Frozen, Verdict


class FailsOpen(Protocol):
    """What is read of a result to see whether some role broke."""

    @property
    def failed_open(self) -> Sequence[Failure]:
        """The roles that broke."""


class DirectiveRates(Frozen):
    """Shares of items, each with its Wilson interval.

    ``directed``: any directive. ``repair``, ``inform``, ``verify``: one of that kind.
    ``verify_only``: verify and nothing else, the paper's question noise.
    ``rewritten``: the reply differs from the draft. ``material_stale``: a material
    premise is STALE, whether or not anything followed.
    """

    items: int
    directed: Rate
    repair: Rate
    inform: Rate
    verify: Rate
    verify_only: Rate
    rewritten: Rate
    material_stale: Rate


class ConflictFree(Frozen):
    """What was done where nothing had changed.

    ``false_invalidation``: a repair or correction fired. ``false_stale``: a material
    premise was called STALE. ``rewritten`` and ``verify`` as in :class:`DirectiveRates`.
    """

    items: int
    false_invalidation: Rate
    false_stale: Rate
    rewritten: Rate
    verify: Rate


class KeyRates(Frozen):
    """The key judge's figures for one arm; print ``label`` with them.

    Over conflicts: ``stale_premise_recall`` (a STALE premise or a verified transition
    names the gold old state), ``true_change_recall`` (the gold change was verified or
    acted on), ``verified_recall`` (it was verified), ``off_target_repair`` (a repair
    acted on something else: an upper bound, see :class:`KeyFindings`).
    Over controls: ``false_invalidation``. ``stale_by_dimension`` has SR, PR, IPA, of
    which a dimension without conflicts has a rate of 0 items.
    """

    label: str = KEY_JUDGE_LABEL
    stale_premise_recall: Rate
    stale_by_dimension: tuple[tuple[Dimension, Rate], ...]
    true_change_recall: Rate
    verified_recall: Rate
    off_target_repair: Rate
    false_invalidation: Rate
    conflicts_rewritten: Rate
    controls_rewritten: Rate
    conflicts_verify: Rate
    controls_verify: Rate


def directive_rates(results: Iterable[Audited]) -> DirectiveRates:
    """How often each kind of directive fired, over any items."""
    kept = list(results)
    kinds = [_kinds(result) for result in kept]
    return DirectiveRates(
        items=len(kept),
        directed=rate_of(bool(found) for found in kinds),
        repair=rate_of(DirectiveKind.REPAIR in found for found in kinds),
        inform=rate_of(DirectiveKind.CORRECT_AND_INFORM in found for found in kinds),
        verify=rate_of(DirectiveKind.VERIFY in found for found in kinds),
        verify_only=rate_of(found == {DirectiveKind.VERIFY} for found in kinds),
        rewritten=rate_of(result.changed for result in kept),
        material_stale=rate_of(material_stale(result) for result in kept),
    )


def conflict_free(results: Iterable[Audited]) -> ConflictFree:
    """False invalidation over items in which nothing changed."""
    kept = list(results)
    kinds = [_kinds(result) for result in kept]
    return ConflictFree(
        items=len(kept),
        false_invalidation=rate_of(bool(found & REPAIR_KINDS) for found in kinds),
        false_stale=rate_of(material_stale(result) for result in kept),
        rewritten=rate_of(result.changed for result in kept),
        verify=rate_of(DirectiveKind.VERIFY in found for found in kinds),
    )


def conflict_free_by_regime(items: Iterable[tuple[str, Audited]]) -> dict[str, ConflictFree]:
    """:func:`conflict_free` for each regime (kind of control), sorted by name."""
    grouped: dict[str, list[Audited]] = {}
    for regime, result in items:
        grouped.setdefault(regime, []).append(result)
    return {regime: conflict_free(grouped[regime]) for regime in sorted(grouped)}


def key_rates(findings: Mapping[Dimension, Sequence[KeyFindings]]) -> KeyRates:
    """The key judge's rates from its findings on each dimension's probes."""
    conflicts = [f for d in DIMENSIONS for f in findings.get(d, ()) if not f.control]
    controls = [f for d in DIMENSIONS for f in findings.get(d, ()) if f.control]
    return KeyRates(
        stale_premise_recall=rate_of(f.stale_found for f in conflicts),
        stale_by_dimension=tuple(
            (d, rate_of(f.stale_found for f in findings.get(d, ()) if not f.control))
            for d in DIMENSIONS
        ),
        true_change_recall=rate_of(f.change_found for f in conflicts),
        verified_recall=rate_of(f.true_transition for f in conflicts),
        off_target_repair=rate_of(f.false_invalidation for f in conflicts),
        false_invalidation=rate_of(f.false_invalidation for f in controls),
        conflicts_rewritten=rate_of(f.rewritten for f in conflicts),
        controls_rewritten=rate_of(f.rewritten for f in controls),
        conflicts_verify=rate_of(f.verifies > 0 for f in conflicts),
        controls_verify=rate_of(f.verifies > 0 for f in controls),
    )


def failed_open(results: Iterable[FailsOpen]) -> Rate:
    """Share of audits in which some role broke, so that findings are missing."""
    return rate_of(bool(result.failed_open) for result in results)


def _kinds(result: Audited) -> set[DirectiveKind]:
    return {directive.kind for directive in result.directives}


def material_stale(result: Audited) -> bool:
    """Whether a material premise is STALE, whether or not anything followed."""
    return any(p.material and p.verdict is Verdict.STALE for p in result.premises)
