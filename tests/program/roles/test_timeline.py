"""The timeline's changes as consistency is tested for them, and verdicts on invented lines."""

from __future__ import annotations

from itertools import permutations

import pytest

from stateauditor.program.roles.premises import UnjudgedPremise, judged_premise
from stateauditor.program.roles.timeline import changed, state_premise, timeline_item
from stateauditor.signatures.models import ChangeStatus, Origin, TimelineItem, Verdict
from stateauditor.signatures.premises import AdjudicatedPremise
from stateauditor.signatures.timeline import ConsistencyFinding, TimelineEntry

LINES = frozenset(f"E{n:02d}" for n in range(1, 101))


def item(
    old: str | None,
    new: str | None,
    *evidence: str,
    status: str = "changed",
    attribute: str = "home",
) -> TimelineItem:
    entry = TimelineEntry(
        attribute=attribute,
        previous_value=old,
        current_value=new,
        status=ChangeStatus(status),
        evidence=list(evidence),
    )
    return timeline_item(entry, LINES)


@pytest.mark.parametrize(
    ("old", "new"),
    [("Ghent", "ghent."), ("the “old” flat", "The old flat"), ("Austin", "Austin, Texas"),
     ("1,040", "1040"), ("unknown", None), (None, None)],
)  # fmt: skip
def test_values_that_differ_in_writing_alone_are_no_change(
    old: str | None, new: str | None
) -> None:
    assert item(old, new).status is ChangeStatus.UNCHANGED


def test_values_that_differ_are_a_change() -> None:
    for old, new in (("Ghent", "Bruges"), (None, "Ghent"), ("in", "out"), ("Ghent", None)):
        assert item(old, new).status is ChangeStatus.CHANGED


def test_each_change_of_a_chain_leads_to_what_holds_now() -> None:
    chain = [item("A1", "B1", "E02"), item("B1", "C1", "E99"), item("C1", "D1", "E100")]
    for order in permutations(chain):
        found = {c.previous_value: c.current_value for c in changed(order)}
        assert found == {"A1": "D1", "B1": "D1", "C1": "D1"}


def test_of_changes_that_contradict_each_other_the_latest_holds() -> None:
    rivals = [item("A1", "C1", "E100"), item("A1", "B1", "E99", attribute="home city")]
    assert [c.current_value for c in changed(rivals)] == ["C1", "C1"]
    apart = [item("A1", "B1", "E02"), item("A1", "C1", "E09", attribute="job")]
    assert [c.current_value for c in changed(apart)] == ["B1", "C1"]


def test_there_and_back_leaves_the_way_back() -> None:
    (back,) = changed([item("A1", "B1", "E02"), item("B1", "A1", "E05")])
    assert (back.previous_value, back.current_value) == ("B1", "A1")


def test_what_is_uncertain_is_tested_and_never_stale() -> None:
    """Section 4.3: UNKNOWN when the required attribute is not established by memory."""
    (unsure,) = changed([item("Ghent", "Bruges", "E05", status="uncertain")])
    assert unsure.current_value is None
    finding = ConsistencyFinding(number=1, verdict=Verdict.STALE, material=True)
    found = state_premise(unsure, finding)
    assert (found.verdict, found.current_value) == (Verdict.UNKNOWN, None)
    assert changed([item("Ghent", "Ghent", status="unchanged")]) == ()


def test_a_change_on_the_word_of_invented_lines_is_uncertain() -> None:
    assert item("Ghent", "Bruges", "E999", "seventeen").status is ChangeStatus.UNCERTAIN
    assert item("Ghent", "Bruges", "E999", "E05").status is ChangeStatus.CHANGED
    assert item("Ghent", "Bruges").status is ChangeStatus.CHANGED


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [(["E999"], Verdict.UNKNOWN), (["E999", "E05"], Verdict.STALE), ([], Verdict.STALE)],
)
def test_stale_on_the_word_of_invented_lines_is_not_established(
    evidence: list[str], verdict: Verdict
) -> None:
    judged = AdjudicatedPremise(
        number=1, verdict=Verdict.STALE, current_value="Bruges", material=True, evidence=evidence
    )
    found = judged_premise(UnjudgedPremise("lives in Ghent", Origin.DRAFT), judged, LINES)
    assert found.verdict is verdict
    assert (found.current_value is None) == (verdict is Verdict.UNKNOWN)
