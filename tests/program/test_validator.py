"""The five rules: each one alone rejects, and every failed one is recorded."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.grounding.values import is_missing, plain_value, same_value
from stateauditor.program.validator import check_transition, check_transitions, follows
from stateauditor.signatures.models import (
    CheckStatus,
    EntryRole,
    Reason,
    RenderedEntry,
    Timestamp,
    TransitionCandidate,
    TransitionCheck,
)

OLD = "I've rented the same one-bedroom in Denver for four years."
NEW = "The garbage truck on my block in Milwaukee rolls through at 5:40 every Tuesday."


def entry(
    text: str, id: str = "E01", day: str | None = "2024-01-01", **more: object
) -> RenderedEntry:
    stamp = None if day is None else Timestamp.model_validate(day)
    return RenderedEntry.model_validate(
        {"id": id, "entry_id": f"m-{id}", "timestamp": stamp, "text": text, **more}
    )


ENTRIES = (
    entry(OLD, "E01", "2024-01-01"),
    entry("My sister has two cats and a garden.", "E02", "2024-02-01"),
    entry(NEW, "E03", "2024-03-01"),
)
GOOD = TransitionCandidate(
    attribute="home city",
    old_value="lives in Denver",
    new_value="lives in Milwaukee",
    old_quote="rented the same one-bedroom in Denver for four years",
    new_quote="“The garbage truck on my block in Milwaukee…”",
    causal_path=("block in Milwaukee", "home in Milwaukee"),
)


def check(
    entries: tuple[RenderedEntry, ...] = ENTRIES, pair: str | None = None, **changes: object
) -> TransitionCheck:
    candidate = GOOD.model_copy(update=changes)
    return check_transition(candidate, entries, check_id="T01", pair=pair)


def reasons(*args: object, **changes: object) -> tuple[Reason, ...]:
    found = check(*args, **changes)  # type: ignore[arg-type]
    assert (found.status is CheckStatus.VERIFIED) == (not found.reasons)
    return found.reasons


def test_a_good_candidate_is_verified_with_dated_evidence() -> None:
    found = check()
    assert found.status is CheckStatus.VERIFIED
    assert (found.old.entry_id, found.new.entry_id) == ("E01", "E03")
    assert (str(found.old.timestamp), str(found.new.timestamp)) == ("2024-01-01", "2024-03-01")
    assert found.new.quote == "The garbage truck on my block in Milwaukee"
    assert OLD[found.old.start : found.old.end] == found.old.quote
    assert TransitionCheck.model_validate_json(found.model_dump_json()) == found


# --- rule 1: grounding ------------------------------------------------------


def test_ungrounded_quotations() -> None:
    assert reasons(old_quote="lives in a small Denver flat") == (Reason.UNGROUNDED_OLD,)
    assert reasons(new_quote="") == (Reason.UNGROUNDED_NEW,)
    assert reasons(old_quote="the", new_quote="of") == (
        Reason.UNGROUNDED_OLD,
        Reason.UNGROUNDED_NEW,
    )
    assert check(old_quote="paraphrased").old.quote == "paraphrased"


def test_a_quotation_across_entries() -> None:
    across = "rented the same one-bedroom garbage truck on my block in Milwaukee rolls"
    assert reasons(new_quote=across) == (Reason.UNGROUNDED_NEW, Reason.CROSS_ENTRY)
    assert reasons(old_quote=across) == (Reason.UNGROUNDED_OLD, Reason.CROSS_ENTRY)


def test_altered_numbers_and_negations() -> None:
    assert reasons(new_quote=NEW.replace("5:40", "5:45")) == (Reason.UNGROUNDED_NEW,)
    assert reasons(old_quote="not rented the same one-bedroom in Denver") == (
        Reason.UNGROUNDED_OLD,
    )


def test_only_the_user_and_stored_facts_are_evidence() -> None:
    """B16: what the assistant said proves nothing about the user."""
    heard = tuple(
        e.model_copy(update={"role": EntryRole.ASSISTANT}) if e.id == "E03" else e for e in ENTRIES
    )
    assert reasons(heard) == (Reason.UNGROUNDED_NEW,)
    stored = tuple(e.model_copy(update={"role": EntryRole.FACT}) for e in ENTRIES)
    assert reasons(stored) == ()


def test_the_question_and_the_draft_are_not_evidence() -> None:
    assert reasons(new_quote="setting up utilities in my new Austin flat") == (
        Reason.UNGROUNDED_NEW,
    )


# --- rule 2: chronology -----------------------------------------------------


def two(old_day: str | None, new_day: str | None, **more: object) -> tuple[RenderedEntry, ...]:
    return (entry(OLD, "E01", old_day, turn=1, **more), entry(NEW, "E02", new_day, turn=2, **more))


@pytest.mark.parametrize(
    ("old_day", "new_day", "later"),
    [
        ("2024-01-01", "2024-01-02", True),
        ("2024-01-02", "2024-01-01", False),
        ("2024-01-01", "2024-01-01", False),
        ("2024-01-01", "2024-01-01T09:00Z", False),
        ("2024-01-01T09:00Z", "2024-01-01", False),
        ("2024-01-01T09:00Z", "2024-01-01T09:01Z", True),
        ("2024-01-01T09:00Z", "2024-01-01T09:00:30Z", False),
        (None, "2024-01-01", False),
        ("2024-01-01", None, False),
        (None, None, False),
    ],
)
def test_the_new_entry_must_be_later(old_day: str | None, new_day: str | None, later: bool) -> None:
    """B19, B27, B29: precision, unknown times and ties."""
    assert reasons(two(old_day, new_day)) == (() if later else (Reason.NOT_NEWER,))


def test_zones_are_compared_as_instants() -> None:
    """B19: a local time with an offset is an instant like any other."""
    from datetime import datetime, timedelta, timezone

    west = datetime(2024, 1, 1, 23, 0, tzinfo=timezone(timedelta(hours=-7)))
    new = Timestamp.model_validate({"instant": west, "precision": "minute"})
    old, late = two("2024-01-02T05:30Z", None)
    assert reasons((old, late.model_copy(update={"timestamp": new}))) == ()


def test_turn_order_decides_a_tie_inside_one_session() -> None:
    """B29: only there, and never inside one turn."""
    assert reasons(two("2024-01-01", "2024-01-01", session="s1")) == ()
    assert reasons(two("2024-01-01T09:00Z", "2024-01-01T09:00Z", session="s1")) == ()
    old, new = two("2024-01-01", "2024-01-01", session="s1")
    assert not follows(old, new)
    assert not follows(new.model_copy(update={"turn": 1}), old)
    assert not follows(new.model_copy(update={"session": "s2"}), old)
    assert not follows(new.model_copy(update={"turn": None}), old)
    assert not follows(new, old.model_copy(update={"turn": None}))
    assert reasons(two(None, None, session="s1")) == (Reason.NOT_NEWER,)


def test_a_restated_old_value_blocks_its_replacement() -> None:
    """B5, B12: the old value counts as said when it was said last, recap or not."""
    recap = entry("To recap: " + OLD, "E04", "2024-04-01")
    assert reasons((*ENTRIES, recap)) == (Reason.NOT_NEWER,)
    assert reasons(old_quote=OLD, new_quote=OLD, new_value="lives in Denver") == (
        Reason.NOT_NEWER,
        Reason.SAME_VALUE,
    )


def test_no_time_is_compared_for_an_ungrounded_quotation() -> None:
    assert Reason.NOT_NEWER not in reasons(
        two("2024-01-02", "2024-01-01"), new_quote="no such words"
    )


# --- rule 3: values ---------------------------------------------------------


@pytest.mark.parametrize(
    "blank", ["", "  ", "Unknown", "n/a", "None.", "—", "not specified", "\u200b"]
)
def test_missing_values(blank: str) -> None:
    assert reasons(old_value=blank) == (Reason.MISSING_VALUE,)
    assert reasons(new_value=blank) == (Reason.MISSING_VALUE,)
    assert is_missing(blank)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Denver", " denver.", True),
        ("the part-time job", "part time job", True),
        ("1,040", "1040", True),
        ("“night owl”", "Night Owl", True),
        ("doesn't smoke", "doesn’t smoke", True),
        ("3.5", "35", False),
        ("-5", "5", False),
        ("C++", "C#", False),
        ("$80", "€80", False),
        ("in", "out", False),
        ("👍", "👎", False),
        ("grade A", "grade B", False),
    ],
)
def test_same_values(one: str, other: str, same: bool) -> None:
    assert same_value(one, other) is same
    assert reasons(old_value=one, new_value=other) == ((Reason.SAME_VALUE,) if same else ())


@given(st.text(max_size=30))
def test_plain_values_are_stable(text: str) -> None:
    assert same_value(text, text.upper().lower()) or text.lower() != text.casefold()
    assert same_value(text, f" “{text}” ") or not plain_value(text)


# --- rules 4 and 5 ----------------------------------------------------------


def test_materiality() -> None:
    assert reasons(material=False) == (Reason.NOT_MATERIAL,)
    assert reasons(pair="P1", applies_to=("P2", "P3")) == (Reason.NOT_MATERIAL,)
    assert reasons(pair="P1", applies_to=("P2", " p1 ")) == ()
    assert reasons(pair="P1", applies_to=()) == ()
    assert reasons(applies_to=("P2",)) == ()


@pytest.mark.parametrize("path", [(), ("one",), ("one", "One."), ("one", " "), ("…", "-", "one")])
def test_short_paths(path: tuple[str, ...]) -> None:
    assert reasons(causal_path=path) == (Reason.SHORT_PATH,)


# --- together ---------------------------------------------------------------


def test_every_failed_rule_is_recorded_in_order() -> None:
    blank = TransitionCandidate(material=False)
    found = check_transition(blank, ENTRIES, check_id="T07")
    assert found.id == "T07"
    assert found.reasons == (
        Reason.UNGROUNDED_OLD,
        Reason.UNGROUNDED_NEW,
        Reason.MISSING_VALUE,
        Reason.NOT_MATERIAL,
        Reason.SHORT_PATH,
    )
    assert check(
        old_quote=GOOD.new_quote,
        new_quote=GOOD.old_quote,
        new_value="Lives in Denver",
        causal_path=(),
    ).reasons == (Reason.NOT_NEWER, Reason.SAME_VALUE, Reason.SHORT_PATH)


def test_shared_words_are_no_shared_attribute() -> None:
    """B1, B2: provenance holds in both, so the gate alone lets them pass; a documented limit."""
    entries = (
        entry("Ana is CTO at Acme", "E01"),
        entry("Ana administers the code organisation of Acme", "E02", "2024-02-01"),
    )
    found = check(
        entries,
        attribute="role of Ana",
        old_value="CTO",
        new_value="administrator",
        old_quote="Ana is CTO at Acme",
        new_quote="Ana administers the code organisation of Acme",
    )
    assert found.status is CheckStatus.VERIFIED
    tools = (entry("Bun for testing", "E01"), entry("Bun as runtime", "E02", "2024-02-01"))
    same = {"old_value": "Bun", "new_value": "bun", "old_quote": "Bun for testing"}
    assert reasons(tools, new_quote="Bun as runtime", **same) == (Reason.SAME_VALUE,)


def test_lone_surrogates_do_not_leave() -> None:
    """B37: the finding encodes as UTF-8 whatever the proposer wrote."""
    bad = {"attribute": "a\ud83d", "old_quote": "b\ud83d", "causal_path": ("c\ud83d", "d")}
    found = check(**bad)
    assert found.attribute == "a\ufffd"
    found.model_dump_json().encode()


def test_ids_follow_the_candidates() -> None:
    checks = check_transitions([GOOD, TransitionCandidate(), GOOD], ENTRIES)
    assert [c.id for c in checks] == ["T01", "T02", "T03"]
    assert [c.status.value for c in checks] == ["verified", "rejected", "verified"]
    assert check_transitions([], ENTRIES) == ()
    with pytest.raises(ValueError, match="threshold"):
        check_transitions([GOOD], ENTRIES, threshold=0)


# --- properties -------------------------------------------------------------

VALUES = ("Denver", "Milwaukee", "Austin", "Boston")
DAYS = (None, "2024-01-01", "2024-01-01T09:00Z", "2024-01-02", "2024-01-02T10:00Z")

MEMORY = st.lists(
    st.tuples(
        st.sampled_from(VALUES),
        st.sampled_from(DAYS),
        st.sampled_from((None, "s1", "s2")),
        st.integers(0, 3),
        st.sampled_from(list(EntryRole)),
    ),
    min_size=2,
    max_size=6,
).map(
    lambda rows: tuple(
        entry(f"I rent a sunny flat in {city}", f"E{n:02d}", day, session=s, turn=t, role=role)
        for n, (city, day, s, t, role) in enumerate(rows, start=1)
    )
)
CANDIDATE = st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES)).map(
    lambda pair: GOOD.model_copy(
        update={
            "old_value": pair[0],
            "new_value": pair[1],
            "old_quote": f"a sunny flat in {pair[0]}",
            "new_quote": f"rent a “sunny” flat in {pair[1].upper()}",
        }
    )
)


@given(MEMORY, CANDIDATE, st.randoms(use_true_random=False))
def test_any_order_of_entries_gives_the_same_checks(
    entries: tuple[RenderedEntry, ...], candidate: TransitionCandidate, random: object
) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert check_transitions([candidate], shuffled) == check_transitions([candidate], entries)


@given(MEMORY, CANDIDATE)
def test_swapping_the_quotations_of_an_accepted_candidate_rejects(
    entries: tuple[RenderedEntry, ...], candidate: TransitionCandidate
) -> None:
    if check_transition(candidate, entries, check_id="T01").status is CheckStatus.VERIFIED:
        swapped = candidate.model_copy(
            update={"old_quote": candidate.new_quote, "new_quote": candidate.old_quote}
        )
        assert Reason.NOT_NEWER in check_transition(swapped, entries, check_id="T01").reasons


@given(MEMORY)
def test_later_is_a_strict_order_of_two(entries: tuple[RenderedEntry, ...]) -> None:
    for one, other in permutations(entries, 2):
        assert not (follows(one, other) and follows(other, one))
    assert not any(follows(e, e) for e in entries)
