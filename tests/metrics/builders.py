"""Small records to test with, and two arms rebuilt from the paper's counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from stateauditor.metrics import CELLS, DIMENSIONS, TYPES, Cell, CellScore, Dimension, ScenarioType
from stateauditor.signatures.models import (
    AuditResult,
    CallRecord,
    CheckStatus,
    Directive,
    DirectiveKind,
    Policy,
    Premise,
    QuoteMatch,
    TransitionCheck,
    Variant,
)


def cell(
    uid: str,
    kind: ScenarioType,
    dimension: Dimension,
    passed: bool | None,
    error: bool = False,
) -> CellScore:
    return CellScore(uid=uid, type=kind, dimension=dimension, passed=passed, error=error)


def scenario(uid: str, kind: ScenarioType, *passed: bool | None) -> list[CellScore]:
    """One scenario with its SR, PR and IPA verdicts."""
    return [cell(uid, kind, d, p) for d, p in zip(DIMENSIONS, passed, strict=False)]


verdicts = st.tuples(st.booleans(), st.booleans(), st.booleans())


@st.composite
def arms(draw: st.DrawFn, count: int = 1, errors: bool = False) -> list[list[CellScore]]:
    """``count`` arms over the same scenarios, at least one of each type."""
    built: list[list[CellScore]] = [[] for _ in range(count)]
    for kind in TYPES:
        for number in range(draw(st.integers(1, 8))):
            for arm in built:
                for dimension, passed in zip(DIMENSIONS, draw(verdicts), strict=True):
                    failed = errors and draw(st.integers(0, 4)) == 0
                    arm.append(
                        cell(
                            f"{kind}-{number}",
                            kind,
                            dimension,
                            None if failed else passed,
                            failed,
                        )
                    )
    return built


# --- the paper's strict run, rebuilt ---------------------------------------------
#
# Table 1 gives both arms' accuracy in each cell of 200 scenarios. Section 6.1 gives
# the paired counts: SR 24:32 (T2 12:21), PR 31:10, IPA 53:6 (T2 33:2), scenarios
# 84:37. They fix all but how PR splits by type (18:6 and 13:4 fit Table 1) and how
# the counts fall on scenarios; some assignment that meets 84:37 stands here.

PREDECESSOR: dict[Cell, float] = dict(
    zip(CELLS, (0.795, 0.745, 0.725, 0.675, 0.575, 0.600), strict=True)
)
STRICT_VTA: dict[Cell, float] = dict(
    zip(CELLS, (0.800, 0.805, 0.805, 0.630, 0.620, 0.755), strict=True)
)
RETRIEVAL_ONLY: dict[Cell, float] = dict(
    zip(CELLS, (0.615, 0.215, 0.635, 0.290, 0.125, 0.490), strict=True)
)
PAIRED: dict[Cell, tuple[int, int]] = dict(
    zip(CELLS, ((12, 11), (18, 6), (20, 4), (12, 21), (13, 4), (33, 2)), strict=True)
)
# Scenarios that change in two cells at once, as (dimensions, how many, won or lost).
_DOUBLES: dict[ScenarioType, list[tuple[tuple[Dimension, Dimension], int, bool]]] = {
    "T1": [(("PR", "IPA"), 12, True), (("SR", "PR"), 5, False)],
    "T2": [(("PR", "IPA"), 12, True), (("SR", "PR"), 4, False), (("SR", "IPA"), 2, False)],
}


def published_arms() -> tuple[list[CellScore], list[CellScore]]:
    """Strict VTA and its predecessor over 400 scenarios, as counted in the paper."""
    vta: list[CellScore] = []
    predecessor: list[CellScore] = []
    for kind in TYPES:
        changes = _changes(kind)
        for number in range(200):
            uid = f"{kind}-{number:03}"
            change = changes[number] if number < len(changes) else {}
            for dimension in DIMENSIONS:
                key: Cell = (kind, dimension)
                won, lost = PAIRED[key]
                # Unchanged scenarios pass in both arms until Table 1's count is reached.
                unchanged = [n for n in range(200) if dimension not in _at(changes, n)]
                both = set(unchanged[: round(PREDECESSOR[key] * 200) - lost])
                passes = number in both
                gain = change.get(dimension, 0)
                vta.append(cell(uid, kind, dimension, passes or gain > 0))
                predecessor.append(cell(uid, kind, dimension, passes or gain < 0))
                assert len(both) + won == round(STRICT_VTA[key] * 200)
    return vta, predecessor


def _at(changes: Sequence[dict[Dimension, int]], number: int) -> dict[Dimension, int]:
    return changes[number] if number < len(changes) else {}


def _changes(kind: ScenarioType) -> list[dict[Dimension, int]]:
    left: Counter[tuple[Dimension, int]] = Counter()
    for (cell_type, dimension), (won, lost) in PAIRED.items():
        if cell_type == kind:
            left[dimension, 1], left[dimension, -1] = won, lost
    changes: list[dict[Dimension, int]] = []
    for dimensions, count, won_ in _DOUBLES[kind]:
        sign = 1 if won_ else -1
        changes += [dict.fromkeys(dimensions, sign) for _ in range(count)]
        for dimension in dimensions:
            left[dimension, sign] -= count
    for (dimension, sign), count in sorted(left.items()):
        changes += [{dimension: sign} for _ in range(count)]
    return changes


# --- audits ----------------------------------------------------------------------


def audit(
    *,
    changed: bool = False,
    directives: Iterable[Directive] = (),
    premises: Iterable[Premise] = (),
    transitions: Iterable[TransitionCheck] = (),
    calls: Iterable[CallRecord] = (),
) -> AuditResult:
    return AuditResult(
        response="b" if changed else "a",
        draft="a",
        changed=changed,
        backend="test",
        policy=Policy.FULL,
        variant=Variant.STRICT_VTA,
        directives=tuple(directives),
        premises=tuple(premises),
        transitions=tuple(transitions),
        calls=tuple(calls),
    )


def directive(
    kind: DirectiveKind,
    *,
    old: str | None = None,
    new: str | None = None,
    authority: str = "base_audit:draft",
) -> Directive:
    return Directive(
        kind=kind, attribute="home", old_value=old, current_value=new, authority=authority
    )


def check(
    old_value: str,
    new_value: str,
    *,
    old_quote: str = "",
    new_quote: str = "",
    id: str = "C1",
    status: CheckStatus = CheckStatus.VERIFIED,
) -> TransitionCheck:
    return TransitionCheck(
        id=id,
        status=status,
        attribute="home",
        old_value=old_value,
        new_value=new_value,
        old=QuoteMatch(quote=old_quote),
        new=QuoteMatch(quote=new_quote),
    )
