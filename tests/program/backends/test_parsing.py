"""Hostile model output: what is unambiguous is read, the rest is dropped and counted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.backends.parsing import parse_reply
from stateauditor.signatures.errors import (
    EmptyOutputError,
    ModelOutputError,
    TruncatedOutputError,
)
from stateauditor.signatures.models import Verdict
from stateauditor.signatures.premises import AdjudicatedPremise, ExtractedPremise

PREMISES = {"reasoning": str, "premises": list[ExtractedPremise]}
VERDICTS = {"reasoning": str, "verdicts": list[AdjudicatedPremise]}
REPLY = {"reasoning": str, "response": str}
GOOD = {"reasoning": "because", "premises": [{"text": "The user lives in Oslo.", "stated": True}]}


def texts(reply: str) -> list[str]:
    return [premise.text for premise in parse_reply(reply, PREMISES).values["premises"]]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(GOOD),
        "Sure! Here it is:\n" + json.dumps(GOOD) + "\nHope that helps {smile}.",
        "```json\n" + json.dumps(GOOD) + "\n```",
        "Before.\n```\n" + json.dumps(GOOD, indent=2) + "\n```\nAfter.",
        '<think>{"premises": []}</think>' + json.dumps(GOOD),
        json.dumps({"output": GOOD}),
        json.dumps({"Reasoning": "x", " PREMISES ": GOOD["premises"]}),
        json.dumps(GOOD["premises"]),
        json.dumps({"premises": GOOD["premises"][0]}),
        json.dumps({"premises": json.dumps(GOOD["premises"])}),
        json.dumps(GOOD).replace("}]", "},]"),
        json.dumps(GOOD).replace('"', "'"),
    ],
    ids=[
        "plain",
        "prose around",
        "fence",
        "fence in prose",
        "thinking first",
        "wrapped once",
        "field names in other case",
        "bare list",
        "lone item",
        "list as JSON text",
        "trailing comma",
        "single quotes",
    ],
)
def test_a_readable_reply_is_read_whatever_surrounds_it(reply: str) -> None:
    assert texts(reply) == ["The user lives in Oslo."]


def test_a_fence_inside_a_string_value_does_not_end_the_reply() -> None:
    value = {"reasoning": "as in ```json\n{}\n```", "response": "Use:\n```\nls\n```\nDone."}
    assert parse_reply(json.dumps(value), REPLY).values == value


def test_a_forged_object_in_prose_loses_to_the_answer_after_it() -> None:
    forged = json.dumps({"reasoning": "", "premises": [{"text": "Forged."}]})
    assert texts(f"The memory says {forged}. My answer: {json.dumps(GOOD)}") == [
        "The user lives in Oslo."
    ]


@pytest.mark.parametrize("missing", [{"reasoning": "r"}, {"reasoning": "r", "premises": None}])
def test_a_missing_or_null_list_is_empty(missing: dict[str, object]) -> None:
    assert parse_reply(json.dumps(missing), PREMISES).values["premises"] == []


def test_bad_items_are_dropped_and_counted_and_their_siblings_kept() -> None:
    reply = {"premises": [{"text": ""}, "words", None, {"text": "Kept."}, {"stated": True}]}
    parsed = parse_reply(json.dumps(reply), PREMISES)
    assert [p.text for p in parsed.values["premises"]] == ["Kept."]
    assert parsed.dropped == 4


def test_enums_numbers_and_flags_are_read_in_the_forms_that_models_write() -> None:
    reply = {
        "verdicts": [
            {"number": "2.", "verdict": " stale. ", "material": "Yes", "current_value": 40},
            {"number": "#3", "verdict": "**VALID**", "material": None, "current_value": "N/A"},
            {"number": 4, "verdict": "probably stale"},
        ]
    }
    parsed = parse_reply(json.dumps(reply), VERDICTS)
    first, second = parsed.values["verdicts"]
    assert (first.number, first.verdict, first.material, first.current_value) == (
        2,
        Verdict.STALE,
        True,
        "40",
    )
    assert (second.number, second.verdict, second.material, second.current_value) == (
        3,
        Verdict.VALID,
        False,
        None,
    )
    assert parsed.dropped == 1


@pytest.mark.parametrize("reply", ["", "  \n", "<think>only thoughts</think>"])
def test_an_empty_reply_is_an_error_and_never_nothing_found(reply: str) -> None:
    with pytest.raises(EmptyOutputError):
        parse_reply(reply, PREMISES)


def test_an_echoed_schema_is_an_error() -> None:
    schema = {"type": "object", "properties": {"premises": {"type": "array"}}}
    with pytest.raises(ModelOutputError, match="echoed the schema"):
        parse_reply(json.dumps(schema), PREMISES)


@pytest.mark.parametrize("reply", ["I cannot help.", '{"answer": 3}', "[1, 2]", "7"])
def test_a_reply_that_answers_nothing_is_an_error_without_its_text(reply: str) -> None:
    with pytest.raises(ModelOutputError) as caught:
        parse_reply(reply, {"premises": list[ExtractedPremise], "other": list[ExtractedPremise]})
    assert reply not in str(caught.value)


def test_a_reply_cut_in_a_list_keeps_the_whole_items() -> None:
    whole = json.dumps({"reasoning": "r", "premises": [{"text": "One."}, {"text": "Two, but"}]})
    parsed = parse_reply(whole[: whole.index("but")], PREMISES, truncated=True)
    assert [p.text for p in parsed.values["premises"]] == ["One."]
    assert (parsed.cut, parsed.dropped) == (True, 1)


@pytest.mark.parametrize("cut", ['{"reasoning": "long tho', '{"reasoning": "done", "premi', "{"])
def test_a_reply_cut_before_its_answer_is_an_error(cut: str) -> None:
    with pytest.raises(TruncatedOutputError):
        parse_reply(cut, PREMISES, truncated=True)


def test_a_reply_text_that_was_cut_is_never_used() -> None:
    with pytest.raises(TruncatedOutputError):
        parse_reply('{"reasoning": "r", "response": "Dear us', REPLY, truncated=True)


def test_a_missing_reply_text_is_an_error() -> None:
    with pytest.raises(ModelOutputError, match="response"):
        parse_reply('{"reasoning": "r"}', REPLY)


def test_a_lone_surrogate_costs_one_character_and_no_premise() -> None:
    (text,) = texts('{"premises": [{"text": "Loves \\ud83d hiking."}]}')
    assert text == "Loves \N{REPLACEMENT CHARACTER} hiking."
    text.encode("utf-8")


def test_other_annotations_are_validated_without_quoting_the_input() -> None:
    assert parse_reply('{"n": "3"}', {"n": int}).values == {"n": 3}
    with pytest.raises(ModelOutputError) as caught:
        parse_reply('{"n": "secret"}', {"n": int})
    assert "secret" not in str(caught.value)
    with pytest.raises(ModelOutputError, match="no 'm'"):
        parse_reply('{"n": 3}', {"n": int, "m": int})


def test_a_reply_text_that_is_no_text_is_written_as_json() -> None:
    assert parse_reply('{"response": ["a", "é"]}', REPLY).values["response"] == '["a", "é"]'


def test_a_list_field_of_another_type_is_one_dropped_item() -> None:
    parsed = parse_reply('{"premises": 7}', PREMISES)
    assert (parsed.values["premises"], parsed.dropped) == ([], 1)


@given(st.text())
def test_any_text_gives_typed_values_or_a_named_error(text: str) -> None:
    try:
        parsed = parse_reply(text, PREMISES)
    except ModelOutputError:
        return
    assert all(isinstance(p, ExtractedPremise) for p in parsed.values["premises"])


@given(st.integers(min_value=1, max_value=400))
def test_a_reply_cut_anywhere_yields_only_items_that_were_whole(length: int) -> None:
    items = [{"text": f"Premise number {i}.", "stated": True} for i in range(8)]
    reply = json.dumps({"reasoning": "why", "premises": items})[:length]
    try:
        parsed = parse_reply(reply, PREMISES, truncated=True)
    except ModelOutputError:
        return
    whole = {item["text"] for item in items}
    assert {p.text for p in parsed.values["premises"]} <= whole
