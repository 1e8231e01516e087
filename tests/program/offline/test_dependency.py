"""Whether a reply rests on the old side of a change."""

import pytest

from stateauditor.program.offline.dependency import Reply, asks_whether_still
from stateauditor.program.offline.words import sentences
from tests.program.offline.readouts import repairs

MOVE = ("I live in Seattle.", "I moved to Austin.")


def test_a_draft_that_names_the_old_value_rests_on_it() -> None:
    assert repairs("Weekend ideas?", "See the market in Seattle.", *MOVE)


def test_b11_a_draft_on_the_new_value_is_left_alone() -> None:
    assert not repairs("Weekend ideas?", "Swim at the springs in Austin.", *MOVE)
    assert not repairs("Weekend ideas?", "You left Seattle for Austin, so swim.", *MOVE)


@pytest.mark.parametrize(
    "question",
    [
        "What was my previous address?",
        "What was my old number?",
        "Where did I live before the move?",
        "Which city did I use to call home, when I used to commute?",
    ],
)
def test_b14_a_question_about_the_past_depends_on_no_change(question: str) -> None:
    assert not repairs(question, "You lived in Seattle.", *MOVE)


def test_a_draft_that_says_so_itself_is_left_alone() -> None:
    assert not repairs("Where to?", "You no longer live in Seattle.", *MOVE)


def test_a_question_that_presupposes_the_old_value_carries_its_draft() -> None:
    assert repairs("Since I live in Seattle, what now?", "Go to the lake.", *MOVE)


@pytest.mark.parametrize(
    ("question", "draft"),
    [
        ("I'm visiting Seattle next week, what should I see?", "In Seattle, see the market."),
        ("Where does my brother live?", "Your brother lives in Seattle."),
        ("What is the weather like in Seattle?", "Seattle is mild and wet."),
        ("How do Austin and Seattle differ?", "Seattle is cooler."),
        ("Plan a trip for me.", "Visit Seattle in May."),
        ("Which cities have I lived in?", "Seattle and another one."),
    ],
)
def test_naming_the_old_value_is_not_relying_on_it(question: str, draft: str) -> None:
    assert not repairs(question, draft, *MOVE)


def test_questions_that_ask_whether_something_still_holds() -> None:
    assert asks_whether_still(sentences("Does the user still live in Denver?"))
    assert not asks_whether_still(sentences("Where is Denver?"))


def test_a_reply_is_cut_once() -> None:
    reply = Reply("A question?", "One. Two.")
    assert reply.said is reply.said
