"""Any number of steps, in any order: one change, or none; checked against a slow reference."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.arbiter import arbitrate
from stateauditor.signatures.models import (
    CheckStatus,
    Directive,
    Origin,
    Policy,
    Premise,
    QuoteMatch,
    Reason,
    Timestamp,
    TransitionCheck,
    Verdict,
)

PLACES = ("Aachen", "Bern", "Cadiz", "Delft", "Exeter", "Fano")


def step(
    old: str,
    new: str,
    day: int,
    kind: str = "verified",
    *,
    attribute: str = "home",
    old_day: int | None = None,
    id: str | None = None,
) -> TransitionCheck:
    """A step whose new value is said on ``day`` of January, and its old one the day before."""
    reasons = {
        "verified": (),
        "settled": (Reason.NOT_MATERIAL,),
        "rejected": (Reason.UNGROUNDED_NEW,),
        "unproven": (Reason.NOT_MATERIAL, Reason.NOT_NEWER),
    }[kind]
    before = day - 1 if old_day is None else old_day
    return TransitionCheck(
        id=id or f"T{day:02d}",
        status=CheckStatus.REJECTED if reasons else CheckStatus.VERIFIED,
        reasons=reasons,
        attribute=attribute,
        old_value=old,
        new_value=new,
        old=said(before),
        new=said(day),
    )


def said(day: int) -> QuoteMatch:
    stamp = Timestamp.model_validate(f"2024-01-{day:02d}")
    return QuoteMatch(entry_id=f"E{day:02d}", timestamp=stamp, quote="q")


def repaired(
    checks: list[TransitionCheck], draft: str = "", premises: list[Premise] | None = None
) -> list[tuple[str | None, str | None]]:
    """(old, current) of each repair; each is informed of as well."""
    fired = arbitrate(premises or [], checks, Policy.REPAIR_ONLY, draft=draft)
    assert len(fired) % 2 == 0
    return [(d.old_value, d.current_value) for d in fired[::2]]


def chain(kinds: str, values: str = "ABCDEF", **more: str) -> list[TransitionCheck]:
    """Steps A -> B, B -> C, ... of kinds v(erified), s(ettled), r(ejected), every third day."""
    names = {"v": "verified", "s": "settled", "r": "rejected", "u": "unproven"}
    places = {place[0]: place for place in PLACES}
    return [
        step(places[values[i]], places[values[i + 1]], 2 + 3 * i, names[kind], **more)
        for i, kind in enumerate(kinds)
    ]


A, B, C, D, E, F = PLACES


@pytest.mark.parametrize(
    ("kinds", "draft", "expected"),
    [
        ("v", "", [(A, B)]),
        ("vv", "", [(A, C)]),
        ("vvv", "", [(A, D)]),
        ("vvvvv", "", [(A, F)]),
        ("vvs", "", []),
        ("vs", "", []),
        ("sv", "", [(B, C)]),
        ("svv", "", [(B, D)]),
        ("vsv", "", [(A, D)]),
        ("ssv", "", [(C, D)]),
        ("vrv", "", [(A, D)]),
        ("rv", "", [(B, C)]),
        ("vr", "", [(A, B)]),
        ("vu", "", [(A, B)]),
        ("r", "", []),
        ("s", "", []),
        ("vv", "You live in Bern, so take the tram.", [(B, C)]),
        ("vv", "You live in Aachen, so take the tram.", [(A, C)]),
        ("svv", "You live in Aachen, so take the tram.", [(A, D)]),
        ("vv", "You live in Cadiz, so walk along the sea.", []),
        ("v", "You don't live in Bern but in Aachen.", [(A, B)]),
    ],
)
def test_a_chain_acts_as_one_change_or_none(
    kinds: str, draft: str, expected: list[tuple[str, str]]
) -> None:
    for order in permutations(chain(kinds)):
        assert repaired(list(order), draft) == expected


def test_a_directive_names_the_steps_and_the_lines_that_it_composes() -> None:
    repair, inform = arbitrate([], chain("vv"), Policy.REPAIR_ONLY)
    assert repair.authority == inform.authority == "transition:T05"
    assert repair.steps == ("T02", "T05")
    assert repair.evidence == ("E01", "E02", "E04", "E05")
    assert Directive.model_validate_json(repair.model_dump_json()) == repair
    old = {"kind": "repair", "attribute": "home", "authority": "transition:T01"}
    assert Directive.model_validate(old).steps == ()  # results of earlier versions


@pytest.mark.parametrize(
    ("draft", "expected"),
    [("", []), ("In Bern, take a boat.", [(B, A)]), ("In Aachen, see the cathedral.", [])],
)
def test_there_and_back_again(draft: str, expected: list[tuple[str, str]]) -> None:
    assert repaired(chain("vv", "ABA"), draft) == expected
    assert repaired(chain("sv", "ABA")) == [(B, A)]
    assert repaired(chain("vs", "ABA")) == []
    assert repaired(chain("vvv", "ABAC")) == [(A, C)]


def test_near_equal_values_and_attributes_are_one() -> None:
    steps = [
        step("Aachen", "lives in Austin, Texas", 2, attribute="home city"),
        step("Austin, TX", "Bern", 5, attribute="user's current residence"),
    ]
    assert repaired(steps) == [("Aachen", "Bern")]
    two = [step("Aachen", "Austin", 2), step("Aachen", "Austin, Texas", 5, attribute="home city")]
    assert repaired(two) == [("Aachen", "Austin, Texas")]
    rivals = [step("Aachen", "Bern", 2), step("Aachen", "Cadiz", 5, attribute="home city")]
    assert repaired(rivals) == [("Aachen", "Cadiz")]
    assert repaired([step("Austin", "Austin, Texas", 5)]) == []


def test_other_attributes_and_other_people_stand_apart() -> None:
    for other in ("job", "sister's home", "my brother's city", "car insurance"):
        both = [step("Aachen", "Bern", 2), step("Aachen", "Cadiz", 5, attribute=other)]
        assert sorted(repaired(both)) == [("Aachen", "Bern"), ("Aachen", "Cadiz")]


def test_side_by_side_steps_of_one_attribute_do_not_compose() -> None:
    """The later one acts; what it replaced was still said after the other one's end."""
    apart = [step("Aachen", "Bern", 6), step("Cadiz", "Delft", 9, old_day=3)]
    assert repaired(apart) == [("Cadiz", "Delft")]


def test_one_finding_of_an_arrival_is_not_undone_by_another_that_is_settled() -> None:
    twice = [step("Aachen", "Bern", 2), step("Aachen", "Bern", 5, "settled")]
    assert repaired(twice) == [("Aachen", "Bern")]


def stale(current: str, *evidence: str, **more: object) -> Premise:
    fields = {"text": "lives in Aachen", "old_value": "Aachen", "attribute": "home"} | more
    return Premise.model_validate(
        {
            **fields,
            "verdict": Verdict.STALE,
            "current_value": current,
            "material": True,
            "origin": fields.get("origin", Origin.DRAFT),
            "evidence": evidence,
        }
    )


def test_of_base_verdicts_on_one_attribute_the_latest_acts() -> None:
    found = [stale("Bern", "E99"), stale("Cadiz", "E100", "E2", attribute="home city")]
    for order in permutations(found):
        assert repaired([], premises=list(order)) == [("Aachen", "Cadiz")]
    (repair, _) = arbitrate(found, [], Policy.REPAIR_ONLY)
    assert repair.evidence == ("E2", "E99", "E100")
    near = [stale("Austin", "E05"), stale("Austin, Texas", "E05", origin=Origin.STATE)]
    assert repaired([], premises=near) == [("Aachen", "Austin")]
    blank = [stale("Bern", "E05", attribute=""), stale("Bern", "E05", origin=Origin.STATE)]
    assert repaired([], premises=blank) == [("Aachen", "Bern")]


def test_base_verdicts_do_not_bring_back_what_a_settled_chain_has_left() -> None:
    settled = chain("vs")
    assert repaired(settled, premises=[stale("Bern", "E02")]) == []
    assert repaired(settled, premises=[stale("Delft", "E02")]) == []
    assert repaired(settled, premises=[stale("Cadiz", "E05")]) == [("Aachen", "Cadiz")]
    later = [stale("Delft", "E09")]
    assert repaired(settled, premises=later) == [("Aachen", "Delft")]


# --- against the reference --------------------------------------------------------

Move = tuple[str, str, int, str]  # old, new, day, kind


def reference(moves: list[Move]) -> list[tuple[str, str]]:
    """What one attribute's moves come to: follow the values back in time, one by one."""
    proven = sorted((m for m in moves if m[3] in ("verified", "settled")), key=lambda m: m[2])
    while len(proven) > 1 and proven[-1][3] == "settled" and proven[-2][:2] == proven[-1][:2]:
        proven.pop()  # one move found twice
    if not proven or proven[-1][3] == "settled":
        return []
    walked = [proven[-1]]
    for move in reversed(proven[:-1]):  # all values here are linked, or far apart in time
        linked = [m for m in proven if m[1] == walked[0][0] and m[2] < walked[0][2]]
        over = [m for m in proven if m[2] < walked[0][2]]
        if move == (linked or over)[-1]:
            walked.insert(0, move)
    material = [move for move in walked if move[3] == "verified"]
    start, end = material[0][0], walked[-1][1]
    return [] if start == end else [(start, end)]


MOVES = st.lists(
    st.tuples(
        st.sampled_from(PLACES),
        st.sampled_from(PLACES),
        st.sampled_from(("verified", "verified", "settled", "rejected", "unproven")),
    ).filter(lambda row: row[0] != row[1]),
    min_size=1,
    max_size=7,
).map(lambda rows: [(old, new, 2 + 3 * n, kind) for n, (old, new, kind) in enumerate(rows)])
LINKED = st.tuples(
    st.lists(st.sampled_from(PLACES), min_size=2, max_size=8).filter(
        lambda values: all(a != b for a, b in pairwise(values))
    ),
    st.lists(st.sampled_from(("verified", "settled", "rejected")), min_size=7, max_size=7),
).map(
    lambda drawn: [
        (drawn[0][n], drawn[0][n + 1], 2 + 3 * n, drawn[1][n]) for n in range(len(drawn[0]) - 1)
    ]
)


def steps_of(moves: list[Move], attribute: str = "home") -> list[TransitionCheck]:
    return [step(old, new, day, kind, attribute=attribute) for old, new, day, kind in moves]


@given(st.one_of(MOVES, LINKED), st.randoms(use_true_random=False))
def test_moves_in_any_order_come_to_what_the_reference_says(
    moves: list[Move], random: object
) -> None:
    steps = steps_of(moves)
    random.shuffle(steps)  # type: ignore[attr-defined]
    assert repaired(steps) == reference(moves)


@given(MOVES, MOVES, st.randoms(use_true_random=False))
def test_attributes_do_not_touch_each_other(
    moves: list[Move], others: list[Move], random: object
) -> None:
    steps = steps_of(moves) + steps_of(others, "job")
    random.shuffle(steps)  # type: ignore[attr-defined]
    both = {*reference(moves), *reference(others)}  # one change under two names is one
    assert sorted(repaired(steps)) == sorted(both)


@given(LINKED, st.integers(0, 6), st.sampled_from(("{}", "lives in {}", "{}, Spain", "the {}.")))
def test_restatements_and_other_wordings_change_nothing(
    moves: list[Move], at: int, wording: str
) -> None:
    steps = steps_of(moves)
    chosen = steps[at % len(steps)]
    reworded = chosen.model_copy(update={"new_value": wording.format(chosen.new_value)})
    again = [reworded if s is chosen else s for s in steps]
    plain = [(old, (new or "").removeprefix("lives in ")) for old, new in repaired(again)]
    plain = [
        (old, new.removesuffix(", Spain").removeprefix("the ").strip(".")) for old, new in plain
    ]
    assert plain == repaired(steps)
    twin = chosen.model_copy(update={"id": "T99"})
    assert repaired([*steps, twin]) == repaired(steps)


@given(MOVES)
def test_one_attribute_fires_at_most_one_repair_between_values_that_differ(
    moves: list[Move],
) -> None:
    fired = repaired(steps_of(moves))
    assert len(fired) <= 1
    for old, current in fired:
        assert old != current
        assert current == [m for m in moves if m[3] in ("verified", "settled")][-1][1]
