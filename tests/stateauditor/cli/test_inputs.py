"""What a command reads, and what it says about input that it cannot read."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateauditor.cli.inputs import Given, read_audit_input, read_retrieval_input
from stateauditor.signatures.errors import InputError, TimestampError
from tests.stateauditor.cli.conftest import DRAFT, MEMORY, QUESTION

Write = Callable[[str, Any], Path]


def message_of(given: Given) -> str:
    with pytest.raises(InputError) as caught:
        read_audit_input(given)
    return str(caught.value)


def use_stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="ascii"))


def test_input_json_holds_everything(input_file: Path) -> None:
    read = read_audit_input(Given(file=str(input_file)))
    assert read.pairs == ((QUESTION, DRAFT),)
    assert [entry.id for entry in read.memory] == ["home", "chat.0", "chat.1"]
    assert not read.listed


def test_pairs_share_one_memory(write: Write) -> None:
    pairs = [{"question": "a?", "draft": "A"}, {"question": "b?", "draft": "B"}]
    read = read_audit_input(Given(file=str(write("i.json", {"memory": MEMORY, "pairs": pairs}))))
    assert read.pairs == (("a?", "A"), ("b?", "B"))
    assert read.listed


def test_a_stale_record_is_a_memory(write: Write) -> None:
    record = {
        "haystack_session": [[{"role": "user", "content": "I live in Rome."}]],
        "timestamps": ["2024-01-01 10:00"],
        "M_old": "never read",
    }
    path = write("i.json", {"memory": record, "question": QUESTION, "draft": DRAFT})
    assert len(read_audit_input(Given(file=str(path))).memory) == 1


def test_stdin_can_be_the_input_whatever_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"memory": MEMORY, "question": "住哪?", "draft": "🌲"}
    use_stdin(monkeypatch, json.dumps(data, ensure_ascii=False).encode())
    assert read_audit_input(Given(file="-")).pairs == (("住哪?", "🌲"),)


def test_options_go_before_the_file(input_file: Path) -> None:
    read = read_audit_input(Given(file=str(input_file), draft="Another one."))
    assert read.pairs == ((QUESTION, "Another one."),)


@pytest.mark.parametrize("name", ["memory.json", "memory.jsonl"])
def test_parts_can_come_apart(write: Write, name: str) -> None:
    text = "\n".join(map(json.dumps, MEMORY)) if name.endswith("l") else json.dumps(MEMORY)
    question, draft = write("q.txt", QUESTION), write("d.txt", f"{DRAFT}\n")
    read = read_audit_input(
        Given(memory=str(write(name, text)), question=f"@{question}", draft=f"@{draft}")
    )
    assert read.pairs == ((QUESTION, f"{DRAFT}\n"),), "a draft is kept byte for byte"


def test_a_draft_on_stdin(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    use_stdin(monkeypatch, "Grüße".encode())
    given = Given(memory=str(write("m.json", MEMORY)), question=QUESTION, draft="-")
    assert read_audit_input(given).pairs == ((QUESTION, "Grüße"),)


def test_a_memory_on_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stdin(monkeypatch, "\n".join(map(json.dumps, MEMORY)).encode())
    assert len(read_audit_input(Given(memory="-", question=QUESTION, draft=DRAFT)).memory) == 3


def test_two_at_signs_stand_for_one(write: Write) -> None:
    given = Given(memory=str(write("m.json", MEMORY)), question="@@home is where?", draft=DRAFT)
    assert read_audit_input(given).pairs[0][0] == "@home is where?"


def test_stray_bytes_of_a_c_locale_are_utf8_again(write: Write) -> None:
    stray = "Grüße".encode().decode("ascii", "surrogateescape")
    given = Given(memory=str(write("m.json", MEMORY)), question=QUESTION, draft=stray)
    assert read_audit_input(given).pairs[0][1] == "Grüße"


def test_retrieval_needs_no_draft(write: Write) -> None:
    path = write("i.json", {"memory": MEMORY, "question": QUESTION})
    assert read_retrieval_input(Given(file=str(path))).question == QUESTION


def test_retrieval_is_for_one_question(write: Write) -> None:
    path = write("i.json", {"memory": MEMORY, "pairs": [{"question": "a?", "draft": "A"}]})
    with pytest.raises(InputError, match="'pairs': retrieval is for one question"):
        read_retrieval_input(Given(file=str(path)))


# --- mistakes -----------------------------------------------------------------


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    assert message_of(Given(file=str(missing))).startswith(f"{missing}: cannot be read: No such")


def test_bad_json_is_placed(write: Write) -> None:
    path = write("i.json", '{"memory": [],\n "question": oops}')
    expected = f"{path}, line 2, column 14: not valid JSON: Expecting value"
    assert message_of(Given(file=str(path))) == expected


def test_text_that_is_not_utf8_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    path.write_bytes(b'{"memory": [],\n "question": "\xff"}')
    assert message_of(Given(file=str(path))).startswith(f"{path}, line 2: not UTF-8")


def test_stdin_that_is_not_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stdin(monkeypatch, b"\xff")
    assert message_of(Given(file="-")).startswith("<stdin>: not UTF-8")


def test_unknown_keys_are_refused_with_a_guess(write: Write) -> None:
    path = write("i.json", {"memory": MEMORY, "question": QUESTION, "drafts": DRAFT, "x": 1})
    lines = message_of(Given(file=str(path))).splitlines()
    assert lines[0] == f"{path}:"
    known = "known: memory, question, draft, pairs"
    assert lines[1] == f"  key 'drafts': unknown; did you mean 'draft'?; {known}"
    assert lines[2] == f"  key 'x': unknown; {known}"


def test_the_schema_key_of_editors_is_allowed(write: Write) -> None:
    data = {"$schema": "s.json", "memory": MEMORY, "question": QUESTION, "draft": DRAFT}
    assert read_audit_input(Given(file=str(write("i.json", data)))).pairs


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ([], "holds a list; if that is the memory, give it as --memory"),
        (3, "expected an object with the keys memory, question, draft, pairs"),
        ({"question": "q?", "draft": "d"}, "key 'memory': missing"),
        ({"memory": [], "draft": "d"}, "'question': missing; give the question as text"),
        ({"memory": [], "question": "q?"}, "'draft': missing; give the draft as text"),
        ({"memory": [], "question": " \n", "draft": "d"}, "'question': is blank"),
        ({"memory": [], "question": "q?", "draft": ""}, "'draft': is blank"),
        ({"memory": [], "question": 3, "draft": "d"}, "'question': must be text, not int"),
        ({"memory": [], "pairs": []}, "'pairs': must be a list like"),
        ({"memory": [], "pairs": ["q"]}, "pair 1: must be an object"),
        ({"memory": [], "pairs": [{"question": "q?"}]}, "pair 1, 'draft': missing"),
        ({"memory": [], "pairs": [{"question": "q?", "draft": "d", "drat": 1}]}, "key 'drat'"),
        ({"memory": [], "pairs": [], "draft": "d"}, "give either 'pairs' or one question"),
        ({"memory": "m.json", "question": "q?", "draft": "d"}, "a memory is a list of facts"),
        ({"memory": {"memory": []}, "question": "q?", "draft": "d"}, "pass the list"),
    ],
)
def test_wrong_shapes_say_what_would_be_right(write: Write, data: Any, part: str) -> None:
    path = write("i.json", data)
    message = message_of(Given(file=str(path)))
    assert message.startswith(str(path))
    assert part in message


def test_deep_nesting_is_no_crash(write: Write) -> None:
    path = write("i.json", "[" * 100_000)
    assert "not valid JSON" in message_of(Given(file=str(path)))


def test_a_bad_timestamp_names_the_entry(write: Write) -> None:
    memory = [*MEMORY, {"id": "trip", "timestamp": "yesterday", "text": "I went to Rome."}]
    path = write("i.json", {"memory": memory, "question": QUESTION, "draft": DRAFT})
    given = Given(file=str(path))
    with pytest.raises(TimestampError) as caught:
        read_audit_input(given)
    message = str(caught.value)
    assert message.startswith(f"{path}: memory cannot be used:")
    assert "entry 3" in message
    assert "trip" in message
    assert "accepted times" in message


def test_undated_entries_can_be_allowed(write: Write) -> None:
    memory = [*MEMORY, {"id": "trip", "timestamp": "yesterday", "text": "I went to Rome."}]
    path = write("i.json", {"memory": memory, "question": QUESTION, "draft": DRAFT})
    read = read_audit_input(Given(file=str(path), allow_undated=True))
    assert [entry.id for entry in read.memory.undated()] == ["trip"]


def test_the_memory_is_given_once(input_file: Path) -> None:
    assert "leave out --memory" in message_of(Given(file=str(input_file), memory="m.json"))


def test_some_memory_is_needed() -> None:
    assert message_of(Given(question=QUESTION, draft=DRAFT)).startswith("no memory: give INPUT")


def test_stdin_is_read_once() -> None:
    message = message_of(Given(memory="-", question=QUESTION, draft="-"))
    assert message == "only one of --memory and --draft can read stdin (-)"


def test_an_at_sign_alone_names_no_file() -> None:
    assert "no file name follows" in message_of(Given(memory="m.json", question="@", draft=DRAFT))


def test_a_missing_draft_file_is_named(write: Write) -> None:
    given = Given(memory=str(write("m.json", MEMORY)), question=QUESTION, draft="@gone.txt")
    assert message_of(given).startswith("gone.txt: cannot be read")


# --- formats --------------------------------------------------------------------

MEM0 = {
    "results": [
        {"id": "a", "memory": "Kim lives in Leipzig.", "created_at": "2021-02-01"},
        {"id": "b", "memory": "Likes tea.", "created_at": "2022-02-01"}
        | {"expiration_date": "2023-08-01"},
    ]
}


def test_a_memory_of_another_make_is_recognised_or_named(write: Write) -> None:
    given = {"memory": str(write("m.json", MEM0)), "question": QUESTION, "draft": DRAFT}
    memory = read_audit_input(Given(**given)).memory
    assert [entry.id for entry in memory] == ["a", "b"]
    assert read_audit_input(Given(**given, format="mem0")).memory == memory
    with pytest.raises(InputError, match=r"m\.json, read as zep: Zep: record 1 has neither 'fact'"):
        read_audit_input(Given(**given, format="zep"))
    with pytest.raises(InputError, match="no memory format is called 'csv'; known: facts, mem0"):
        read_audit_input(Given(**given, format="csv"))


def test_a_memory_of_another_make_may_stand_in_input_json(write: Write) -> None:
    path = write("i.json", {"memory": MEM0, "question": QUESTION, "draft": DRAFT})
    assert len(read_audit_input(Given(file=str(path))).memory) == 2


def test_a_memory_given_as_input_json_is_told_apart(write: Write) -> None:
    message = message_of(Given(file=str(write("m.json", MEM0))))
    assert "this is mem0 rows" in message
    assert "--memory" in message


def test_the_users_name_and_the_time_of_reading_reach_the_memory(write: Write) -> None:
    given = {"memory": str(write("m.json", MEM0)), "question": QUESTION, "draft": DRAFT}
    home, tea = read_audit_input(Given(**given, user="Kim", as_of="2023-01-01")).memory
    assert (home.text, tea.text, tea.validity) == (
        "User lives in Leipzig.",
        "User likes tea.",
        "open",
    )
    assert read_audit_input(Given(**given, as_of="2024-01-01")).memory.entries[1].ended
    assert "'tomorrow' is no time that can be read" in message_of(Given(**given, as_of="tomorrow"))


def test_what_a_converter_warns_of_is_noted(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": str(n), "memory": f"Fact {n}", "created_at": "2023-05-20"} for n in range(20)]
    given = Given(memory=str(write("m.json", rows)), question=QUESTION, draft=DRAFT)
    assert len(read_audit_input(given).memory) == 20
    assert "newest fact may be missing" in " ".join(capsys.readouterr().err.split())
