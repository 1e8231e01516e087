"""Reads labels back: checks what was frozen, unblinds, computes, writes the results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stateauditor.experiments.annotation.findings import AnnotationResults
from stateauditor.experiments.annotation.labels import read_filled
from stateauditor.experiments.annotation.package import MANIFEST, REPORT, RESULTS
from stateauditor.experiments.annotation.results import results
from stateauditor.experiments.annotation.tables import annotation_text
from stateauditor.experiments.annotation.verify import load_package, read, sha256
from stateauditor.metrics import DRAWS
from stateauditor.signatures.errors import InputError


@dataclass(frozen=True, slots=True)
class Imported:
    """The figures, their text, and where both stand."""

    results: AnnotationResults
    text: str
    json_path: Path
    text_path: Path


def import_labels(folder: Path, files: Iterable[str], *, draws: int = DRAWS) -> Imported:
    """Unblind filled sheets; ``files`` are paths or NAME=PATH.

    The same package and labels give the same bytes. Raises :class:`InputError` where
    the package is not what was frozen, or a sheet is not one of it.
    """
    manifest, key = load_package(folder)
    filled = read_filled(folder, manifest, key, files)
    found = results(
        key,
        manifest,
        filled,
        manifest_sha256=sha256(read(folder / MANIFEST)),
        draws=draws,
    )
    text = annotation_text(found)
    done = Imported(found, text, folder / RESULTS, folder / REPORT)
    try:
        done.json_path.write_text(found.model_dump_json(indent=2) + "\n", "utf-8")
        done.text_path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return done
