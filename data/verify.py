"""What a file is: its checksum against the pins, and its records one by one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stateauditor.data.registry import Dataset, list_datasets
from stateauditor.data.stale import iter_stale
from stateauditor.signatures.errors import InputError


@dataclass(frozen=True, slots=True)
class FileReport:
    """What `verify_file` found.

    ``dataset`` is the data set whose pinned bytes these are; ``claimed`` the one
    that has a file of this name. ``broken`` is the first broken record's error,
    and ``records`` counts the good ones before it, ``types`` by stratum.
    """

    path: Path
    size: int
    sha256: str
    records: int = 0
    types: Mapping[str, int] = field(default_factory=dict)
    broken: str | None = None
    dataset: Dataset | None = None
    claimed: Dataset | None = None

    @property
    def intact(self) -> bool:
        """All records are good, and the bytes are the pinned ones if the name says so."""
        return self.broken is None and self.claimed in (None, self.dataset)

    @property
    def identity(self) -> str:
        """Which data set the file is, in words."""
        if self.dataset is not None and self.dataset.pin is not None:
            return (
                f"{self.dataset.name}: {self.dataset.title}, revision {self.dataset.pin.revision}"
            )
        if self.claimed is not None and self.claimed.pin is not None:
            pin = self.claimed.pin
            return (
                f"NOT the pinned file of {self.claimed.name}: that has {pin.size:,} bytes "
                f"and SHA-256 {pin.sha256}"
            )
        return "no data set that is known by its checksum"


def verify_file(path: Path | str) -> FileReport:
    """Read a file in Stale's layout to its end and report on it.

    A broken record is part of the report. Raises `InputError` where the file
    cannot be opened, `ConfigError` where a package that reads it is missing.
    """
    path = Path(path)
    size, sha256 = measured(path)
    types: Counter[str] = Counter()
    broken = None
    try:
        for item in iter_stale(path):
            types[item.type.value] += 1
    except InputError as error:
        broken = str(error)
    pinned = [(dataset, dataset.pin) for dataset in list_datasets() if dataset.pin is not None]
    return FileReport(
        path=path,
        size=size,
        sha256=sha256,
        records=types.total(),
        types=dict(sorted(types.items())),
        broken=broken,
        dataset=next((d for d, pin in pinned if (pin.size, pin.sha256) == (size, sha256)), None),
        claimed=next((d for d, pin in pinned if pin.filename == path.name), None),
    )


def measured(path: Path) -> tuple[int, str]:
    """Size and SHA-256 of a file, read in pieces."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return file.tell(), digest.hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
