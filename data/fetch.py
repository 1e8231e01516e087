"""Fetching a pinned file once, and trusting it only after its checksum."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from stateauditor.data.extras import extra
from stateauditor.data.registry import Dataset, Pin, expected_path, get_dataset, pin_of
from stateauditor.data.verify import measured
from stateauditor.signatures.errors import InputError


def fetch(name: str, *, console: Console | None = None) -> Path:
    """Fetch a data set's pinned file into the data folder, and return its path.

    A file that is already there, fetched or placed by hand, is checked and kept.
    ``HF_ENDPOINT`` names another server with the hub's interface; no access
    token is sent. With a `console`, a progress bar is shown on it.

    Raises `InputError` if the file cannot be had, saying where to put it by
    hand, or if its bytes are not the pinned ones.
    """
    dataset = get_dataset(name)
    pin, path = pin_of(dataset), expected_path(dataset)
    if path.exists():
        if problem := _mismatch(path, pin):
            raise InputError(
                f"{path}: {problem}; it was left as it is. Move it away and fetch again"
            )
        return path
    hub = extra("huggingface_hub", "fetching a data set")
    try:
        _download(hub, pin, path, console)
    except Exception as error:
        # Whatever the hub's client raises (it has changed its HTTP library
        # before): the user's way out is the same.
        raise InputError(_by_hand(dataset, pin, path, error)) from error
    if problem := _mismatch(path, pin):
        path.unlink()
        raise InputError(f"{dataset.title}: {problem}; the fetched file was removed")
    return path


def _download(hub: Any, pin: Pin, path: Path, console: Console | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _bar(pin, console) as bar:
        hub.hf_hub_download(
            pin.repo,
            pin.filename,
            repo_type="dataset",
            revision=pin.revision,
            local_dir=path.parent,
            endpoint=os.environ.get("HF_ENDPOINT"),
            token=False,
            library_name="stateauditor",
            tqdm_class=bar,
        )


def _mismatch(path: Path, pin: Pin) -> str | None:
    size, sha256 = measured(path)
    if size != pin.size:
        return f"has {size:,} bytes, and the pinned file has {pin.size:,}"
    if sha256 != pin.sha256:
        return f"has SHA-256 {sha256}, and the pinned file has {pin.sha256}"
    return None


def _by_hand(dataset: Dataset, pin: Pin, path: Path, error: Exception) -> str:
    reason: BaseException = error
    while reason.__cause__ is not None:
        # "Connection refused" says more than "not in the local cache".
        reason = reason.__cause__
    shown = str(reason).strip().partition("\n")[0] or type(reason).__name__
    return (
        f"{dataset.title} could not be fetched: {shown}\n"
        f"Without a network, get {pin.filename} of the hub's data set {pin.repo} "
        f"(revision {pin.revision}) on another machine and put it here:\n"
        f"  {path}\n"
        f"It has {pin.size:,} bytes and SHA-256 {pin.sha256}. Then check it with:\n"
        f"  stateauditor data verify {path}"
    )


@contextmanager
def _bar(pin: Pin, console: Console | None) -> Iterator[type]:
    """The class that the hub's client makes its progress bars of, drawn by rich."""
    tqdm: Any = extra("tqdm", "fetching a data set").tqdm
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=console is None) as progress:

        class HubBar(tqdm):
            """Counts as tqdm does, so that the client finds all it expects; rich draws."""

            def __init__(self, *args: Any, **options: Any) -> None:
                options.update(file=io.StringIO(), disable=False)
                super().__init__(*args, **options)
                # The client cuts the path from the left; its other labels say more.
                label = pin.filename if self.desc.endswith(pin.filename) else self.desc
                self._task = progress.add_task(label, total=self.total)
                self.update(0)

            def update(self, n: float | None = 1) -> bool | None:
                drawn: bool | None = super().update(n)
                progress.update(self._task, completed=self.n, total=self.total)
                return drawn

            def display(self, *args: Any, **options: Any) -> None:
                """Draw nothing: that is rich's work."""

        yield HubBar
