"""Whole cache folders: what is in them, emptying, packing into a file, unpacking.

A cache folder holds one folder a backend, and in it one JSON file a response
(``store``). Packed files are the same for the same records, and unpacking checks
every member before anything is written.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from stateauditor.program.backends.store import FORMAT
from stateauditor.signatures.errors import InputError

_RECORD = re.compile(r"([0-9a-f]{2})/\1[0-9a-f]{62}\.json")
_MEMBER = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]*/{_RECORD.pattern}")
_LARGEST = 64 << 20  # bytes; a record is one reply
_THE_SAME_DAY = (1980, 1, 1, 0, 0, 0)  # the oldest that the format knows
_TYPES = {"outputs": list, "model": str, "input_tokens": int, "output_tokens": int}


class Existing(StrEnum):
    """What an import does with a record that is there with another content."""

    REFUSE = "refuse"
    KEEP = "keep"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class BackendCache:
    """What is recorded of one backend; ``unparsable`` replies are asked for again."""

    name: str
    records: int
    size: int
    unparsable: int
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import found."""

    added: int
    same: int
    differing: int


def backends_in(folder: Path) -> list[str]:
    """The names of the backends that have records in ``folder``."""
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if next(_records(path), None))


def summarise(folder: Path) -> list[BackendCache]:
    """Every backend in a cache folder."""
    return [_summary(folder / name) for name in backends_in(folder)]


def clear(folder: Path, names: Sequence[str] = ()) -> int:
    """Delete the records of some backends, or of all; how many there were.

    Nothing but records is deleted, and folders that this leaves empty.
    """
    deleted = 0
    for name in _named(folder, names):
        for path in list(_records(folder / name)):
            path.unlink()
            deleted += 1
        for part in [*(folder / name).iterdir(), folder / name]:
            if part.is_dir() and not any(part.iterdir()):
                part.rmdir()
    return deleted


def pack(folder: Path, target: Path, names: Sequence[str] = ()) -> int:
    """Write the records of some backends, or of all, into a .zip; how many there are."""
    paths = [path for name in _named(folder, names) for path in sorted(_records(folder / name))]
    if not paths:
        raise InputError(f"{folder}: no recorded responses")
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with zipfile.ZipFile(partial, "w") as archive:
            for path in paths:
                member = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _THE_SAME_DAY)
                member.external_attr = 0o644 << 16
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, path.read_bytes())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return len(paths)


def unpack(source: Path, folder: Path, existing: Existing = Existing.REFUSE) -> Imported:
    """Add the records of a packed file; see :class:`Existing` for those that differ.

    Raises :class:`InputError`, with nothing written, where the file is not what
    :func:`pack` writes, or holds other answers than the folder and may not decide.
    """
    added: list[str] = []
    differing: list[str] = []
    same = 0
    try:
        with zipfile.ZipFile(source) as archive:
            for member in archive.infolist():
                new = _checked(source, archive, member)
                there = _read(folder / member.filename)
                if there is None:
                    added.append(member.filename)
                elif _answer(there) == _answer(new):
                    same += 1
                else:
                    differing.append(member.filename)
            if differing and existing is Existing.REFUSE:
                raise InputError(
                    f"{source}: {len(differing)} record(s) hold another answer than {folder}, "
                    f"first {differing[0]}; say which ones count: --existing keep or replace"
                )
            replaced = differing if existing is Existing.REPLACE else []
            for name in (*added, *replaced):
                _write(folder / name, archive.read(name))
    except FileNotFoundError:
        raise InputError(f"{source}: there is no such file") from None
    except zipfile.BadZipFile:
        raise InputError(f"{source}: not a file that `cache export` wrote") from None
    return Imported(len(added), same, len(differing))


def _named(folder: Path, names: Sequence[str]) -> list[str]:
    there = backends_in(folder)
    for name in names:
        if name not in there:
            listed = ", ".join(there) or "none"
            raise InputError(f"{folder}: no records of a backend {name!r}; there are: {listed}")
    return list(names) or there


def _records(folder: Path) -> Iterator[Path]:
    """The record files of one backend; whatever else lies there is not ours."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in folder.glob("??/*.json"):
        if _RECORD.fullmatch(path.relative_to(folder).as_posix()):
            yield path


def _summary(folder: Path) -> BackendCache:
    size = records = unparsable = 0
    models = set()
    for path in _records(folder):
        records += 1
        size += path.stat().st_size
        record = _read(path) or {}
        unparsable += bool(record.get("unparsable"))
        models.add(str(record.get("model", "unreadable")))
    return BackendCache(folder.name, records, size, unparsable, tuple(sorted(models)))


def _checked(source: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> dict[str, Any]:
    """A member's record; raises :class:`InputError` for anything else."""
    what = f"{source}: {member.filename!r}"
    if not _MEMBER.fullmatch(member.filename):
        raise InputError(f"{what} is no record of a response")
    if member.file_size > _LARGEST:
        raise InputError(f"{what} is too large for a record")
    record = _parsed(archive.read(member))
    if record is None or record.get("format") != FORMAT:
        raise InputError(f"{what} is not in format {FORMAT} of recorded responses")
    wrong = [name for name, kind in _TYPES.items() if not isinstance(record.get(name), kind)]
    if wrong:
        raise InputError(f"{what} has no right {', '.join(wrong)}")
    return record


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return _parsed(path.read_bytes())
    except FileNotFoundError:
        return None


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        loaded = json.loads(raw)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _answer(record: dict[str, Any]) -> dict[str, Any]:
    """What a record answers, without which run paid for it."""
    return {name: value for name, value in record.items() if name != "owner"}


def _write(path: Path, raw: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_bytes(raw)
    partial.replace(path)
