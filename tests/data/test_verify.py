"""A report says which file it is and where it breaks."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from stateauditor.data import registry
from stateauditor.data.registry import STALE
from stateauditor.data.verify import verify_file
from stateauditor.signatures.errors import InputError
from tests.data.records import record, write_json

RECORDS = [record("a"), record("b", type="T2"), record("c")]


def test_a_file_of_ones_own_is_counted(tmp_path: Path) -> None:
    path = write_json(tmp_path / "own.json", RECORDS)
    report = verify_file(path)
    assert report.records == 3
    assert report.types == {"T1": 2, "T2": 1}
    assert report.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert report.size == path.stat().st_size
    assert report.intact
    assert report.identity == "no data set that is known by its checksum"


def test_the_first_broken_record_is_reported(tmp_path: Path) -> None:
    report = verify_file(write_json(tmp_path / "x.json", [RECORDS[0], record("bad", M_old=1)]))
    assert report.records == 1
    assert not report.intact
    assert report.broken is not None
    assert "uid 'bad'), field 'M_old'" in report.broken


def test_the_pinned_bytes_are_recognised_under_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_json(tmp_path / "renamed.json", RECORDS)
    content = path.read_bytes()
    assert STALE.pin is not None
    pin = dataclasses.replace(
        STALE.pin, size=len(content), sha256=hashlib.sha256(content).hexdigest()
    )
    monkeypatch.setitem(registry._DATASETS, "stale", dataclasses.replace(STALE, pin=pin))
    report = verify_file(path)
    assert report.identity.startswith("stale: Stale, all 400 scenarios, revision 617c51dc")
    assert report.intact


def test_other_bytes_under_the_pinned_name_are_not_intact(tmp_path: Path) -> None:
    report = verify_file(write_json(tmp_path / "T1_T2_400_FULL.json", RECORDS))
    assert report.broken is None
    assert not report.intact
    assert report.identity.startswith("NOT the pinned file of stale: that has 305,908,212 bytes")


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        verify_file(tmp_path / "none.json")
