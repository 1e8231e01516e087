"""Whatever a record lacks or has too much of, the message names the uid and the field."""

from __future__ import annotations

from typing import Any

import pytest

from stateauditor.data.records import FIELDS, parse_record
from stateauditor.data.scenario import ChangeType
from stateauditor.signatures.errors import InputError
from tests.data.records import JUDGE_ONLY, as_table_row, record

QUERIES = record()["probing_queries"]
SESSIONS = record()["haystack_session"]
TIMES = record()["timestamps"]


def without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {k: v for k, v in fields.items() if k != name}


def with_turn(**turn: Any) -> list[Any]:
    return [SESSIONS[0], [turn], SESSIONS[2]]


def test_a_good_record_is_split_by_who_may_see_what() -> None:
    item = parse_record(record(type="T2"), "f", 1)
    assert item.type is ChangeType.T2
    assert (item.oracle.old, item.oracle.new) == (0, 2)
    judge = item.judge
    texts = (judge.m_old, judge.m_new, judge.explanation)
    assert tuple(text.reveal() for text in texts) == JUDGE_ONLY
    assert [turn.role for turn in item.scenario.sessions[0].turns] == ["user", "assistant"]


def test_nested_fields_may_be_json_text_at_any_depth() -> None:
    plain = parse_record(record(), "f", 1)
    assert parse_record(as_table_row(record()), "f", 1) == plain
    import json

    sessions = [json.dumps(session) for session in SESSIONS]
    assert parse_record(record(haystack_session=sessions), "f", 1) == plain


BROKEN: list[tuple[str, Any, str]] = [
    ("haystack_session", {}, "must be a list, not an object"),
    ("haystack_session", "nothing", "must be a list, not text"),
    ("haystack_session", "[[{", "cannot be parsed"),
    ("haystack_session", "[" * 100_000, "cannot be parsed"),
    ("haystack_session", [], "at least one session"),
    ("haystack_session[1]", [SESSIONS[0], None, SESSIONS[2]], "must be a list, not null"),
    ("haystack_session[1][0]", [SESSIONS[0], ["hello"], SESSIONS[2]], "must be an object"),
    ("haystack_session[1][0].role", with_turn(content="x"), "is missing"),
    ("haystack_session[1][0].content", with_turn(role="user"), "is missing"),
    ("haystack_session[1][0].role", with_turn(role="system", content="x"), "user, assistant"),
    ("haystack_session[1][0].role", with_turn(role=None, content="x"), "must be text, not null"),
    ("haystack_session[1][0].content", with_turn(role="user", content=3), "not a number"),
    (
        "haystack_session[1][0].has_answer",
        with_turn(role="user", content="x", has_answer=True),
        "is unknown",
    ),
    ("timestamps", TIMES[:2], "2 times for 3 sessions"),
    ("timestamps", None, "must be a list, not null"),
    ("timestamps[1]", [TIMES[0], "2025-02-01", TIMES[2]], "YYYY-MM-DD HH:MM"),
    ("timestamps[1]", [TIMES[0], "2025-02-30 09:00", TIMES[2]], "YYYY-MM-DD HH:MM"),
    ("timestamps[1]", [TIMES[0], "2025-2-1 9:00", TIMES[2]], "YYYY-MM-DD HH:MM"),
    ("timestamps[1]", [TIMES[0], "２025-02-01 09:00", TIMES[2]], "YYYY-MM-DD HH:MM"),
    ("timestamps[1]", [TIMES[0], True, TIMES[2]], "not true or false"),
    ("timestamps[1]", [TIMES[0], TIMES[0], TIMES[2]], "must rise"),
    ("timestamps[2]", [TIMES[0], TIMES[2], TIMES[1]], "must rise"),
    ("probing_queries", [], "must be an object, not a list"),
    ("probing_queries.dim2_query", without(QUERIES, "dim2_query"), "is missing"),
    ("probing_queries.dim4_query", {**QUERIES, "dim4_query": "x"}, "is unknown"),
    ("probing_queries.dim3_query", {**QUERIES, "dim3_query": " "}, "must not be empty"),
    ("M_old", None, "must be text, not null"),
    ("M_new", "", "must not be empty"),
    ("explanation", ["x"], "must be text, not a list"),
    ("relevant_session_index", [0], "must hold two places"),
    ("relevant_session_index", [0, 1, 2], "must hold two places"),
    ("relevant_session_index", [2, 0], "the old session must come before"),
    ("relevant_session_index", [1, 1], "the old session must come before"),
    ("relevant_session_index[1]", [0, 3], "beyond the 3 sessions"),
    ("relevant_session_index[0]", [-1, 2], "must not be negative"),
    ("relevant_session_index[0]", [True, 2], "must be a whole number, not true or false"),
    ("relevant_session_index[1]", [0, "2"], "must be a whole number, not text"),
    ("type", "T3", "must be one of T1, T2"),
    ("type", 1, "must be text, not a number"),
]


@pytest.mark.parametrize(("field", "value", "problem"), BROKEN)
def test_a_broken_field_is_named_with_the_uid(field: str, value: Any, problem: str) -> None:
    name = field.replace("[", ".").partition(".")[0]
    with pytest.raises(InputError) as caught:
        parse_record(record("the-uid", **{name: value}), "some.json", 7)
    message = str(caught.value)
    assert message.startswith(f"some.json: record 7 (uid 'the-uid'), field '{field}': ")
    assert problem in message


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "uid"])
def test_every_field_is_required(name: str) -> None:
    with pytest.raises(InputError, match=rf"uid 'the-uid'\), field '{name}': is missing"):
        parse_record(without(record("the-uid"), name), "f", 1)


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(InputError, match=r"uid 'u1'\), field 'hint': is unknown"):
        parse_record(record(hint="x"), "f", 1)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (without(record(), "uid"), "field 'uid': is missing"),
        (record(uid=5), "field 'uid': must be text"),  # type: ignore[arg-type]
        (record(uid=" "), "field 'uid': must not be empty"),
        ("nonsense", "must be an object, not text"),
        (3.5, "must be an object, not a number"),
        (b"x", "not a value of type bytes"),
    ],
)
def test_a_record_without_a_uid_is_named_by_its_number(raw: Any, problem: str) -> None:
    with pytest.raises(InputError, match=rf"f: record 9, which has no uid.*{problem}"):
        parse_record(raw, "f", 9)


def test_no_message_quotes_a_judges_text() -> None:
    for changes in ({"M_old": ["OLD-STATE"]}, {"extra": "OLD-STATE"}, {"type": "OLD-STATE"}):
        with pytest.raises(InputError) as caught:
            parse_record(record(**changes), "f", 1)
        assert "OLD-STATE" not in str(caught.value)


def test_halves_of_emoji_become_replacement_characters() -> None:
    turns = [[{"role": "user", "content": "hi \ud83d"}], *SESSIONS[1:]]
    item = parse_record(record(haystack_session=turns), "f", 1)
    assert item.scenario.sessions[0].turns[0].content == "hi \ufffd"
