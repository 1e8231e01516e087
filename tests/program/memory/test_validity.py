"""A fact that its store has closed is never what holds now, and its end is evidence."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.changes.standing import without_closed_values
from stateauditor.program.memory import Memory, is_later, parse_timestamp, read_memory
from stateauditor.program.memory.validity import (
    EXPIRES_AT,
    HELD_UNTIL,
    LOWERED,
    RAISED,
    RETIRED_AT,
    ending_of,
)
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.validator import check_transition
from stateauditor.signatures.errors import TimestampError
from stateauditor.signatures.models import (
    CheckStatus,
    Origin,
    Premise,
    Readout,
    Reason,
    RenderedEntry,
    TransitionCandidate,
    Validity,
    Verdict,
)
from stateauditor.signatures.readout import PromptReadout

NOW = parse_timestamp("2024-01-01T12:00:00Z")


def fact(text: str, at: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "timestamp": at, **more}


def validity(record: object) -> Validity:
    return ending_of(record, NOW).validity


# --- what closes a fact ---------------------------------------------------------


@pytest.mark.parametrize("name", [*HELD_UNTIL, *RETIRED_AT, *EXPIRES_AT])
def test_an_end_that_has_come_closes_and_one_to_come_does_not(name: str) -> None:
    past = ending_of({name: "2023-08-01"}, NOW)
    assert (past.validity, str(past.ended)) == (Validity.CLOSED, "2023-08-01")
    for record in ({"metadata": {name: "2023-08-01"}}, SimpleNamespace(**{name: "2023-08-01"})):
        assert ending_of(record, NOW) == past
    assert validity({name: "2024-08-01"}) is Validity.OPEN
    assert validity({name: "2024-01-01"}) is Validity.OPEN, "the day is not over"


@pytest.mark.parametrize(
    "value", [None, "", "null", "present", "9999-12-31", "0001-01-01T00:00:00Z"]
)
def test_an_end_that_is_none_leaves_a_fact_open(value: object) -> None:
    assert validity({"invalid_at": value}) is Validity.OPEN


@pytest.mark.parametrize("name", RAISED)
def test_a_mark_closes_when_it_is_set(name: str) -> None:
    assert validity({name: True}) is Validity.CLOSED
    assert validity({"metadata": {name: "yes"}}) is Validity.CLOSED
    for unset in (None, False, 0, "", "false", [], "0"):
        assert validity({name: unset}) is Validity.OPEN


@pytest.mark.parametrize("name", LOWERED)
def test_a_mark_of_holding_closes_when_it_says_no(name: str) -> None:
    assert validity({name: False}) is Validity.CLOSED
    for holds in (None, True, 1, "true"):
        assert validity({name: holds}) is Validity.OPEN


@pytest.mark.parametrize("state", ["archived", "Superseded", "deleted", "expired"])
def test_a_state_word_closes(state: str) -> None:
    assert validity({"metadata": {"status": state}}) is Validity.CLOSED
    assert validity({"status": "activated"}) is Validity.OPEN


def test_facts_of_ones_own_say_that_they_ended_and_come_back_unchanged() -> None:
    memory = read_memory(
        [fact("a", "2023-01-01", invalid_at="2023-08-01"), fact("b", "2023-02-01", deleted=True)]
    )
    assert [(e.validity, e.ended and str(e.ended)) for e in memory] == [
        (Validity.CLOSED, "2023-08-01"),
        (Validity.CLOSED, None),
    ]
    assert read_memory(list(memory.evidence())) == memory
    assert read_memory([e.model_dump(mode="json") for e in memory.evidence()]) == memory


def test_an_end_that_cannot_be_read_is_named_unless_undated_is_allowed() -> None:
    item = fact("a", "2023-01-01", invalid_at="soon")
    with pytest.raises(TimestampError, match=r"entry 1, field 'invalid_at': 'soon' is no time"):
        read_memory([item])
    (entry,) = read_memory([item], allow_undated=True)
    assert (entry.validity, entry.ended) == (Validity.CLOSED, None)


def test_whether_an_end_has_come_depends_on_when_the_memory_is_read() -> None:
    item = fact("a", "2023-01-01", invalid_at="2023-08-01")
    assert read_memory([item], as_of="2023-07-31").entries[0].validity is Validity.OPEN
    assert read_memory([item], as_of="2023-08-02").entries[0].validity is Validity.CLOSED


# --- the closing as evidence ------------------------------------------------------

days = st.dates().map(str)


@given(st.lists(st.tuples(days, st.none() | days), max_size=6))
def test_each_dated_end_is_evidence_of_its_own_at_its_place_in_time(
    spans: list[tuple[str, str | None]],
) -> None:
    items = [
        fact(f"fact {n}", start, id=f"f{n}", invalid_at=end) for n, (start, end) in enumerate(spans)
    ]
    memory = read_memory(items, allow_undated=True, as_of="2999-12-31")
    evidence = memory.evidence()
    closings = {e.id: e for e in evidence if e.validity is Validity.CLOSING}
    for entry in memory:
        ends_later = entry.ended is not None and (
            entry.timestamp is None or is_later(entry.ended, entry.timestamp)
        )
        assert (f"{entry.id}#closed" in closings) == ends_later
        if ends_later:
            closing = closings[f"{entry.id}#closed"]
            assert (closing.timestamp, closing.text) == (entry.ended, f"No longer: {entry.text}")
    assert [e for e in evidence if e.validity is not Validity.CLOSING] == list(memory)
    dated = [e.timestamp for e in evidence if e.timestamp is not None]
    assert not any(is_later(a, b) for a, b in pairwise(dated))


BANKS = [
    fact("User's bank is Norden.", "2021-02-01"),
    fact("User's bank is Sparkasse.", "2023-02-01", invalid_at="2023-08-01"),
]
HOMES = [
    fact("User lives in Leipzig.", "2021-02-01", invalid_at="2023-08-01"),
    fact("User lives in Ghent now.", "2023-08-01"),
]


def readout_of(memory: Memory, question: str) -> Readout:
    return MemoryIndex.build(memory).retrieve(question)


def test_a_closed_line_and_its_closing_say_so_in_the_prompt() -> None:
    readout = readout_of(read_memory(BANKS), "Which bank do I use?")
    assert PromptReadout.of(readout).model_dump().splitlines() == [
        'E01 [2021-02-01] "User\'s bank is Norden."',
        'E02 [2023-02-01, closed by the store on 2023-08-01] "User\'s bank is Sparkasse."',
        'E03 [2023-08-01, closing by the store] "No longer: User\'s bank is Sparkasse."',
    ]


def candidate(old: str, new: str, old_value: str, new_value: str) -> TransitionCandidate:
    return TransitionCandidate(
        attribute="a",
        old_quote=old,
        new_quote=new,
        old_value=old_value,
        new_value=new_value,
        causal_path=("new", "old"),
    )


def checked(memory: Memory, proposed: TransitionCandidate) -> tuple[Reason, ...]:
    entries = readout_of(memory, f"{proposed.old_quote} {proposed.new_quote}").entries
    return check_transition(proposed, entries, check_id="T01").reasons


def test_a_closed_fact_is_no_new_side_of_a_transition() -> None:
    norden, sparkasse = BANKS[0]["text"], BANKS[1]["text"]
    memory = read_memory(BANKS)
    assert checked(memory, candidate(norden, sparkasse, "Norden", "Sparkasse")) == (
        Reason.CLOSED_NEW,
    )
    open_again = read_memory([*BANKS, fact(sparkasse, "2022-02-01")])
    assert checked(open_again, candidate(norden, sparkasse, "Norden", "Sparkasse")) == ()


def test_a_closed_fact_is_the_old_side_though_its_closing_is_as_late_as_the_new_fact() -> None:
    leipzig, ghent = HOMES[0]["text"], HOMES[1]["text"]
    assert checked(read_memory(HOMES), candidate(leipzig, ghent, "Leipzig", "Ghent")) == ()


def test_a_closing_cannot_be_quoted_as_what_holds_now() -> None:
    quoted = candidate("lives in Leipzig", "No longer: User lives in Leipzig", "Leipzig", "away")
    assert Reason.UNGROUNDED_NEW in checked(read_memory(HOMES[:1]), quoted)


def line(number: int, kind: Validity) -> RenderedEntry:
    return RenderedEntry(
        id=f"E{number:02d}", entry_id=str(number), timestamp=None, text="x", validity=kind
    )


LINES = [line(1, Validity.CLOSED), line(2, Validity.CLOSING), line(3, Validity.OPEN)]


def premise(verdict: Verdict, *evidence: str) -> Premise:
    return Premise(
        text="p", verdict=verdict, current_value="v", origin=Origin.DRAFT, evidence=evidence
    )


@pytest.mark.parametrize(
    ("given_verdict", "evidence", "verdict", "value"),
    [
        (Verdict.STALE, ("E01", "E02"), Verdict.STALE, None),
        (Verdict.STALE, ("E01", "E03"), Verdict.STALE, "v"),
        (Verdict.STALE, (), Verdict.STALE, "v"),
        (Verdict.VALID, ("E01",), Verdict.UNKNOWN, None),
        (Verdict.VALID, ("E03", "E01"), Verdict.VALID, "v"),
        (Verdict.UNKNOWN, ("E02",), Verdict.UNKNOWN, None),
    ],
)
def test_closed_facts_alone_support_no_value_that_holds_now(
    given_verdict: Verdict, evidence: tuple[str, ...], verdict: Verdict, value: str | None
) -> None:
    (judged,) = without_closed_values([premise(given_verdict, *evidence)], LINES)
    assert (judged.verdict, judged.current_value) == (verdict, value)


# --- whole audits, by lexical rules ------------------------------------------------


def test_a_right_draft_on_the_open_fact_is_left_alone() -> None:
    draft = "Use your Norden account for the transfer."
    result = StateAuditor().audit(read_memory(BANKS), "Which bank do I use?", draft)
    assert (result.response, result.directives) == (draft, ())


def test_a_draft_on_the_closed_fact_is_repaired_by_its_successor() -> None:
    result = StateAuditor(policy="repair_only").audit(
        read_memory(HOMES), "What can I do at home?", "Take the Leipzig tram to the lake."
    )
    assert [check.status for check in result.transitions] == [CheckStatus.VERIFIED]
    assert "Ghent" in result.response


def test_a_closed_fact_without_successor_leaves_a_premise_unknown_and_repairs_nothing() -> None:
    draft = "Since you live in Leipzig, take the tram."
    result = StateAuditor().audit(read_memory(HOMES[:1]), "What can I do at home?", draft)
    assert [(p.verdict, p.current_value) for p in result.premises if p.evidence] == [
        (Verdict.UNKNOWN, None)
    ]
    assert result.response == draft
