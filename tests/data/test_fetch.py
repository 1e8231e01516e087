"""Fetching takes the pinned bytes or none, and says what to do without a network."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from stateauditor.data import registry
from stateauditor.data.fetch import fetch
from stateauditor.data.registry import STALE, Dataset, dataset_path, expected_path
from stateauditor.signatures.errors import ConfigError, InputError
from tests.data.hub import Hub, hub
from tests.data.records import record

CONTENT = json.dumps([record("a"), record("b")]).encode()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Dataset:
    """Stale as it is pinned, but for the size and checksum of a small file."""
    assert STALE.pin is not None
    pin = dataclasses.replace(
        STALE.pin, size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest()
    )
    dataset = dataclasses.replace(STALE, pin=pin)
    monkeypatch.setitem(registry._DATASETS, "stale", dataset)
    monkeypatch.setenv("STATEAUDITOR_DATA", str(tmp_path / "data"))
    # A token that the machine may hold must not travel.
    monkeypatch.setenv("HF_TOKEN", "not-to-be-sent")
    # The client waits longer and longer between its tries.
    impatient = SimpleNamespace(sleep=lambda seconds: None)
    monkeypatch.setattr("huggingface_hub.utils._http.time", impatient)
    return dataset


@pytest.fixture
def server(small: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub's stand-in, holding the small file."""
    assert small.pin is not None
    with hub(small.pin, CONTENT) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.base)
        yield running


def test_the_pinned_revision_is_fetched_with_a_progress_bar(server: Hub, small: Dataset) -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=120)
    path = fetch("stale", console=screen)
    assert path == expected_path(small) == dataset_path("stale")
    assert path.read_bytes() == CONTENT
    assert small.pin is not None
    assert {p for _, p, _ in server.requests} == {
        f"/datasets/{small.pin.repo}/resolve/{small.pin.revision}/{small.pin.filename}"
    }
    assert isinstance(screen.file, io.StringIO)
    shown = screen.file.getvalue()
    assert "T1_T2_400_FULL.json" in shown
    assert f"{len(CONTENT) / 1000:.1f}/{len(CONTENT) / 1000:.1f} kB" in shown


def test_no_token_is_sent(server: Hub) -> None:
    fetch("stale")
    assert not [headers for _, _, headers in server.requests if "authorization" in headers]


def test_a_file_that_is_there_is_checked_and_kept(server: Hub, small: Dataset) -> None:
    path = expected_path(small)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert fetch("stale") == path
    assert server.requests == []


def test_a_wrong_file_placed_by_hand_is_reported_and_left(server: Hub, small: Dataset) -> None:
    path = expected_path(small)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT + b" ")
    with pytest.raises(InputError, match="left as it is"):
        fetch("stale")
    assert path.exists()
    assert server.requests == []


def test_wrong_bytes_from_the_server_are_removed(server: Hub, small: Dataset) -> None:
    server.content = CONTENT.replace(b"Denver", b"Dublin")
    with pytest.raises(InputError, match=r"SHA-256 .* the fetched file was removed"):
        fetch("stale")
    assert not expected_path(small).exists()
    server.content = CONTENT[:-1]
    with pytest.raises(InputError, match=r"bytes, and the pinned file has .* was removed"):
        fetch("stale")
    server.content = CONTENT
    assert fetch("stale").read_bytes() == CONTENT


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusing_server_leads_to_the_way_by_hand(server: Hub, status: int) -> None:
    server.status = status
    with pytest.raises(InputError, match="could not be fetched"):
        fetch("stale")


def test_without_a_network_the_message_says_where_to_put_the_file(
    small: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError) as caught:
        fetch("stale")
    assert small.pin is not None
    message = str(caught.value)
    for part in (
        "Connection refused",
        str(expected_path(small)),
        f"stateauditor data verify {expected_path(small)}",
        "STALEproj/STALE",
        small.pin.revision,
        small.pin.sha256,
        f"{small.pin.size:,} bytes",
    ):
        assert part in message


def test_without_the_client_the_command_to_install_it_is_named(
    small: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r"pip install 'stateauditor\[experiments\]'"):
        fetch("stale")


def test_what_ships_or_is_unknown_cannot_be_fetched() -> None:
    with pytest.raises(InputError, match="ships with the package"):
        fetch("stale_mini")
    with pytest.raises(InputError, match="there are: stale, stale_mini"):
        fetch("nothing")
