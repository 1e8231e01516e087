"""What a compile is scored by: how well one audit found the gold change, with words for it.

Pure functions, like all metrics: no LM, no file. :func:`assess` measures one audit
part by part, :func:`weighted` makes one number of the parts, and :func:`feedback`
says in words what was missed, for optimizers that read (GEPA, SIMBA).

The words are general unless ``reveal`` is set. Only items of the training part may
be revealed: the words go into the prompts of an LM that writes instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Self

import numpy as np
from pydantic import Field, model_validator

from stateauditor.metrics.bootstrap import LEVEL, Interval
from stateauditor.metrics.key_judge import GoldKey, KeyFindings, key_judge, names_old
from stateauditor.metrics.records import ScenarioType
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import (
    AuditResult,
    CheckStatus,
    DirectiveKind,
    Frozen,
    TransitionCheck,
    Variant,
)

PROPOSING: Final = frozenset((Variant.STRICT_VTA, Variant.JOINT_VTA, Variant.LEAN))
"""The variants that propose transitions; the others are not scored by any."""

Weight = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Weights(Frozen):
    """How much each part counts; 0 leaves a part out. See :class:`Assessment`."""

    stale_premise: Weight = 1.0
    transition_valid: Weight = 1.0
    transition_aligned: Weight = 2.0
    control_kept: Weight = 3.0
    directive_kind: Weight = 1.0
    evidence_grounded: Weight = 1.0
    judge: Weight = 2.0

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not any(self.model_dump().values()):
            raise ValueError("at least one weight must be above 0")
        return self


class Assessment(Frozen):
    """The parts of one audit's score, each 0 to 1, or None where the part does not apply.

    On a conflict: ``stale_premise`` (a STALE premise names the old state),
    ``transition_valid`` (share of the candidates that were verified, 0 for none),
    ``transition_aligned`` (a verified transition is the gold change). On a control:
    ``control_kept`` (nothing was repaired or corrected). On both: ``directive_kind``
    (a repair of the gold change, or nothing on a control; half for a mere question),
    ``evidence_grounded`` (share of the quotations that stand in the readout).
    ``judge`` is the judge's word, where there is one.
    """

    stale_premise: Share | None = None
    transition_valid: Share | None = None
    transition_aligned: Share | None = None
    control_kept: Share | None = None
    directive_kind: Share | None = None
    evidence_grounded: Share | None = None
    judge: Share | None = None


def assess(result: AuditResult, gold: GoldKey, *, passed: bool | None = None) -> Assessment:
    """Measure one audit by the key of its item; ``passed`` is the judge's word."""
    findings = key_judge(result, gold)
    proposes = result.variant in PROPOSING and not gold.control
    verified = sum(check.status is CheckStatus.VERIFIED for check in result.transitions)
    return Assessment(
        stale_premise=None if gold.control else float(findings.stale_premise),
        transition_valid=verified / max(1, len(result.transitions)) if proposes else None,
        transition_aligned=float(findings.true_transition) if proposes else None,
        control_kept=float(not findings.false_invalidation) if gold.control else None,
        directive_kind=_kind(result, gold, findings),
        evidence_grounded=_grounded(result.transitions),
        judge=None if passed is None else float(passed),
    )


def weighted(assessment: Assessment, weights: Weights) -> float:
    """The score, 0 to 1: the weighted mean of the parts that apply.

    1 where no part with a weight applies: nothing was asked, so nothing was missed.
    """
    parts = _applying(assessment, weights)
    total = sum(weight for _, weight in parts.values())
    if not total:
        return 1.0
    return sum(value * weight for value, weight in parts.values()) / total


def feedback(
    assessment: Assessment,
    result: AuditResult,
    gold: GoldKey,
    *,
    weights: Weights | None = None,
    reveal: bool,
) -> str:
    """What was missed, in words; with ``reveal`` also the gold change itself.

    ``reveal`` is for training items only.
    """
    parts = _applying(assessment, weights or Weights())
    missed = [name for name, (value, _) in parts.items() if value < 1]
    if not missed:
        return "Nothing was missed."
    lines = [_WORDS[name] for name in missed]
    reasons = sorted({reason.value for check in result.transitions for reason in check.reasons})
    if reasons and "transition_valid" in missed:
        lines.append(f"Candidates were rejected as: {', '.join(reasons)}.")
    if reveal:
        lines.append(_revealed(gold))
    return "\n".join(lines)


def failure_feedback(reasons: Iterable[str]) -> str:
    """What is said of an audit whose roles failed open."""
    return f"The audit could not be finished: {'; '.join(reasons)}."


# --- means over scenarios -----------------------------------------------------------


class ScoredGroup(Frozen):
    """One scenario of a part: a conflict with its control, and the scores of their probes."""

    uid: str
    type: ScenarioType
    scores: tuple[Share, ...] = Field(min_length=1)

    @property
    def mean(self) -> float:
        """The scenario's own mean; what is resampled."""
        return sum(self.scores) / len(self.scores)


def mean_interval(groups: Iterable[ScoredGroup], *, seed: int, draws: int) -> Interval:
    """The mean over scenarios with its bootstrap interval, stratified by type."""
    kept = sorted(groups, key=lambda group: group.uid)
    return _interval([(group.type, group.mean) for group in kept], seed, draws)


def difference_interval(
    after: Iterable[ScoredGroup], before: Iterable[ScoredGroup], *, seed: int, draws: int
) -> Interval:
    """The mean difference ``after - before`` over the same resampled scenarios.

    Only scenarios that both have are compared.
    """
    earlier = {group.uid: group for group in before}
    kept = sorted((g for g in after if g.uid in earlier), key=lambda group: group.uid)
    return _interval([(g.type, g.mean - earlier[g.uid].mean) for g in kept], seed, draws)


def _interval(values: list[tuple[str, float]], seed: int, draws: int) -> Interval:
    if draws < 1:
        raise InputError(f"draws must be 1 or more, got {draws}")
    if not values:
        return Interval(estimate=None, low=None, high=None, draws=draws)
    rng = np.random.default_rng(seed)
    drawn = np.zeros(draws)
    for kind in sorted({kind for kind, _ in values}):
        stratum = np.array([value for of, value in values if of == kind])
        picks = rng.integers(0, len(stratum), size=(draws, len(stratum)))
        drawn += stratum[picks].sum(axis=1)
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(drawn / len(values), [tail, 100 - tail])
    estimate = sum(value for _, value in values) / len(values)
    return Interval(estimate=estimate, low=float(low), high=float(high), draws=draws)


# --- the parts ------------------------------------------------------------------------


def _kind(result: AuditResult, gold: GoldKey, findings: KeyFindings) -> float:
    kinds = {directive.kind for directive in result.directives}
    only_asks = kinds == {DirectiveKind.VERIFY}
    if gold.control:
        return 0.5 if only_asks else float(not kinds)
    if findings.true_repair:
        return 1.0
    about_old = any(names_old(d.old_value or d.attribute, gold) for d in result.directives)
    return 0.5 if only_asks and about_old else 0.0


def _grounded(checks: Iterable[TransitionCheck]) -> float | None:
    quotes = [match for check in checks for match in (check.old, check.new)]
    if not quotes:
        return None
    return sum(match.entry_id is not None for match in quotes) / len(quotes)


def _applying(assessment: Assessment, weights: Weights) -> dict[str, tuple[float, float]]:
    """The parts that count: value and weight by name."""
    found: Mapping[str, float | None] = assessment.model_dump()
    weight: Mapping[str, float] = weights.model_dump()
    return {
        name: (value, weight[name])
        for name, value in found.items()
        if value is not None and weight[name] > 0
    }


_WORDS: Final[Mapping[str, str]] = {
    "stale_premise": "No premise was judged STALE that names the state which a later statement "
    "of the user has ended. Ask what the draft silently relies on, and which later line makes "
    "that impossible.",
    "transition_valid": "Not every proposed transition passed the checks of provenance and "
    "chronology, or none was proposed. Quote each side word for word from one readout line, the "
    "older one before the newer one, and give two values that differ.",
    "transition_aligned": "The change that matters for this reply was not among the verified "
    "transitions. Look for a later remark that only implies the end of an earlier state.",
    "control_kept": "Something was repaired although the user's state has not changed. A plan, a "
    "temporary exception, another person's affairs or an addition ends nothing.",
    "directive_kind": "The reply was not treated as it should be: an outdated draft must be "
    "repaired, not only asked about, and a draft that is right must be left alone.",
    "evidence_grounded": "Some quotations stand nowhere in the readout. Copy them exactly; never "
    "quote the question or the draft.",
    "judge": "The judge did not pass the final reply: it still follows the old state.",
}


def _revealed(gold: GoldKey) -> str:
    about = f" ({gold.attribute})" if gold.attribute else ""
    if gold.control:
        return (
            f"Here the state{about} {gold.old_value!r} still holds. This newer statement ends "
            f"nothing: {gold.m_new!r}"
        )
    return (
        f"Here the change{about} was {gold.old_value!r} -> {gold.new_value!r}. Older statement: "
        f"{gold.m_old!r} Newer statement: {gold.m_new!r}"
    )
