"""Whether a package is still what was frozen: each file's SHA-256 against the manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from stateauditor.experiments.annotation.package import FORMAT, KEY, MANIFEST, Key, Manifest
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen

M = TypeVar("M", bound=Frozen)


def sha256(content: bytes) -> str:
    """The digest as it stands in a manifest."""
    return hashlib.sha256(content).hexdigest()


def load_manifest(folder: Path) -> Manifest:
    """What was frozen in a folder. Raises :class:`InputError` where that is nothing."""
    path = folder / MANIFEST
    if not path.exists():
        raise InputError(
            f"{folder}: holds no package of sheets (no {MANIFEST}); "
            "write one with `stateauditor annotate export`"
        )
    return _parsed(Manifest, read(path), path)


def load_package(folder: Path) -> tuple[Manifest, Key]:
    """A package whose files are as they were frozen.

    A sheet that is not there any more is not missed. Raises :class:`InputError` that
    names each file that has changed, and where the key is gone.
    """
    manifest = load_manifest(folder)
    if not (folder / KEY).exists():
        raise InputError(
            f"{folder / KEY}: there is no such file; without the key no label can be unblinded"
        )
    changed = [
        name
        for name, digest in manifest.files.items()
        if (folder / name).exists() and sha256(read(folder / name)) != digest
    ]
    if changed:
        raise InputError(_changed(folder, changed))
    return manifest, _parsed(Key, read(folder / KEY), folder / KEY)


def read(path: Path) -> bytes:
    """A file's content, or an :class:`InputError` that says why there is none."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def _changed(folder: Path, names: Collection[str]) -> str:
    text = (
        f"{folder}: {', '.join(sorted(names))} changed after the export (SHA-256 differs from "
        f"{MANIFEST}), so it is not what was frozen"
    )
    if any(name.endswith(".csv") for name in names):
        text += (
            ". A sheet that was filled in place: move it out of the folder, and bring back the "
            "blank one by exporting the same runs with the same options into another folder"
        )
    return text


def _parsed(model: type[M], content: bytes, path: Path) -> M:
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise InputError(
            f"{path}: no {path.name} of format {FORMAT}: {where}: {first['msg']}"
        ) from None
