"""What fires where, as rates with intervals."""

from __future__ import annotations

import pytest

from stateauditor.metrics import (
    KEY_JUDGE_LABEL,
    KeyFindings,
    conflict_free,
    conflict_free_by_regime,
    directive_rates,
    failed_open,
    key_rates,
)
from stateauditor.signatures.models import DirectiveKind, Failure, Origin, Premise, Verdict
from tests.metrics.builders import audit, directive

REPAIR = [directive(DirectiveKind.REPAIR), directive(DirectiveKind.CORRECT_AND_INFORM)]
VERIFY = [directive(DirectiveKind.VERIFY)]
STALE = Premise(text="p", verdict=Verdict.STALE, material=True, origin=Origin.DRAFT)


def test_each_kind_of_directive_has_its_rate() -> None:
    found = directive_rates(
        [
            audit(directives=REPAIR, changed=True, premises=[STALE]),
            audit(directives=[*REPAIR, *VERIFY], changed=True),
            audit(directives=VERIFY, changed=True),
            audit(premises=[STALE.model_copy(update={"material": False})]),
        ]
    )
    hits = {name: rate.hits for name, rate in found if name != "items"}
    assert hits == {
        "directed": 3,
        "repair": 2,
        "inform": 2,
        "verify": 2,
        "verify_only": 1,
        "rewritten": 3,
        "material_stale": 1,
    }
    assert found.items == 4
    assert found.repair.value == 0.5


def test_the_papers_7_of_237_conflict_free_items_are_3_percent() -> None:
    results = [audit(directives=REPAIR)] * 7 + [audit()] * 230
    found = conflict_free(results).false_invalidation
    assert found.value == pytest.approx(0.03, abs=0.0005)
    # Wilson by hand: (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n).
    assert (found.low, found.high) == pytest.approx((0.01437, 0.05969), abs=5e-5)


def test_a_question_to_the_user_invalidates_nothing() -> None:
    found = conflict_free([audit(directives=VERIFY, changed=True, premises=[STALE])])
    assert found.false_invalidation.hits == 0
    assert (found.false_stale.hits, found.verify.hits, found.rewritten.hits) == (1, 1, 1)


def test_a_correction_without_a_repair_invalidates_too() -> None:
    only = [directive(DirectiveKind.CORRECT_AND_INFORM)]
    assert conflict_free([audit(directives=only)]).false_invalidation.hits == 1


def test_regimes_are_told_apart_in_order_of_name() -> None:
    found = conflict_free_by_regime(
        [("past", audit(directives=REPAIR)), ("additive", audit()), ("past", audit())]
    )
    assert list(found) == ["additive", "past"]
    assert (found["past"].false_invalidation.hits, found["past"].items) == (1, 2)


def test_no_items_have_no_rate() -> None:
    assert directive_rates([]).repair.value is None
    assert conflict_free([]).false_invalidation.n == 0


def finding(uid: str, **changes: object) -> KeyFindings:
    nothing = KeyFindings(
        uid=uid,
        control=False,
        stale_premise=False,
        true_transition=False,
        true_repair=False,
        false_invalidation=False,
        off_target=0,
        repairs=0,
        verifies=0,
        rewritten=False,
    )
    return nothing.model_copy(update=changes)


def test_key_rates_keep_conflicts_and_controls_apart() -> None:
    found = key_rates(
        {
            "SR": [
                finding("a", stale_premise=True, true_repair=True, rewritten=True),
                finding("a-control", control=True, false_invalidation=True, stale_premise=True),
            ],
            "IPA": [
                finding("a", true_transition=True, verifies=1),
                finding("b", false_invalidation=True),
                finding("b-control", control=True, verifies=1, rewritten=True),
            ],
        }
    )
    assert found.label == KEY_JUDGE_LABEL
    assert (found.stale_premise_recall.hits, found.stale_premise_recall.n) == (2, 3)
    assert [(d, r.hits, r.n) for d, r in found.stale_by_dimension] == [
        ("SR", 1, 1),
        ("PR", 0, 0),
        ("IPA", 1, 2),
    ]
    assert (found.true_change_recall.hits, found.verified_recall.hits) == (2, 1)
    assert (found.off_target_repair.hits, found.off_target_repair.n) == (1, 3)
    assert (found.false_invalidation.hits, found.false_invalidation.n) == (1, 2)
    assert (found.conflicts_rewritten.hits, found.controls_rewritten.hits) == (1, 1)
    assert (found.conflicts_verify.hits, found.controls_verify.hits) == (1, 1)


def test_broken_roles_are_counted() -> None:
    broken = audit().model_copy(update={"failed_open": (Failure(role="adapter", reason="x"),)})
    assert failed_open([broken, audit()]).value == 0.5
