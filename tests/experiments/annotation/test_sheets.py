"""CSV sheets: nothing a spreadsheet runs, nothing lost on the way there and back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.experiments.annotation.sheets import (
    COLUMNS,
    TEXTS,
    Entry,
    blank_sheet,
    guarded,
    read_rows,
    same_text,
    unguarded,
)
from stateauditor.signatures.errors import InputError

FILE = Path("sheet.csv")
FORMULAS = ['=HYPERLINK("http://x","y")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "＠x"]
SHORT = "item,label,comment\r\n"


def entry(text: str, item: str = "bcdfghjk") -> Entry:
    return Entry(item, "SR", text, text, text, text, text)


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_begins_like_a_formula(formula: str) -> None:
    content = blank_sheet([entry(formula)]).decode("utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(content, newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r＝＋－＠"))]
    assert f"'{formula}" in cells


@given(st.text() | st.sampled_from(FORMULAS).flatmap(lambda f: st.text().map(f.__add__)))
def test_the_guard_can_be_taken_off(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert same_text(guarded(text), text)


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=1, max_size=4))
def test_a_sheet_reads_back_as_it_was_written(texts: list[str]) -> None:
    entries = [entry(text, f"bcdfg{'bcdf'[n]}") for n, text in enumerate(texts)]
    rows = read_rows(blank_sheet(entries), FILE)
    assert [row.values["item"] for row in rows] == [e.id for e in entries]
    for row, text in zip(rows, texts, strict=True):
        assert all(unguarded(row.values[name]) == text for name in TEXTS)
        assert (row.values["label"], row.values["comment"]) == ("", "")


def test_a_sheet_is_utf_8_with_the_mark_that_excel_needs() -> None:
    content = blank_sheet([entry("Straße 東京 🏠\nsecond line")])
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.decode("utf-8-sig").splitlines()[0] == ",".join(f'"{c}"' for c in COLUMNS)
    assert read_rows(content, FILE)[0].values["answer"] == "Straße 東京 🏠\nsecond line"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_spreadsheets_save_is_read(delimiter: str, encoding: str) -> None:
    text = delimiter.join(["item", "label", "comment"]) + "\n"
    text += delimiter.join(["bcd", "pass", '"für ""wahr"", ja; oder\nnein"']) + "\n"
    (row,) = read_rows(text.encode(encoding), FILE)
    assert row.values == {"item": "bcd", "label": "pass", "comment": 'für "wahr", ja; oder\nnein'}


def test_rows_know_their_line_and_their_place_in_a_spreadsheet() -> None:
    rows = read_rows((SHORT + 'bcd,pass,"one\ntwo"\r\nbdf,fail,\r\n').encode(), FILE)
    assert [(row.line, row.number) for row in rows] == [(2, 2), (4, 3)]


def test_empty_rows_and_columns_at_the_end_are_nothing() -> None:
    text = "Item,Label,Comment,,\nbcd,pass,,,\n,,,,\n"
    (row,) = read_rows(text.encode(), FILE)
    assert row.values == {"item": "bcd", "label": "pass", "comment": ""}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no sheet of annotations"),
        (b"uid,verdict\nu1,pass\n", "no sheet of annotations"),
        (b"item,label\nbcd,pass\n", "the columns are item, label; a filled sheet has"),
        (b"item,label,comment\nbcd,pass\n", r"line 2 \(row 2\): 3 fields expected, got 2"),
        (b"item,label,comment\nbcd,pass,,more\n", r"line 2 \(row 2\): 3 fields expected, got 4"),
        (b'item,label,comment\nbcd,pass,"open\n', "cannot be read: unexpected end"),
        ("item,label,comment\nbcd,pass,für".encode("cp1252"), "save it from the .* as 'CSV UTF-8'"),
    ],
)
def test_what_is_no_sheet_says_why(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_rows(content, FILE)


def test_line_ends_that_a_spreadsheet_changed_are_no_alteration() -> None:
    assert same_text("one\r\ntwo\r\n", "one\ntwo")
    assert not same_text("one\ntwo", "one two")
