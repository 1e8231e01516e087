"""A storm of faults on the LM server: no audit is lost, none comes out wrong."""

from __future__ import annotations

from stateauditor.experiments.benchmarks.fault_storm import MIXED, serving, storm


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
