"""Judges: loaded by file, each with its own name; a panel has a majority and its agreement."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.records import parse_record
from stateauditor.experiments.benchmarks.synthetic import scenario
from stateauditor.experiments.runs.judges import Judge, load_judges
from stateauditor.experiments.runs.records import ProbeRecord
from stateauditor.program.backends.scripted import scripted_backend
from stateauditor.signatures.errors import ConfigError
from tests.experiments.pipeline import pipeline, write_backend
from tests.support.loopback import Loopback, loopback

PROBES = {d: ProbeRecord(question=f"{d}?", response=f"{d} answer") for d in ("SR", "PR", "IPA")}
PASSED = {"reason": "fits", "passed": True, "grounded": False}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(pipeline) as running:
        yield running


def score(reply: Any, probes: dict[str, ProbeRecord] | None = None) -> Any:
    backend = scripted_backend({"stale_judgment": reply})
    item = parse_record(scenario(1), "test", 1)
    judged, calls = asyncio.run(Judge(backend).score(item, probes or PROBES))
    return judged, calls, next(iter(backend._lms.values())).engine.requests


def test_one_call_scores_all_three_replies_under_both_rubrics() -> None:
    failed = {"reason": "old", "passed": False, "grounded": True}
    judged, calls, requests = score({"reasoning": "r", "sr": PASSED, "pr": failed, "ipa": PASSED})
    assert len(calls) == len(requests) == 1
    assert {d: (p.passed, p.grounded) for d, p in judged.probes.items()} == {
        "SR": (True, False),
        "PR": (False, False),  # no failed answer is a grounded one, whatever the judge says
        "IPA": (True, False),
    }
    for text in ("SEALED-OLD-1", "SEALED-NEW-1", "SEALED-WHY-1", "IPA answer"):
        assert text in requests[0].prompt


def test_a_judgment_waits_for_all_three_replies() -> None:
    probes = PROBES | {"PR": ProbeRecord(question="PR?", error="no draft: timed out")}
    judged, calls, requests = score({}, probes)
    assert judged.error == "no reply for PR"
    assert (calls, requests) == ((), [])


def test_a_judge_that_fails_is_an_error_and_no_verdict() -> None:
    judged, calls, _ = score("no json at all")
    assert judged.probes == {}
    assert judged.error
    assert len(calls) == 2, "an unreadable reply is asked for once more, and both are paid for"


def test_judges_are_backend_files_and_the_key_judge_needs_none(
    tmp_path: Path, server: Loopback
) -> None:
    files = [str(write_backend(tmp_path / f"{name}.yaml", server)) for name in ("one", "two")]
    judges = load_judges(["key", *files])
    assert [(judge.name, judge.model) for judge in judges] == [
        ("one", "openai/one"),
        ("two", "openai/two"),
    ]


def test_two_judges_of_one_name_are_refused(tmp_path: Path, server: Loopback) -> None:
    file = str(write_backend(tmp_path / "one.yaml", server))
    with pytest.raises(ConfigError, match="two judges are named 'one'"):
        load_judges([file, file])


def test_lexical_rules_are_no_judge() -> None:
    with pytest.raises(ConfigError, match=r"use judges: \[key\]"):
        load_judges(["offline"])
