"""From wire items to contracts: ids that do not exist, numbers, joint application."""

import pytest

from stateauditor.program.retrieval.merging import relocated, union
from stateauditor.program.roles.adapter import instructions
from stateauditor.program.roles.base import by_number, known_ids
from stateauditor.program.roles.proposer import candidate
from stateauditor.program.roles.timeline import changed, timeline_item
from stateauditor.signatures.models import (
    ChangeStatus,
    Directive,
    DirectiveKind,
    Origin,
    Premise,
    Readout,
    RenderedEntry,
    Timestamp,
    Verdict,
)
from stateauditor.signatures.premises import NumberedPremise
from stateauditor.signatures.proposer import ProposedTransition
from stateauditor.signatures.timeline import TimelineEntry


def line(name: str, entry: str = "f1", start: int = 0, text: str = "text") -> RenderedEntry:
    day = Timestamp.model_validate("2024-01-01")
    return RenderedEntry(id=name, entry_id=entry, timestamp=day, text=text, start=start)


def test_ids_that_do_not_exist_are_left_out() -> None:
    ids = frozenset({"E01", "E02"})
    assert known_ids(["e02", " [E01] ", "E99", "E02", "seventeen"], ids) == ("E02", "E01")


def test_the_first_answer_to_a_number_counts_and_strange_numbers_do_not() -> None:
    items = [NumberedPremise(number=n, text=t) for n, t in [(2, "b"), (0, "x"), (9, "y"), (2, "c")]]
    assert {n: item.text for n, item in by_number(items, 3).items()} == {2: "b"}


@pytest.mark.parametrize(
    ("applies", "pairs", "kept", "material"),
    [
        (["P1"], {"P1"}, (), True),
        (["the reply"], {"P1"}, (), True),
        ([], {"P1"}, (), True),
        (["p2", "P2", "P9"], {"P1", "P2", "P3"}, ("P2",), True),
        ([], {"P1", "P2"}, (), False),
        (["P9"], {"P1", "P2"}, (), False),
    ],
)
def test_a_transition_applies_to_pairs_that_exist(
    applies: list[str], pairs: set[str], kept: tuple[str, ...], material: bool
) -> None:
    found = candidate(ProposedTransition(applies_to=applies), frozenset(pairs))
    assert (found.applies_to, found.material) == (kept, material)


def test_a_change_between_equal_values_is_none() -> None:
    entry = TimelineEntry(
        attribute="home", previous_value="Oslo", current_value="Oslo", status=ChangeStatus.CHANGED
    )
    item = timeline_item(entry, frozenset())
    assert item.status is ChangeStatus.UNCHANGED
    assert changed([item]) == ()


def test_base_audit_directives_carry_the_lines_that_the_verdict_named() -> None:
    premise = Premise(
        text="p",
        verdict=Verdict.STALE,
        current_value="now",
        material=True,
        origin=Origin.DRAFT,
        attribute="home",
        evidence=("E02", "E01"),
    )
    directive = Directive(
        kind=DirectiveKind.REPAIR,
        attribute="home",
        current_value="now",
        authority="base_audit:draft",
    )
    (typed,) = instructions(
        [directive], [premise], [], [line("E01", text="old"), line("E02", text="new")]
    )
    assert typed.evidence == ['2024-01-01: "old"', '2024-01-01: "new"']


def test_a_union_holds_each_line_once_and_keeps_the_pairs() -> None:
    first = Readout(entries=(line("E01"), line("E02", "f2")), pairs=(("E01", "E02"),), tokens=9)
    second = Readout(
        entries=(line("E01", "f2"), line("E02", "f3")), pairs=(("E01", "E02"),), tokens=8
    )
    both = union([first, second])
    assert [entry.entry_id for entry in both.entries] == ["f1", "f2", "f3"]
    assert both.pairs == (("U1", "U2"), ("U2", "U3"))
    assert both.tokens == 17


def test_lines_are_found_again_in_a_wider_readout() -> None:
    narrow = Readout(entries=(line("E01", "f1", 40), line("E02", "f2", 0)))
    wide = Readout(entries=(line("E01", "f1", 0), line("E02", "f1", 30), line("E03", "f2", 0)))
    assert relocated(narrow, wide) == {"E01": "E02", "E02": "E03"}
