"""Facts that name the user, or name nobody, are read as facts about "User"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.memory import from_rows, read_memory
from stateauditor.program.memory.naming import as_user


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Kim lives in Ghent", "User lives in Ghent"),
        ("Kim's bank is Norden", "User's bank is Norden"),
        ("In May, Kim moved.", "In May, User moved."),
        ("Sam met Kim", "Sam met User"),
        ("Lives in Ghent", "User lives in Ghent"),
        ("Moved to Ghent in May.", "User moved to Ghent in May."),
        ("Allergic to nuts", "User is allergic to nuts"),
        ("Married to Ana", "User is married to Ana"),
        ("Married Ana in 2020", "User married Ana in 2020"),
    ],
)
def test_the_name_and_the_missing_subject_become_user(text: str, read: str) -> None:
    assert as_user(text, "Kim") == read


@pytest.mark.parametrize(
    "text",
    [
        "Kim Novak starred in it",
        "Lee Kim lives in Ghent",
        "Kimberley lives in Ghent",
        "Anna-Kim lives in Ghent",
        "Sister lives in Ghent",
        "Cats are nice",
        "lives in Ghent, and so on",
        "User lives in Ghent",
        "",
    ],
)
def test_what_may_be_somebody_else_is_left_as_it_is(text: str) -> None:
    assert as_user(text, "Kim") == text


def test_a_name_of_two_words_is_one_name() -> None:
    assert as_user("Kim  Lee lives in Ghent", "Kim Lee") == "User lives in Ghent"
    assert as_user("Kim lives in Ghent", "Kim Lee") == "Kim lives in Ghent"


@given(st.text(max_size=40), st.from_regex(r"\A[A-Z][a-z]{1,8}\Z"))
def test_a_text_is_read_the_same_way_twice(text: str, name: str) -> None:
    once = as_user(text, name)
    assert as_user(once, name) == once or name == "User"


def test_what_a_user_said_is_not_rewritten() -> None:
    said = {"timestamp": "2023-05-20", "turns": [{"role": "user", "content": "Kim lives here"}]}
    assert read_memory([said], user="Kim").entries[0].text == "Kim lives here"


def test_facts_in_other_shapes_are_seen_by_an_audit() -> None:
    rows = [
        {"content": "Kim lives in Leipzig.", "created_at": "2021-02-01"},
        {"content": "Lives in Ghent now.", "created_at": "2023-08-01"},
    ]
    question, draft = "What can I do at home?", "Take the Leipzig tram to the lake."
    audited = StateAuditor(policy="repair_only").audit(from_rows(rows, user="Kim"), question, draft)
    assert "Ghent" in audited.response
