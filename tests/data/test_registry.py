"""The pins are the published ones, and fetched data lie where the user says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stateauditor.data.registry import (
    STALE,
    STALE_MINI,
    data_home,
    dataset_path,
    expected_path,
    list_datasets,
)
from stateauditor.data.slices import load_slice
from stateauditor.signatures.errors import InputError


def test_stale_is_pinned_to_its_revision_and_bytes() -> None:
    pin = STALE.pin
    assert pin is not None
    assert pin.revision == "617c51dc200b5ab09970834144c7e51c77959af0"
    assert pin.size == 305_908_212
    assert pin.sha256 == "5f3ec375179e20e2e94469e018189188f34e2e7e5f21cbecbd99fcfa648c1876"
    assert list_datasets() == (STALE, STALE_MINI)


def test_the_bundled_slice_has_as_many_records_as_are_listed() -> None:
    assert len(list(load_slice("stale_mini"))) == STALE_MINI.records


def test_the_users_folder_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STATEAUDITOR_DATA", str(tmp_path))
    assert expected_path(STALE) == tmp_path / "stale" / "T1_T2_400_FULL.json"
    with pytest.raises(InputError, match="get it with: stateauditor data fetch stale"):
        dataset_path("stale")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/stateauditor"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/stateauditor"),
        ("linux", {"XDG_CACHE_HOME": "{}/xdg"}, "xdg/stateauditor"),
        ("darwin", {}, "home/Library/Caches/stateauditor"),
        ("win32", {"LOCALAPPDATA": "{}/local"}, "local/stateauditor"),
    ],
)
def test_else_it_is_the_platforms_cache(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    platform: str,
    variables: dict[str, str],
    expected: str,
) -> None:
    for name in ("STATEAUDITOR_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert data_home() == tmp_path / expected
