"""From findings to typed directives, by fixed rules (paper, section 4.5).

A verified transition is the only thing that can authorize its reply's repair; base
verdicts then stay in the record and fire nothing. Without one the base audit
decides: material STALE repairs and informs, material UNKNOWN asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stateauditor.program.grounding.quotations import readout_order
from stateauditor.program.grounding.values import is_missing, plain_value, same_value
from stateauditor.program.memory.timestamps import SortKey, sort_key
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
    labels: Labels = Labels.LIFECYCLE,
    validation: bool = True,
    verified_only: bool = True,
) -> tuple[Directive, ...]:
    """Decide what the adapter must do; empty means that the draft passes through.

    The order of ``premises`` and ``checks`` changes nothing. ``observe`` and ``full``
    keep all directives (``observe`` then rewrites nothing, see :func:`may_rewrite`);
    ``repair_only`` drops ``verify``.

    The keywords are ablations (paper, sections 6.1 and 6.3). Without ``validation`` a
    candidate acts whatever its provenance and chronology, as long as it has its values
    and applies to the reply. Without ``verified_only`` base verdicts fire beside the
    transitions, except where both speak of the same. Under ``nli`` labels a material
    contradiction repairs without naming a value, and neutral fires nothing.
    """
    current, outdated = _standing(checks, validation=validation)
    directives = [d for check in _acting(current) for d in _from_transition(check)]
    if not current or not verified_only:
        based = (
            _from_base_audit(premises, outdated)
            if labels is Labels.LIFECYCLE
            else _from_contradictions(premises)
        )
        directives += [d for d in based if not _settled_by(directives, d)]
    if policy is Policy.REPAIR_ONLY:
        directives = [d for d in directives if d.kind is not DirectiveKind.VERIFY]
    return tuple(directives)


def may_rewrite(directives: Sequence[Directive], policy: Policy) -> bool:
    """Whether the adapter may be called at all; never under ``observe``."""
    return policy is not Policy.OBSERVE and bool(directives)


# --- verified transitions ---------------------------------------------------


def _standing(
    checks: Sequence[TransitionCheck], *, validation: bool
) -> tuple[list[TransitionCheck], list[TransitionCheck]]:
    """Split the verified transitions into those that stand and those outdated since.

    A draft that already relies on the latest value makes the latest change not
    material; that change still proves that the one before it is over (A -> B -> A).
    """
    settled = [c for c in checks if c.reasons == (Reason.NOT_MATERIAL,)]
    current: list[TransitionCheck] = []
    outdated: list[TransitionCheck] = []
    for check in checks:
        if check.status is CheckStatus.VERIFIED or (
            not validation and _UNVALIDATED.issuperset(check.reasons)
        ):
            over = any(_continues(s, check) and _recency(s) > _recency(check) for s in settled)
            (outdated if over else current).append(check)
    return current, outdated


def _acting(current: Sequence[TransitionCheck]) -> list[TransitionCheck]:
    """Return one transition for each change: of a chain or of rivals, the latest.

    Transitions that contradict each other in a circle, all from one entry, cancel
    out: nothing is repaired on their word.
    """
    kept = [c for c in current if not any(_replaces(other, c) for other in current)]
    return sorted(kept, key=_place)


def _continues(later: TransitionCheck, earlier: TransitionCheck) -> bool:
    """Whether ``later`` starts, in the same attribute, from where ``earlier`` ended."""
    return same_value(later.attribute, earlier.attribute) and same_value(
        later.old_value, earlier.new_value
    )


def _replaces(other: TransitionCheck, check: TransitionCheck) -> bool:
    """Whether ``other`` should act in place of ``check``.

    In a chain (A -> B, B -> C), between rival outcomes (A -> B, A -> C) and among
    duplicates the one with the latest new evidence acts.
    """
    alike = same_value(other.attribute, check.attribute) and (
        same_value(other.new_value, check.new_value) or same_value(other.old_value, check.old_value)
    )
    onward, backward = _continues(other, check), _continues(check, other)
    if _recency(other) != _recency(check):
        return (alike or onward) and _recency(other) > _recency(check)
    if onward != backward:
        return onward
    return (alike or onward) and _place(other) < _place(check)


def _recency(check: TransitionCheck) -> tuple[SortKey, int, str]:
    """Order checks by the time of their new evidence, then by its place in the readout."""
    return (sort_key(check.new.timestamp), *readout_order(check.new.entry_id or ""))


def _place(check: TransitionCheck) -> tuple[str, ...]:
    """Order directives by content, so that the order of discovery shows nowhere."""
    values = (check.attribute, check.new_value, check.old_value)
    return (*map(plain_value, values), *values, check.id)


def _from_transition(check: TransitionCheck) -> Iterable[Directive]:
    return _repair(
        attribute=check.attribute,
        old_value=check.old_value,
        current_value=check.new_value,
        authority=f"transition:{check.id}",
    )


# --- the base audit ---------------------------------------------------------


def _from_base_audit(
    premises: Sequence[Premise], outdated: Sequence[TransitionCheck]
) -> Iterable[Directive]:
    """Repairs first, then questions about what no repair has settled."""
    material = sorted((p for p in premises if p.material), key=_rank)
    stale: dict[tuple[str, str], Premise] = {}
    unsure: dict[str, Premise] = {}
    for premise in material:
        attribute = plain_value(_attribute(premise))
        current = premise.current_value or ""
        if premise.verdict is Verdict.STALE and not is_missing(current):
            if not any(same_value(current, check.new_value) for check in outdated):
                stale.setdefault((attribute, plain_value(current)), premise)
        elif premise.verdict is not Verdict.VALID:
            # STALE without a current value lands here: a correction must carry the
            # new value, never only take the old one away, so the user is asked.
            unsure.setdefault(attribute, premise)
    for _, premise in sorted(stale.items(), key=lambda item: item[0]):
        yield from _repair(
            attribute=_attribute(premise),
            old_value=premise.old_value,
            current_value=premise.current_value,
            authority=_authority(premise),
        )
    repaired = {attribute for attribute, _ in stale}
    for attribute, premise in sorted(unsure.items(), key=lambda item: item[0]):
        if attribute not in repaired:
            yield Directive(
                kind=DirectiveKind.VERIFY,
                attribute=_attribute(premise),
                old_value=premise.old_value,
                current_value=None,
                authority=_authority(premise),
            )


def _from_contradictions(premises: Sequence[Premise]) -> Iterable[Directive]:
    """Entailment labels name no current value and leave nothing open to ask about."""
    contradicted: dict[str, Premise] = {}
    for premise in sorted((p for p in premises if p.material), key=_rank):
        if premise.verdict is Verdict.STALE:
            contradicted.setdefault(plain_value(_attribute(premise)), premise)
    for _, premise in sorted(contradicted.items(), key=lambda item: item[0]):
        yield Directive(
            kind=DirectiveKind.REPAIR,
            attribute=_attribute(premise),
            old_value=premise.old_value,
            current_value=None,
            authority=_authority(premise),
        )


def _settled_by(directives: Sequence[Directive], directive: Directive) -> bool:
    """Whether a transition's directive already speaks of the same attribute or value."""
    return any(
        same_value(other.attribute, directive.attribute)
        or same_value(other.current_value or "", directive.current_value or "")
        for other in directives
    )


def _attribute(premise: Premise) -> str:
    return premise.attribute if plain_value(premise.attribute) else premise.text


def _authority(premise: Premise) -> str:
    return f"base_audit:{premise.origin}"


def _rank(premise: Premise) -> tuple[int, str]:
    """Order equal findings by the pass that is named as their authority."""
    return (_ORIGIN_ORDER.index(premise.origin), premise.model_dump_json())


def _repair(
    *, attribute: str, old_value: str | None, current_value: str | None, authority: str
) -> Iterable[Directive]:
    for kind in (DirectiveKind.REPAIR, DirectiveKind.CORRECT_AND_INFORM):
        yield Directive(
            kind=kind,
            attribute=attribute,
            old_value=old_value,
            current_value=current_value,
            authority=authority,
        )
