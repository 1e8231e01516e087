"""From findings to typed directives, by fixed rules (paper, section 4.5).

A verified transition is the only thing that can authorize its reply's repair; base
verdicts then stay in the record and fire nothing. Without one the base audit
decides: material STALE repairs and informs, material UNKNOWN asks. One attribute is
one change (``chains``) and never two directives that contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stateauditor.program.changes.chains import Change, Step, alike, changes, grouped
from stateauditor.program.changes.nearness import attribute_of, near_value
from stateauditor.program.changes.stated import StatedValues
from stateauditor.program.grounding.quotations import readout_order
from stateauditor.program.grounding.values import is_missing, plain_value, same_value
from stateauditor.signatures.models import (
    CheckStatus,
    Directive,
    DirectiveKind,
    Labels,
    Origin,
    Policy,
    Premise,
    Reason,
    TransitionCheck,
    Verdict,
)

# Which pass is named as the authority when several found the same.
_ORIGIN_ORDER = (Origin.DRAFT, Origin.QUESTION, Origin.STATE)

# What an arbiter without validation overlooks; a directive still needs values and a reply.
_UNVALIDATED = frozenset(
    {
        Reason.UNGROUNDED_OLD,
        Reason.UNGROUNDED_NEW,
        Reason.CROSS_ENTRY,
        Reason.NOT_NEWER,
        Reason.CLOSED_NEW,
        Reason.SHORT_PATH,
    }
)


def arbitrate(
    premises: Sequence[Premise],
    checks: Sequence[TransitionCheck],
    policy: Policy,
    *,
    draft: str = "",
    labels: Labels = Labels.LIFECYCLE,
    validation: bool = True,
    verified_only: bool = True,
) -> tuple[Directive, ...]:
    """Decide what the adapter must do; empty means that the draft passes through.

    The order of ``premises`` and ``checks`` changes nothing. ``observe`` and ``full``
    keep all directives (``observe`` then rewrites nothing, see :func:`may_rewrite`);
    ``repair_only`` drops ``verify``. ``draft`` tells which of a chain's values the reply
    rests on; left out, it is the value that the first material step ends.

    The other keywords are ablations (paper, sections 6.1 and 6.3). Without ``validation``
    a candidate acts whatever its provenance and chronology, as long as it has its values
    and applies to the reply. Without ``verified_only`` base verdicts fire beside the
    transitions, except where both speak of the same. Under ``nli`` labels a material
    contradiction repairs without naming a value, and neutral fires nothing.
    """
    overlooked = frozenset() if validation else _UNVALIDATED
    steps = [step for check in checks if (step := _step(check, overlooked)) is not None]
    found = changes(steps, StatedValues(draft))
    directives = [d for change in found if change.path for d in _from_change(change)]
    if all(change.settled for change in found) or not verified_only:
        based = (
            _from_base_audit(premises, found, StatedValues(draft))
            if labels is Labels.LIFECYCLE
            else _from_contradictions(premises)
        )
        directives += [d for d in based if not _settled_by(directives, d)]
    directives = _once(directives)
    if policy is Policy.REPAIR_ONLY:
        directives = [d for d in directives if d.kind is not DirectiveKind.VERIFY]
    return tuple(directives)


def may_rewrite(directives: Sequence[Directive], policy: Policy) -> bool:
    """Whether the adapter may be called at all; never under ``observe``."""
    return policy is not Policy.OBSERVE and bool(directives)


# --- verified transitions ---------------------------------------------------


def _step(check: TransitionCheck, overlooked: frozenset[Reason]) -> Step | None:
    """A check as a step of its attribute's change; None where it proves nothing."""
    reasons = frozenset(check.reasons) - overlooked
    if not reasons and (check.status is CheckStatus.VERIFIED or overlooked):
        return Step(check)
    return Step(check, settled=True) if reasons == {Reason.NOT_MATERIAL} else None


def _from_change(change: Change) -> Iterable[Directive]:
    matches = [match for check in change.path for match in (check.old, check.new)]
    return _repair(
        attribute=change.last.attribute,
        old_value=change.old_value,
        current_value=change.last.new_value,
        authority=f"transition:{change.last.id}",
        steps=tuple(check.id for check in change.path),
        evidence=_lines(match.entry_id for match in matches if match.entry_id is not None),
    )


# --- the base audit ---------------------------------------------------------


def _from_base_audit(
    premises: Sequence[Premise], found: Sequence[Change], stated: StatedValues
) -> Iterable[Directive]:
    """Repairs first, then questions about what no repair has settled."""
    material = sorted((p for p in premises if p.material), key=_rank)
    judged = [p for p in material if p.verdict is not Verdict.VALID]
    repairs, questions = [], []
    for group in sorted(grouped(judged, _on_one_attribute), key=_group_order):
        # STALE without a current value asks: a correction must carry the new value,
        # never only take the old one away.
        stale = [p for p in group if p.verdict is Verdict.STALE and not is_missing(_current(p))]
        if not stale:
            questions.append(group)
        elif not _known_better(latest := _latest(stale), found):
            repairs.append((latest, stale))
    for latest, stale in repairs:
        yield from _repair(
            attribute=_attribute(latest),
            old_value=_rested_on(stale, latest, stated),
            current_value=latest.current_value,
            authority=_authority(latest),
            evidence=_lines(line for premise in stale for line in premise.evidence),
        )
    for group in questions:
        yield Directive(
            kind=DirectiveKind.VERIFY,
            attribute=_attribute(group[0]),
            old_value=group[0].old_value,
            current_value=None,
            authority=_authority(group[0]),
            evidence=_lines(line for premise in group for line in premise.evidence),
        )


def _on_one_attribute(one: Premise, other: Premise) -> bool:
    values = ((one.old_value, one.current_value), (other.old_value, other.current_value))
    return alike((one.attribute, other.attribute), *values) or (
        same_value(_attribute(one), _attribute(other))
    )


def _latest(stale: Sequence[Premise]) -> Premise:
    """The verdict that cites the latest line; among equals the first pass's."""
    cited = max(_cited(premise) for premise in stale)
    return next(premise for premise in stale if _cited(premise) == cited)


def _rested_on(stale: Sequence[Premise], latest: Premise, stated: StatedValues) -> str | None:
    """The old value that the draft states; else the one that the draft's own pass found."""
    ended = [
        (old, premise.origin)
        for premise in stale
        if (old := premise.old_value) and not near_value(old, _current(latest))
    ]
    named = [old for old, _ in ended if stated.names(old)]
    drafted = [old for old, origin in ended if origin is Origin.DRAFT]
    return next(iter(named or drafted), latest.old_value)


def _known_better(premise: Premise, found: Sequence[Change]) -> bool:
    """Whether transitions show that what a verdict calls current is over.

    A transition to another value that was said later, on the same attribute, or one away
    from that very value.
    """
    for change in found:
        step = change.steps[-1].check
        if near_value(step.new_value, _current(premise)):
            continue
        values = ((step.old_value, step.new_value), (premise.old_value, premise.current_value))
        passed = [s.check.new_value for s in change.steps]
        if any(near_value(value, _current(premise)) for value in passed):
            return True
        if alike((step.attribute, premise.attribute), *values):
            said = readout_order(step.new.entry_id or "")
            if said > _cited(premise):
                return True
    return False


def _from_contradictions(premises: Sequence[Premise]) -> Iterable[Directive]:
    """Entailment labels name no current value and leave nothing open to ask about."""
    judged = sorted((p for p in premises if p.material and p.verdict is Verdict.STALE), key=_rank)
    for group in sorted(grouped(judged, _on_one_attribute), key=_group_order):
        yield Directive(
            kind=DirectiveKind.REPAIR,
            attribute=_attribute(group[0]),
            old_value=group[0].old_value,
            current_value=None,
            authority=_authority(group[0]),
            evidence=_lines(line for premise in group for line in premise.evidence),
        )


def _settled_by(directives: Sequence[Directive], directive: Directive) -> bool:
    """Whether a transition's directive already speaks of the same attribute or value."""
    values = (directive.old_value, directive.current_value)
    return any(
        near_value(other.current_value or "", directive.current_value or "")
        or alike(
            (other.attribute, directive.attribute), (other.old_value, other.current_value), values
        )
        for other in directives
    )


def _once(directives: Sequence[Directive]) -> list[Directive]:
    """Of one change under two names, and of one person, the first directive of each kind."""
    kept: list[Directive] = []
    for directive in directives:
        if not any(
            other.kind is directive.kind
            and attribute_of(other.attribute).owners == attribute_of(directive.attribute).owners
            and near_value(other.old_value or "", directive.old_value or "")
            and near_value(other.current_value or "", directive.current_value or "")
            for other in kept
        ):
            kept.append(directive)
    return kept


def _attribute(premise: Premise) -> str:
    return premise.attribute if plain_value(premise.attribute) else premise.text


def _current(premise: Premise) -> str:
    return premise.current_value or ""


def _authority(premise: Premise) -> str:
    return f"base_audit:{premise.origin}"


def _cited(premise: Premise) -> tuple[int, str]:
    """The latest line that a premise cites; before all lines where it cites none."""
    return max(map(readout_order, premise.evidence), default=(0, ""))


def _lines(ids: Iterable[str]) -> tuple[str, ...]:
    """Readout ids, oldest first, each once."""
    return tuple(sorted(set(ids), key=readout_order))


def _rank(premise: Premise) -> tuple[int, str]:
    """Order equal findings by the pass that is named as their authority."""
    return (_ORIGIN_ORDER.index(premise.origin), premise.model_dump_json())


def _group_order(group: Sequence[Premise]) -> tuple[str, ...]:
    """Order directives by content, so that the order of discovery shows nowhere."""
    first = group[0]
    return (plain_value(_attribute(first)), plain_value(_current(first)))


def _repair(
    *,
    attribute: str,
    old_value: str | None,
    current_value: str | None,
    authority: str,
    steps: tuple[str, ...] = (),
    evidence: tuple[str, ...] = (),
) -> Iterable[Directive]:
    for kind in (DirectiveKind.REPAIR, DirectiveKind.CORRECT_AND_INFORM):
        yield Directive(
            kind=kind,
            attribute=attribute,
            old_value=old_value,
            current_value=current_value,
            authority=authority,
            steps=steps,
            evidence=evidence,
        )
