"""The suites by name: sound, the same bytes each time, and checked where they are frozen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stateauditor.data.suites import lifecycle, registry
from stateauditor.data.suites.items import SuiteItem
from stateauditor.data.suites.registry import SEED, SUITES, load_suite
from stateauditor.signatures.errors import InputError


@pytest.mark.parametrize(("name", "count"), [("safety", 350), ("lifecycle_hard", 120)])
def test_a_suite_is_sound_and_the_same_each_time(name: str, count: int) -> None:
    suite = load_suite(name)
    assert len(suite.items) == count
    assert {item.suite for item in suite.items} == {name}
    assert load_suite(name).sha256 == suite.sha256
    assert load_suite(name, seed=7).sha256 != suite.sha256


def test_a_frozen_suite_names_its_record_and_another_seed_has_none() -> None:
    frozen = load_suite("lifecycle_hard")
    assert frozen.frozen_sha256 == frozen.sha256
    assert load_suite("lifecycle_hard", seed=SEED + 1).frozen_sha256 is None
    safety = load_suite("safety")
    assert safety.frozen_sha256 in (None, safety.sha256)


def test_a_frozen_suite_that_drifted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = lifecycle.items()

    def drifted(seed: int) -> tuple[SuiteItem, ...]:
        probe = replace(first.probes[0], question="Has this been changed?")
        return (replace(first, probes=(probe, *first.probes[1:])), *rest)

    monkeypatch.setattr(lifecycle, "items", drifted)
    with pytest.raises(InputError, match="is not the frozen one: 1 changed"):
        load_suite("lifecycle_hard")


def test_an_unsound_suite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_problems", lambda items: ["x: no probe"])
    with pytest.raises(InputError, match=r"suite safety, seed 42: 1 problem\(s\): x: no probe"):
        load_suite("safety")


def test_an_unknown_suite_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match=f"there are {', '.join(SUITES)}"):
        load_suite("nothing")
