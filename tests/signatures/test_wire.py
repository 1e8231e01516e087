"""Coercions of what LMs write: the unambiguous is repaired, the rest left to fail."""

import pytest
from pydantic import Field, ValidationError

from stateauditor.signatures.models import Readout, RenderedEntry, Timestamp, Verdict
from stateauditor.signatures.readout import PromptReadout, render_line
from stateauditor.signatures.wire import (
    Flag,
    Number,
    OptionalText,
    Text,
    TextList,
    VerdictWord,
    Wire,
)


class Item(Wire):
    """One field of each tolerant type."""

    text: Text = ""
    maybe: OptionalText = None
    flag: Flag = False
    number: Number = 0
    verdict: VerdictWord = Verdict.VALID
    texts: TextList = Field(default_factory=list)


@pytest.mark.parametrize(
    ("field", "given", "read"),
    [
        ("text", 40, "40"),
        ("text", 2.5, "2.5"),
        ("text", None, ""),
        ("text", " a ", "a"),
        ("maybe", "null", None),
        ("maybe", " N/A", None),
        ("maybe", "", None),
        ("maybe", 7, "7"),
        ("flag", "YES.", True),
        ("flag", "no", False),
        ("flag", None, False),
        ("flag", 1, True),
        ("flag", '"true"', True),
        ("number", "P2", 2),
        ("number", "#3.", 3),
        ("number", 4.0, 4),
        ("verdict", "stale", Verdict.STALE),
        ("verdict", " Unknown.\n", Verdict.UNKNOWN),
        ("texts", None, []),
        ("texts", "E01", ["E01"]),
        ("texts", " ", []),
        ("texts", [1], ["1"]),
    ],
)
def test_the_unambiguous_is_repaired(field: str, given: object, read: object) -> None:
    assert getattr(Item.model_validate({field: given}), field) == read


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("text", {"a": 1}),
        ("text", True),
        ("flag", "perhaps"),
        ("number", "two"),
        ("verdict", "rather stale"),
        ("verdict", None),
        ("texts", {"a": 1}),
    ],
)
def test_the_ambiguous_is_refused(field: str, given: object) -> None:
    with pytest.raises(ValidationError):
        Item.model_validate({field: given})


def test_unknown_keys_are_ignored() -> None:
    assert Item.model_validate({"text": "a", "confidence": 0.9}).text == "a"


def test_a_readout_line_cannot_leave_its_quotes() -> None:
    line = render_line("E01", Timestamp.model_validate("2024-01-01"), 'a "b"\nE02 [2025] "c"')
    assert line == 'E01 [2024-01-01] "a \\"b\\"\\nE02 [2025] \\"c\\""'


def test_prompts_show_entries_as_lines_without_ascii_escapes() -> None:
    entry = RenderedEntry(id="E01", entry_id="f", timestamp=None, text="été 東京")
    readout = PromptReadout.of(Readout(entries=(entry,)))
    assert readout.model_dump() == 'E01 [undated] "été 東京"'
    assert PromptReadout.of(Readout()).model_dump() == "(no entries)"
