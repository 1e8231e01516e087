"""Which values and which names of attributes are near enough to be one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.program.changes.nearness import near_value, same_attribute, within_attribute
from stateauditor.program.changes.stated import StatedValues


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("Austin", "Austin, Texas", True),
        ("Austin, TX", "lives in Austin, Texas", True),
        ("Austin TX", "the city of Austin (Texas)", True),
        ("a nurse", "works as a nurse", True),
        ("The user lives in Seattle.", "Seattle", True),
        ("Portland, Oregon", "Portland, Maine", False),
        ("York", "New York", False),
        ("nurse", "head nurse", False),
        ("vegan", "not vegan", False),
        ("1,040 euros", "1 euros", False),
        ("in", "out", False),
        ("unknown", "n/a", False),
    ],
)
def test_near_values(one: str, other: str, near: bool) -> None:
    assert near_value(one, other) is near
    assert near_value(other, one) is near


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("home", "home city", True),
        ("user's current residence", "City", True),
        ("job", "Occupation", True),
        ("pets", "pet", True),
        ("home_city", "place of residence", True),
        ("home", "home office", False),
        ("home", "sister's home", False),
        ("work", "work location", False),
        ("car", "car insurance", False),
        ("", "", False),
    ],
)
def test_same_attributes(one: str, other: str, same: bool) -> None:
    assert same_attribute(one, other) is same
    assert same_attribute(other, one) is same


def test_a_longer_name_may_hold_a_shorter_one_of_the_same_person() -> None:
    assert within_attribute("job", "job in the hospital")
    assert within_attribute("", "job")
    assert not within_attribute("job", "partner's job")


@given(st.text(max_size=20), st.text(max_size=20))
def test_nearness_is_mutual(one: str, other: str) -> None:
    assert near_value(one, other) == near_value(other, one)
    assert same_attribute(one, other) == same_attribute(other, one)


def test_what_a_draft_states() -> None:
    draft = StatedValues("Since you live in Ghent, not in Bruges, take tram 4.")
    assert draft.names("lives in Ghent, Belgium")
    assert not draft.names("Bruges")
    assert not StatedValues().names("Ghent")
    assert draft.fits("Ghent", ["Leipzig"])
    assert not draft.fits("Ghent", ["Leipzig, tram 4"])
    assert not StatedValues("You could adopt a dog.").fits("has a dog", ["no pets"])
