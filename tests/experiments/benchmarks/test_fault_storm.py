"""A storm of faults on the LM server: no audit is lost, none comes out wrong."""

from __future__ import annotations

import pytest

from stateauditor.experiments.benchmarks.fault_storm import (
    HABITS,
    LONG_MEMORY,
    MIXED,
    serving,
    storm,
)


def test_no_audit_is_lost_or_wrong_or_fails_open_uncounted() -> None:
    with serving(MIXED) as base:
        figures = storm(base, audits=40, concurrency=32)
    assert (figures.lost, figures.wrong, figures.silent) == (0, 0, 0)
    assert figures.repaired + figures.drafts == 40
    assert figures.repaired >= 10
    assert figures.failed_open >= figures.drafts > 0
    assert sum(figures.reasons.values()) >= figures.failed_open


def test_without_faults_every_reply_is_repaired() -> None:
    with serving({}) as base:
        figures = storm(base, audits=8, concurrency=8, variant="lean")
    assert (figures.repaired, figures.failed_open) == (8, 0)


@pytest.mark.parametrize(
    ("habit", "repaired"),
    [
        ("no response_format: 500", 2),
        ("tells no usage", 2),
        ("too long from 4,000: 422 flat", 2),
        ("reads 2,050 tokens", 0),
    ],
)
def test_a_server_with_a_habit_loses_nothing_and_hides_nothing(habit: str, repaired: int) -> None:
    with serving({}, habit=HABITS[habit]) as base:
        figures = storm(base, audits=2, concurrency=2, memory=LONG_MEMORY)
    assert (figures.lost, figures.wrong, figures.silent) == (0, 0, 0)
    assert (figures.repaired, figures.failed_open) == (repaired, 2 - repaired)
