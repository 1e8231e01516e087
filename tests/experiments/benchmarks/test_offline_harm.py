"""The offline rules: no harm on generated dialogues, and what is said outright is found."""

from collections import Counter

import pytest

from stateauditor.experiments.benchmarks.offline_dialogues import generated, read_dialogue
from stateauditor.experiments.benchmarks.offline_harm import (
    HALVES,
    outright_changes,
    rate,
    repaired,
    touched,
)
from stateauditor.experiments.benchmarks.offline_right import second_person
from stateauditor.program.auditor import StateAuditor


@pytest.fixture(scope="module")
def auditor() -> StateAuditor:
    return StateAuditor("offline", policy="repair_only")


def test_the_same_seed_gives_the_same_dialogues() -> None:
    assert list(generated(3)) == list(generated(3))
    assert next(generated(1, seed=7)) != next(generated(1))


def test_right_answers_about_dialogues_are_left_alone(auditor: StateAuditor) -> None:
    for record in generated(4, seed=5):
        for dialogue in read_dialogue(record):
            results = auditor.audit_pairs(dialogue.memory, dialogue.pairs)
            wrong = [
                (pair, result.directives)
                for pair, result in zip(dialogue.pairs, results, strict=True)
                if touched(result)
            ]
            assert wrong == []


def test_most_changes_that_are_said_outright_are_repaired(auditor: StateAuditor) -> None:
    found = [
        repaired(auditor.audit(change.memory(), change.question, change.draft))
        for change in outright_changes()
    ]
    assert sum(found) >= 0.6 * len(found)


def test_sixty_changes_stand_in_two_equal_halves_over_twelve_registers() -> None:
    halves = Counter(change.half for change in outright_changes())
    assert halves == dict.fromkeys(HALVES, 30)
    assert len({change.register for change in outright_changes()}) == 12


def test_statements_are_turned_to_the_second_person() -> None:
    assert second_person("I've sold my car, and I am glad.") == (
        "You've sold your car, and you are glad."
    )


def test_a_rate_has_its_interval() -> None:
    assert rate(1, 100) == "    1 /   100    1.00%  [0.18%, 5.45%]"
