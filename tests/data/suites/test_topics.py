"""The written content of the safety suite, before any item is made of it."""

from __future__ import annotations

import re

import pytest
import yaml

from stateauditor.data.suites.items import Explicitness
from stateauditor.data.suites.loading import parse_content
from stateauditor.data.suites.safety import Regime
from stateauditor.data.suites.topics import Topic, load_topics
from stateauditor.data.suites.wording import fill, slots_of
from stateauditor.signatures.errors import ConfigError

TOPICS = sorted(load_topics())
NAMES_A_CHANGE = re.compile(
    r"\b(no longer|anymore|stopped|gave up|given up|switched|changed|moved|quit|left|sold"
    r"|replaced|swapped|instead|used to|now)\b",
    re.IGNORECASE,
)


def test_there_are_at_least_fourteen_topics_with_an_attribute_each() -> None:
    topics = load_topics()
    assert len(topics) >= 14
    assert len({topic.attribute for topic in topics.values()}) == len(topics)


@pytest.mark.parametrize("name", TOPICS)
def test_no_remark_of_a_topic_is_written_twice(name: str) -> None:
    topic = load_topics()[name]
    remarks = [topic.later(r) for r in Regime if r is not Regime.REVERTED or topic.away]
    said = [form for found in remarks for form in (*found.explicit, *found.implicit)]
    every = [*said, *topic.old, *topic.back]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("name", TOPICS)
def test_an_implicit_change_names_neither_the_old_value_nor_a_change(name: str) -> None:
    topic = load_topics()[name]
    for form in topic.true_change.implicit:
        assert not any(slot.startswith("old") for slot in slots_of(form)), form
        assert not NAMES_A_CHANGE.search(form), form


@pytest.mark.parametrize("name", TOPICS)
def test_the_apparent_new_value_is_never_the_old_one(name: str) -> None:
    topic = load_topics()[name]
    for regime in Regime:
        remarks = topic.later(regime)
        for form in (*remarks.explicit, *remarks.implicit):
            for row in topic.values:
                seems = fill(topic.apparent_value(regime, form), **row)
                assert seems.casefold() != fill(topic.old_value, **row).casefold()


@pytest.mark.parametrize("name", TOPICS)
def test_no_draft_knows_the_new_value(name: str) -> None:
    for asked in load_topics()[name].probes:
        for draft in (*asked.stating, *asked.silent):
            assert not any(slot.startswith("new") for slot in slots_of(draft)), draft


@pytest.mark.parametrize("name", TOPICS)
def test_a_silent_draft_says_less_than_a_stating_one(name: str) -> None:
    # Who states the value uses a slot that the question has not; silent drafts may follow
    # from the state in words that every row of values shares.
    for asked in load_topics()[name].probes:
        known = slots_of(asked.question)
        assert all(slots_of(draft) - known for draft in asked.stating)


def test_remarks_are_looked_up_by_explicitness() -> None:
    remarks = load_topics()["pet"].true_change
    assert remarks[Explicitness.EXPLICIT] == remarks.explicit
    assert remarks[Explicitness.IMPLICIT] == remarks.implicit


def test_a_reverted_pet_was_given_away_and_did_not_die() -> None:
    topic = load_topics()["pet"]
    assert topic.away is not None
    assert topic.later(Regime.REVERTED) is topic.away


def spoiled(**changes: object) -> str:
    raw = load_topics()["bank"].model_dump(mode="json", exclude_none=True) | changes
    return yaml.safe_dump(raw)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"attribute": "bank of {nobody}"}, "no row of values fills nobody"),
        ({"values": [{"old": "a"}] * 3 + [{"new": "b"}]}, "do not all fill the same slots"),
        ({"old": ["I bank with {old}."]}, "old: Tuple should have at least 4"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        (
            {"reads_as": {"stable": "another bank"}},
            "reads_as.stable.*: Input should be",
        ),
    ],
)
def test_what_is_wrong_with_a_topic_is_said(changes: dict[str, object], what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        parse_content(spoiled(**changes), Topic, "bank.yaml")
