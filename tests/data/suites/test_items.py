"""What every suite promises of its items, and how a broken promise is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stateauditor.data.scenario import Session, Turn
from stateauditor.data.sealed import SealedText
from stateauditor.data.suites.items import (
    ChangeKey,
    Due,
    Explicitness,
    Register,
    SuiteItem,
    SuiteProbe,
    find_problems,
)
from stateauditor.program.memory import read_memory


def key(**changes: str) -> ChangeKey:
    values = {
        "attribute": "home city",
        "old_value": "Leeds",
        "new_value": "York",
        "m_old": "I rent a flat in Leeds.",
        "m_new": "The York movers were quick.",
    } | changes
    return ChangeKey(
        **{name: SealedText(value) for name, value in values.items()},
        causal_path=(SealedText("movers to York"), SealedText("lives in York")),
    )


def item(**changes: object) -> SuiteItem:
    sessions = (
        Session("s01", "2024-01-05 09:00", (Turn("user", "Hi. I rent a flat in Leeds."),)),
        Session("s02", "2024-05-01 18:30", (Turn("user", "The York movers were quick."),)),
    )
    probe = SuiteProbe("probe", "Where can I swim?", "Try the Leeds baths.", Due.REPAIR, key())
    made = SuiteItem(
        uid="i1",
        suite="safety",
        group="true_change",
        explicitness=Explicitness.IMPLICIT,
        register=Register.NEUTRAL,
        sessions=sessions,
        probes=(probe,),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def with_probe(**changes: object) -> SuiteItem:
    made = item()
    return replace(made, probes=(replace(made.probes[0], **changes),))  # type: ignore[arg-type]


def test_a_sound_item_has_no_problem() -> None:
    assert find_problems([item()]) == []


def test_the_program_reads_an_items_history_with_its_dates() -> None:
    memory = read_memory(item().memory_items())
    assert [(str(e.timestamp), e.text) for e in memory.entries] == [
        ("2024-01-05T09:00Z", "Hi. I rent a flat in Leeds."),
        ("2024-05-01T18:30Z", "The York movers were quick."),
    ]


def test_neither_question_nor_key_shows_in_what_is_printed() -> None:
    shown = repr(item())
    assert "swim" not in shown
    assert "Leeds" not in shown


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (item(sessions=item().sessions[::-1]), "the sessions are not in order of time"),
        (item(probes=()), "no probe, or two of one name"),
        (item(probes=item().probes * 2), "no probe, or two of one name"),
        (with_probe(draft=" "), "question or draft is blank"),
        (with_probe(key=key(m_old="I rent in Hull.")), "m_old does not stand in exactly one"),
        (with_probe(key=key(m_new="I like York.")), "m_new does not stand in exactly one"),
        (with_probe(key=key(new_value="leeds ")), "a value is blank, or both are the same"),
        (
            with_probe(
                key=key(m_old="The York movers were quick.", m_new="I rent a flat in Leeds.")
            ),
            "m_old does not stand before m_new",
        ),
    ],
)
def test_a_broken_promise_is_named_with_the_uid(broken: SuiteItem, what: str) -> None:
    problems = find_problems([broken])
    assert all(problem.startswith("i1") for problem in problems)
    assert any(what in problem for problem in problems)


def test_a_uid_that_occurs_twice_is_named() -> None:
    assert find_problems([item(), item()]) == ["i1: the uid occurs twice"]
