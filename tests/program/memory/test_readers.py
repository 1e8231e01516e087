"""Any accepted shape, in any order, gives the same dated and totally ordered memory."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.memory import Memory, load_memory, parse_memory_text, read_memory
from stateauditor.signatures.errors import InputError, TimestampError
from stateauditor.signatures.models import EntryRole, MemoryEntry


def fact(text: str = "I live in Seattle", at: object = "2023-05-20", **more: Any) -> dict[str, Any]:
    return {"timestamp": at, "text": text, **more}


def turn(content: object, role: object = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def session(*turns: object, at: object = "2023-05-20", **more: Any) -> dict[str, Any]:
    return {"timestamp": at, "turns": list(turns), **more}


def ids(memory: Memory) -> list[str]:
    return [entry.id for entry in memory]


def times(memory: Memory) -> list[str]:
    return [str(entry.timestamp) for entry in memory]


def message(data: object, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_memory(data, **options)
    return str(caught.value)


# --- shapes -----------------------------------------------------------------


def test_facts_and_sessions_mix_and_come_out_oldest_first() -> None:
    memory = read_memory(
        [
            session(turn("Hi"), turn("Hello", "assistant"), at="2023-05-21 09:00", id="talk"),
            fact("I live in Austin", "2023-06-01"),
            fact("I live in Seattle", "2023-05-20", id="home", source="notes"),
        ]
    )
    assert ids(memory) == ["home", "talk.0", "talk.1", "f01"]
    assert [entry.role for entry in memory] == [
        EntryRole.FACT,
        EntryRole.USER,
        EntryRole.ASSISTANT,
        EntryRole.FACT,
    ]
    assert (memory.entries[1].session, memory.entries[1].turn) == ("talk", 0)
    assert (memory.entries[0].session, memory.entries[0].turn) == (None, None)


def test_an_empty_list_is_an_empty_memory() -> None:
    assert read_memory([]) == Memory()


def test_a_memory_comes_back_as_it_is() -> None:
    memory = read_memory([fact(at=None)], allow_undated=True)
    assert read_memory(memory) is memory


def test_entries_and_their_json_form_are_read_back_unchanged() -> None:
    memory = read_memory(
        [session(turn("Hi"), turn("You may like Austin", "assistant"), id=3), fact()]
    )
    assert read_memory(list(reversed(memory.entries))) == memory
    assert read_memory([entry.model_dump(mode="json") for entry in memory]) == memory


def test_what_an_assistant_said_does_not_come_back_as_a_fact() -> None:
    """B16: a stored suggestion is no evidence about the user."""
    memory = read_memory([fact(role="assistant"), fact("x", role="system")])
    assert [entry.role for entry in memory] == [EntryRole.ASSISTANT]
    assert memory.evidence() == ()


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (None, "not null"),
        ("text", "not text"),
        (7, "not a number"),
        (True, "not true or false"),
        (object(), "not a value of type object"),
        ({}, "not a single object"),
        ({"memory": []}, "pass the list under 'memory'"),
        (fact(), "put the fact in a list"),
        (session(), "put the session in a list"),
        ({"results": []}, "from_mem0"),
        ({"haystack_sessions": []}, "from_longmemeval"),
        ({"haystack_session": []}, "lacks 'timestamps'"),
    ],
)
def test_another_shape_is_refused_with_a_hint(data: object, hint: str) -> None:
    assert hint in message(data)


# --- turns ------------------------------------------------------------------


@pytest.mark.parametrize("role", ["user", "human", "user_agent", "User", " USER "])
def test_names_for_the_user(role: str) -> None:
    assert read_memory([session(turn("Hi", role))]).entries[0].role is EntryRole.USER


@pytest.mark.parametrize("role", ["assistant", "ai", "ai_agent", "bot", "model"])
def test_names_for_the_assistant(role: str) -> None:
    assert read_memory([session(turn("Hi", role))]).entries[0].role is EntryRole.ASSISTANT


@pytest.mark.parametrize("role", ["system", "developer", "tool", "function"])
def test_dropped_turns_keep_their_place_in_the_count(role: str) -> None:
    memory = read_memory([session({"role": role}, turn(" \n"), turn(None), turn("Hi"), id="s")])
    assert [(entry.id, entry.turn) for entry in memory] == [("s.3", 3)]


def test_text_parts_are_joined_and_the_others_skipped() -> None:
    parts = [
        "I moved",
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "to Austin"},
        {"type": "text", "text": {"value": "in May"}},
        {"type": "text", "text": None},
        {"type": "tool_use", "text": "not said"},
        5,
    ]
    assert read_memory([session(turn(parts))]).entries[0].text == "I moved\nto Austin\nin May"


def test_a_turns_own_time_overrides_the_sessions_and_holds_for_those_after_it() -> None:
    memory = read_memory(
        [
            session(
                turn("a"),
                turn("b", timestamp="2023-05-20 10:05"),
                turn("c", "assistant"),
                at="2023-05-20 10:00",
            )
        ]
    )
    assert times(memory) == ["2023-05-20T10:00Z", "2023-05-20T10:05Z", "2023-05-20T10:05Z"]


def test_a_session_needs_no_time_where_its_turns_have_theirs() -> None:
    turns = [turn("a", timestamp="2023-05-20 10:05"), turn("b")]
    assert times(read_memory([{"turns": turns}])) == ["2023-05-20T10:05Z"] * 2
    assert "field 'timestamp': is missing" in message([{"turns": turns[::-1]}])
    assert "field 'timestamp': is missing" in message([{"turns": []}])


# --- order and ids ----------------------------------------------------------


def test_equal_times_are_ordered_by_natural_ids() -> None:
    """B29: a total order, also among equal times; integers are ids."""
    memory = read_memory([session(turn("x"), id=number) for number in (10, 2, 1)])
    assert ids(memory) == ["1.0", "2.0", "10.0"]
    long = "9" * 5000
    assert ids(read_memory([fact(id=long), fact(id="10"), fact(id="010")])) == ["010", "10", long]


def test_generated_ids_follow_time_and_content_and_avoid_given_ones() -> None:
    memory = read_memory(
        [
            fact("c", "2023-05-23"),
            fact("b", "2023-05-21"),
            fact("a", "2023-05-21"),
            fact("given", "2023-05-20", id="f02"),
            fact("dotted", "2023-05-20", id="s01.0"),
            session(turn("x"), at="2023-05-22"),
            session(turn("y"), at="2023-05-24"),
            MemoryEntry(
                id="e", timestamp=None, text="z", role=EntryRole.USER, session="s03", turn=0
            ),
        ],
        allow_undated=True,
    )
    by_text = {entry.text: entry.id for entry in memory}
    assert (by_text["a"], by_text["b"], by_text["c"]) == ("f01", "f03", "f04")
    assert (by_text["x"], by_text["y"]) == ("s02.0", "s04.0")


def test_a_later_fact_renames_no_earlier_one() -> None:
    many = [fact(f"fact {n}", f"2023-05-{n % 28 + 1:02d}") for n in range(99)]
    before = read_memory(many)
    after = read_memory([*many, fact("new", "2023-06-01")])
    assert after.entries[:-1] == before.entries
    assert after.entries[-1].id == "f100"


def test_times_inside_the_text_do_not_order() -> None:
    """B22: the time that is stored with an entry wins over times in its text."""
    memory = read_memory([fact("2023-05-20 18:00 moved", "2023-05-20 10:00"), fact("x")])
    assert [entry.text for entry in memory] == ["x", "2023-05-20 18:00 moved"]


# Only a handful of values for every field, so that ties are the rule.
some_times = st.sampled_from(
    ["2023-05-20", "2023-05-20 10:00", "2023-05-20T10:00:00Z", "2023-05-21", 1684576800, None, "?"]
)
some_texts = st.sampled_from(["a", "b", "\ud83d", "10", "2"])
roles = st.sampled_from(["user", "bot", "system"])
some_turns = st.lists(
    st.builds(turn, some_texts | st.just(" "), roles)
    | st.builds(lambda c, at: turn(c, timestamp=at), some_texts, some_times),
    max_size=3,
)
some_items = st.lists(
    st.builds(fact, some_texts, some_times)
    | st.builds(
        lambda text, at, n: fact(text, at, role="user", turn=n),
        some_texts,
        some_times,
        st.sampled_from([None, 0, 1]),
    )
    | st.builds(lambda turns, at: session(*turns, at=at), some_turns, some_times),
    max_size=7,
)
given_ids = st.lists(
    st.sampled_from(["1", "01", "2", "10", "f01", "s01", "s02.0", "f02"]), unique=True, max_size=3
)


@given(some_items, given_ids, st.randoms(use_true_random=False))
def test_any_permutation_gives_the_identical_memory(
    items: list[dict[str, Any]], names: list[str], random: Any
) -> None:
    """B28, B29: shuffling changes nothing, ids included."""
    for item, name in zip(items, names, strict=False):
        item["id"] = name
    memory = read_memory(items, allow_undated=True)
    shuffled = list(items)
    random.shuffle(shuffled)
    assert read_memory(shuffled, allow_undated=True) == memory
    assert len(set(ids(memory))) == len(memory)
    assert read_memory(list(memory.entries), allow_undated=True) == memory


# --- unknown times ----------------------------------------------------------


@pytest.mark.parametrize("at", [None, "", "yesterday", float("nan"), "05/06/2023"])
def test_an_unknown_time_is_an_error_unless_allowed_and_then_comes_first(at: object) -> None:
    """B27, B30: neither now nor the last place, whatever was written."""
    items = [fact("dated"), fact("undated", at), session(turn("said"), at=at)]
    with pytest.raises(TimestampError, match=r"entry 2, field 'timestamp'"):
        read_memory(items)
    memory = read_memory(items, allow_undated=True)
    assert [entry.text for entry in memory] == ["undated", "said", "dated"]
    assert [entry.text for entry in memory.undated()] == ["undated", "said"]


def test_an_undated_entry_object_is_an_error_unless_allowed() -> None:
    entry = MemoryEntry(id="e", timestamp=None, text="x")
    assert "entry 1 (id 'e'), field 'timestamp': is missing" in message([entry])
    assert read_memory([entry], allow_undated=True).entries == (entry,)


# --- text -------------------------------------------------------------------


def test_lone_surrogates_are_replaced_and_the_rest_is_kept() -> None:
    """B37: half an emoji costs one character, not the memory."""
    memory = parse_memory_text(
        r'[{"id": "x\ud83d", "timestamp": "2023-05-20", "text": "I moved \ud83d to Austin"},'
        r' {"timestamp": "2023-05-20", "turns": [{"role": "user", "content": "\ude00 \ud83d\ude00"}'
        r"]}]"
    )
    assert [entry.text for entry in memory] == ["� 😀", "I moved � to Austin"]
    assert ids(memory) == ["s01.0", "x�"]
    for entry in memory:
        entry.model_dump_json().encode("utf-8")


def test_a_huge_entry_is_kept_whole_and_fast() -> None:
    """B42: nothing is cut while reading, neither the head nor the newest turn."""
    huge = "word " * 40_000
    started = time.perf_counter()
    memory = read_memory([session(turn(huge + "end"), turn("last")), fact(huge), fact(huge)])
    assert time.perf_counter() - started < 2
    assert sorted(len(entry.text) for entry in memory) == [4, 200_000, 200_000, 200_003]


# --- problems ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "what"),
    [
        ("I moved", "entry 1: a fact or session is an object, not text"),
        ({"id": "a"}, "entry 1 (id 'a'): has neither 'text' (a fact) nor 'turns'"),
        ({"content": "x", "role": "user"}, "messages go inside a session's 'turns'"),
        (fact(turns=[]), "has both 'text' and 'turns'"),
        (fact(id=True), "entry 1, field 'id': must be non-empty text or an integer, not True"),
        (fact(id=""), "entry 1, field 'id': must be non-empty text"),
        (fact(id=1.5), "entry 1, field 'id'"),
        (fact(7), "entry 1, field 'text': must be text, not a number"),  # type: ignore[arg-type]
        (fact(" "), "entry 1, field 'text': is empty"),
        (fact(role="user", turn=-1), "field 'turn': must count from 0, not -1"),
        (fact(role="alien"), "field 'role': 'alien' is unknown; known: user, human"),
        (session(id=5) | {"turns": "x"}, "entry 1 (id '5'), field 'turns': must be a list"),
        (session("Hi"), "field 'turns[0]': must be an object, not text"),
        (
            session(turn("a"), turn("x", "alien"), id="s"),
            "(id 's'), field 'turns[1].role': 'alien'",
        ),
        (session({"content": "x"}), "field 'turns[0].role': is missing; known: user"),
        (session({"role": "user"}), "field 'turns[0].content': is missing"),
        (session(turn(7)), "field 'turns[0].content': must be text, a list of parts or null"),
        (session(turn("x", timestamp="later")), "field 'turns[0].timestamp': 'later' is no time"),
    ],
)
def test_a_problem_names_position_id_and_field(item: object, what: str) -> None:
    assert what in message([item])


def test_all_problems_are_reported_at_once_and_the_text_of_none() -> None:
    told = message([fact(at="soon"), fact(" "), "my secret", fact(id="a"), fact("x", id="a")])
    assert [f"entry {n}" in told for n in (1, 2, 3, 4, 5)] == [True] * 5
    assert "entry 5 (id 'a'): has the same id as entry 4 (id 'a')" in told
    assert "accepted times: YYYY-MM-DD" in told
    assert "secret" not in told


def test_times_alone_are_a_timestamp_error_and_a_long_list_is_cut() -> None:
    with pytest.raises(TimestampError) as caught:
        read_memory([fact(at="soon") for _ in range(25)])
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 + 20 + 1 + 1
    assert lines[-2].strip() == "and 5 more"
    with pytest.raises(InputError) as mixed:
        read_memory([fact(at="soon"), fact(" ")])
    assert not isinstance(mixed.value, TimestampError)


def test_two_items_with_one_id_are_refused_unless_they_are_the_same() -> None:
    assert "entry 3 (id '7'): has the same id as entry 1 (id '7')" in message(
        [fact(id=7), fact("x"), fact("y", id="7")]
    )
    twice = [fact(id=7), session(turn("Hi"), id="s"), fact(id="7"), session(turn("Hi"), id="s")]
    assert read_memory(twice) == read_memory(twice[:2])


@given(st.permutations(range(3)))
def test_a_session_that_was_exported_again_after_it_grew_stands_once(order: list[int]) -> None:
    grown = [session(*map(turn, "abc"[:size]), id="s") for size in (1, 2, 3)]
    assert read_memory([grown[place] for place in order]) == read_memory([grown[2]])
    other = session(turn("a"), turn("B"), id="s")
    assert "has the same id as" in message([*grown, other])


def test_a_fact_may_not_take_the_id_of_a_turn() -> None:
    told = message([session(turn("x"), id="a"), fact(id="a.0")])
    assert "its entry 'a.0' has the same id as entry 1 (id 'a')" in told


# --- Stale records ----------------------------------------------------------

STALE = {
    "uid": "u1",
    "haystack_session": [[turn("Austin now")], [turn("Seattle"), turn("Nice", "assistant")]],
    "timestamps": ["2023-06-01 10:00", "2023-05-20 10:00"],
    "M_old": "GOLD",
    "M_new": "GOLD",
    "explanation": "GOLD",
    "relevant_session_index": [1, 0],
}


def test_a_stale_record_is_sorted_together_with_its_times() -> None:
    memory = read_memory(STALE)
    assert [(entry.id, entry.text) for entry in memory] == [
        ("s01.0", "Seattle"),
        ("s01.1", "Nice"),
        ("s02.0", "Austin now"),
    ]
    assert "GOLD" not in repr(memory)


def test_a_stale_record_may_hold_json_text() -> None:
    text = {name: json.dumps(value) for name, value in STALE.items()}
    assert read_memory(text) == read_memory(STALE)
    each = {**STALE, "haystack_session": [json.dumps(s) for s in STALE["haystack_session"]]}
    assert read_memory(each) == read_memory(STALE)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"timestamps": ["2023-05-20 10:00"]}, "2 sessions in 'haystack_session' but 1 in"),
        ({"timestamps": "[1,"}, "uid 'u1', 'timestamps': JSON text that cannot be parsed"),
        ({"haystack_session": {}}, "'haystack_session': must be a list, not an object"),
        ({"haystack_session": [[], 5]}, "'haystack_session[1]': must be a list, not a number"),
        ({"timestamps": ["2023-05-20 10:00", None]}, "entry 2, field 'timestamp': is missing"),
    ],
)
def test_a_broken_stale_record_names_the_field(change: dict[str, Any], what: str) -> None:
    assert what in message({**STALE, **change})


# --- files ------------------------------------------------------------------


def lines(*items: object) -> str:
    return "\n".join(json.dumps(item) for item in items)


def test_json_and_json_lines_give_the_same_memory(tmp_path: Path) -> None:
    items = [fact("a"), session(turn("b\u2028c")), fact("d", "2023-05-21")]
    expected = read_memory(items)
    as_lines = "\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    for name, text in {
        "m.json": json.dumps(items, indent=2),
        "m.jsonl": as_lines.replace("\n", "\r\n\n"),
        "m.ndjson": as_lines,
        "m.txt": as_lines,
        "one.jsonl": json.dumps(items),
    }.items():
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert load_memory(tmp_path / name) == expected


@pytest.mark.parametrize("source", ["m.json", "m.jsonl"])
def test_one_item_or_one_stale_record_needs_no_list(source: str) -> None:
    assert ids(parse_memory_text(json.dumps(fact()), source=source)) == ["f01"]
    assert parse_memory_text(json.dumps(STALE), source=source) == read_memory(STALE)


def test_an_empty_log_is_an_empty_memory_but_an_empty_json_file_is_a_mistake() -> None:
    assert parse_memory_text("\n", source="m.jsonl") == Memory()
    with pytest.raises(InputError, match=r"m.json: holds no JSON; an empty memory is \[\]"):
        parse_memory_text(" ", source="m.json")


def test_undated_entries_can_be_allowed_in_files(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('[{"text": "x", "timestamp": NaN}]')
    assert load_memory(path, allow_undated=True).undated()
    with pytest.raises(TimestampError, match=r"m\.json cannot be used:\n +entry 1"):
        load_memory(path)


@pytest.mark.parametrize(
    ("text", "source", "what"),
    [
        ('[\n {"text": "a",}\n]', "m.json", r"m.json, line 2, column 15: not valid JSON"),
        ("[" * 100_000, "m.json", "m.json: not valid JSON: maximum recursion"),
        ("1" * 5000, "m.json", "m.json: not valid JSON: Exceeds the limit"),
        ("{}\n" + "1" * 5000, "m.jsonl", "line 2: not valid JSON: Exceeds the limit"),
        (
            lines(fact()) + "\n{nope\n\n{",
            "x",
            r"(?s)line 2: not valid JSON.*line 4: not valid JSON",
        ),
        ("5", "m.jsonl", r"entry 1 \(line 1\): a fact or session is an object"),
        ("\n" + lines(fact(), fact(" ")), "-", r"entry 2 \(line 3\), field 'text': is empty"),
    ],
)
def test_a_broken_text_names_source_and_line(text: str, source: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        parse_memory_text(text, source=source)
    assert str(caught.value).startswith(source)


def test_unreadable_files_are_input_errors_that_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.json: cannot be read: No such file"):
        load_memory(tmp_path / "absent.json")
    with pytest.raises(InputError, match="cannot be read"):
        load_memory(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'[\n"\xe9"]')
    with pytest.raises(InputError, match=r"latin.json, line 2: not UTF-8"):
        load_memory(tmp_path / "latin.json")
