"""Forms with slots, registers, and an item's own random numbers."""

from __future__ import annotations

import random

import pytest

from stateauditor.data.suites.items import Register
from stateauditor.data.suites.wording import fill, in_register, item_rng, sentence, surface
from stateauditor.signatures.errors import InputError


def test_a_slot_that_opens_a_sentence_gets_a_capital_and_no_other() -> None:
    form = "{what} is mine. {what} stays, and {what} shines!"
    assert sentence(form, what="the car") == "The car is mine. The car stays, and the car shines!"
    assert fill(form, what="the car").startswith("the car")


def test_a_surface_is_one_of_the_forms() -> None:
    forms = ("I live in {old}.", "Home is {old}.")
    drawn = {surface(random.Random(seed), forms, old="Hull") for seed in range(20)}
    assert drawn == {"I live in Hull.", "Home is Hull."}


@pytest.mark.parametrize(
    ("form", "what"),
    [
        ("I live in {place}.", "needs place; there are old"),
        ("I live in {old.", "has a brace that does not close"),
    ],
)
def test_a_form_that_cannot_be_filled_is_named(form: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        fill(form, old="Hull")


def test_choosing_from_no_form_is_an_error() -> None:
    with pytest.raises(InputError, match="no form"):
        surface(random.Random(0), ())


def test_formal_writing_has_no_short_forms() -> None:
    text = "I'm here. Don't ask; we can't say, and isn't it late?"
    assert in_register(text, Register.FORMAL) == (
        "I am here. Do not ask; we cannot say, and isn't it late?"
    )
    assert in_register(text, Register.CASUAL) == text


def test_the_random_numbers_of_an_item_depend_on_seed_and_uid_only() -> None:
    assert item_rng(1, "a").random() == item_rng(1, "a").random()
    assert len({item_rng(s, u).random() for s in (1, 2) for u in ("a", "b")}) == 4
