"""Names and blind ids."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.experiments.annotation.package import (
    annotator_names,
    blind_id,
    make_secret,
    seal,
)
from stateauditor.experiments.annotation.systems import Cell, System
from stateauditor.signatures.errors import ConfigError

SECRET = make_secret(42, [b"records"])
SYSTEMS = tuple(System(name=n, run="r", run_id="1", phase="reply") for n in ("one", "two", "three"))


def test_annotators_are_a_number_or_names() -> None:
    assert annotator_names("3") == ("annotator1", "annotator2", "annotator3")
    assert annotator_names(" anna ,Jürgen-2") == ("anna", "Jürgen-2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0", "1 to 50 annotators, got 0"),
        ("51", "1 to 50 annotators, got 51"),
        ("", "annotator ''"),
        ("anna,,ben", "annotator ''"),
        ("../anna", "annotator '../anna': a name has"),
        ("anna,Anna", "annotator 'anna' is named twice"),
    ],
)
def test_other_annotators_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        annotator_names(text)


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_an_id_is_letters_that_spell_nothing_and_no_number(parts: list[str]) -> None:
    assert re.fullmatch("[bcdfghjklmnpqrstvwxz]{12}", blind_id(SECRET, *parts))


def test_an_id_depends_on_the_secret_and_on_where_parts_end() -> None:
    assert blind_id(SECRET, "ab", "c") != blind_id(SECRET, "a", "bc")
    assert blind_id(make_secret(43, [b"records"]), "a") != blind_id(SECRET, "a")
    assert make_secret(42, [b"other"]) != SECRET
    assert make_secret(42, [b"re", b"cords"]) != SECRET


def test_identical_answers_are_one_item_and_each_annotator_has_own_ids() -> None:
    cell = Cell("u1", "T1", "SR", "q", {"one": "Yes.", "two": "No.", "three": "Yes."})
    key = seal(SECRET, SYSTEMS, [cell], ["anna", "ben"])
    assert [item.systems for item in key.items] == [("one", "three"), ("two",)]
    assert len({i for item in key.items for i in item.ids.values()}) == 4
    assert key.by_id("ben")[key.items[1].ids["ben"]] == key.items[1]
