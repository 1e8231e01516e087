"""A suite that was frozen is refused once a single letter of it differs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stateauditor.data.frozen import ids_sha256
from stateauditor.data.sealed import SealedText
from stateauditor.data.suites import freeze, lifecycle
from stateauditor.data.suites.frozen import (
    FrozenSuite,
    canonical_json,
    check_suite,
    content_sha256,
    freeze_suite,
    frozen_path,
    load_frozen_suite,
)
from stateauditor.data.suites.items import SuiteItem
from stateauditor.signatures.errors import InputError
from tests.data.suites.test_items import item


def frozen(*items: SuiteItem) -> FrozenSuite:
    return freeze_suite("safety", 42, items)


def with_key(**changes: str) -> SuiteItem:
    made = item()
    probe = made.probes[0]
    key = replace(probe.key, **{name: SealedText(text) for name, text in changes.items()})
    return replace(made, probes=(replace(probe, key=key),))


def test_the_committed_lifecycle_suite_is_what_the_generator_yields() -> None:
    committed = load_frozen_suite(lifecycle.SUITE)
    assert (committed.seed, committed.count) == (lifecycle.SEED, 120)
    check_suite(lifecycle.items(), committed)


def test_the_committed_record_ships_with_its_protocol() -> None:
    folder = frozen_path(lifecycle.SUITE).parent.parent
    assert (folder / f"PROTOCOL-{lifecycle.SUITE}.md").is_file()


def test_another_seed_is_not_the_frozen_suite() -> None:
    with pytest.raises(InputError, match="changed"):
        check_suite(lifecycle.items(7), load_frozen_suite(lifecycle.SUITE))


@pytest.mark.parametrize(
    "changed",
    [
        with_key(old_value="Bradford"),
        with_key(attribute="town"),
        replace(item(), group="trap"),
        replace(item(), sessions=item().sessions[:1]),
        replace(item(), probes=(replace(item().probes[0], draft="Try the baths."),)),
    ],
)
def test_a_changed_item_is_refused_by_name(changed: SuiteItem) -> None:
    check_suite([item()], frozen(item()))
    with pytest.raises(InputError, match=r"1 changed \(i1\)"):
        check_suite([changed], frozen(item()))


def test_missing_new_and_reordered_items_are_told_apart() -> None:
    one, two, three = (replace(item(), uid=uid) for uid in ("i1", "i2", "i3"))
    with pytest.raises(InputError, match=r"1 missing \(i2\); 1 new \(i3\)"):
        check_suite([one, three], frozen(one, two))
    with pytest.raises(InputError, match="another order"):
        check_suite([two, one], frozen(one, two))


def test_many_differences_are_counted_and_the_first_few_named() -> None:
    many = [replace(item(), uid=f"i{n}") for n in range(9)]
    with pytest.raises(InputError, match=r"9 missing \(i0, i1, i2, i3, i4, \.\.\.\)"):
        check_suite([], frozen(*many))


def test_the_canonical_json_holds_all_of_the_key_in_one_spelling() -> None:
    (told,) = json.loads(canonical_json([item()]))
    assert told["probes"][0]["key"]["old_value"] == "Leeds"
    assert told["sessions"][0]["turns"][0]["role"] == "user"
    assert content_sha256([item()]) == content_sha256((item(),))


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "safety.json"
    path.write_text(frozen(item()).to_json())
    assert load_frozen_suite(path) == frozen(item())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"ids": ["i2"]}, "does not fit the ids"),
        ({"count": 2}, "says 2, but there are 1 ids"),
        ({"item_sha256": []}, "0 checksums"),
        ({"more": 1}, "is unknown"),
        ({"seed": "42"}, "must be a whole number"),
    ],
)
def test_a_record_that_does_not_hold_together_is_refused(
    tmp_path: Path, change: dict[str, object], what: str
) -> None:
    path = tmp_path / "safety.json"
    path.write_text(json.dumps(json.loads(frozen(item()).to_json()) | change))
    with pytest.raises(InputError, match=what):
        load_frozen_suite(path)


def test_a_record_with_other_ids_and_their_checksum_is_still_refused() -> None:
    forged = replace(frozen(item()), ids=("i2",), sha256=ids_sha256(["i2"]))
    with pytest.raises(InputError, match="missing"):
        check_suite([item()], forged)


def test_a_suite_without_a_record_says_how_to_freeze_it() -> None:
    with pytest.raises(InputError, match=r"data\.suites\.freeze"):
        load_frozen_suite("nothing")


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        load_frozen_suite(path)


def test_freezing_refuses_to_overwrite_unless_it_is_asked_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "folder" / "lifecycle_hard.json"
    given = [lifecycle.SUITE, "--out", str(out)]
    assert freeze.main(given) == 0
    assert "120 scenarios" in capsys.readouterr().out
    out.write_text("kept")
    assert freeze.main(given) == 2
    assert "--renew" in capsys.readouterr().err
    assert out.read_text() == "kept"
    assert freeze.main([*given, "--renew"]) == 0
    assert load_frozen_suite(out) == load_frozen_suite(lifecycle.SUITE)


def test_freezing_an_unknown_suite_names_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert freeze.main(["lifecycle"]) == 2
    assert "lifecycle_hard" in capsys.readouterr().err


def test_a_suite_with_problems_is_not_frozen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freeze, "generate", lambda name: (item(), item()))
    with pytest.raises(InputError, match="the uid occurs twice"):
        freeze.freeze("broken", out=tmp_path / "broken.json")
    assert not (tmp_path / "broken.json").exists()
