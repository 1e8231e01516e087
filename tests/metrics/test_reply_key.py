"""The lexical proxy on replies: what it counts, and that it says what it is."""

from __future__ import annotations

import pytest

from stateauditor.metrics import GoldKey, reply_key, reply_rates

KEY = GoldKey(
    uid="a",
    attribute="home city",
    old_value="a flat in Leeds",
    new_value="a flat in York near the river",
    m_old="I have a flat in Leeds.",
    m_new="The flat in York is near the river.",
)
CONTROL = KEY.model_copy(update={"uid": "b", "control": True})
DRAFT = "Try the Leeds baths."


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("York has a pool by the river.", True),
        ("You moved from Leeds to York, by the river.", True),
        (DRAFT, False),
        ("Your flat is nice.", False),  # what both values share tells nothing
        ("Try the baths.", False),
        ("", False),
    ],
)
def test_a_reply_names_the_new_value_by_its_telling_words(reply: str, names: bool) -> None:
    assert reply_key(reply, DRAFT, KEY).names_new is names


def test_a_draft_that_named_it_already_gains_nothing() -> None:
    draft = "The river in York is fine."
    assert not reply_key(draft, draft, KEY).names_new
    assert not reply_key(draft + " Enjoy.", draft, KEY).names_new


def test_values_with_the_same_words_are_never_named() -> None:
    same = KEY.model_copy(update={"new_value": "flat in Leeds"})
    assert not reply_key("A flat in Leeds.", "", same).names_new


def test_conflicts_and_controls_are_counted_apart() -> None:
    york = "York, by the river."
    rates = reply_rates(
        [
            reply_key(york, DRAFT, KEY),
            reply_key(DRAFT, DRAFT, KEY),
            reply_key("Other.", DRAFT, CONTROL),
            reply_key(york, DRAFT, CONTROL),
        ]
    )
    shares = {name: (rate.hits, rate.n) for name, rate in rates if name != "label"}
    assert shares == {
        "conflicts_name_new": (1, 2),
        "controls_name_new": (1, 2),
        "conflicts_rewritten": (1, 2),
        "controls_rewritten": (2, 2),
    }
    assert "not Stale accuracy" in rates.label
