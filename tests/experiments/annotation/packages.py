"""Runs on synthetic scenarios with texts made to order, and sheets filled in by rule."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stateauditor.experiments.annotation.export import export_package
from stateauditor.experiments.annotation.package import Item, Key, Manifest
from stateauditor.experiments.benchmarks.synthetic import scenario
from stateauditor.experiments.runs.folder import RunFolder, new_manifest
from stateauditor.experiments.runs.records import (
    DIMENSIONS,
    ItemRecord,
    JudgedProbe,
    Judgment,
    ProbeRecord,
)
from stateauditor.experiments.runs.scenarios import file_sha256
from stateauditor.experiments.runs.spec import parse_spec

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
Text = Callable[[str, str], str | None]
Passes = Callable[[str, str], bool]
LabelOf = Callable[[Item], str]


def drafted(uid: str, dimension: str) -> str:
    """What a draft says; it names no scenario and no dimension, as answers do not."""
    return f"Walk around the old town, {7 * int(uid[1:]) + DIMENSIONS.index(dimension)} steps."


def replied(uid: str, dimension: str) -> str:
    """What a reply says: IPA replies are the drafts."""
    draft = drafted(uid, dimension)
    return draft if dimension == "IPA" else draft.replace("old town", "new town")


def write_data(path: Path, count: int, **changes: Any) -> Path:
    """``count`` scenarios; ``changes`` replace fields of the first."""
    records = [scenario(number) for number in range(1, count + 1)]
    records[0] |= changes
    path.write_text(json.dumps(records), "utf-8")
    return path


def make_run(
    path: Path,
    data: Path,
    *,
    name: str = "Trial-Run",
    reply: Text = replied,
    draft: Text = drafted,
    judges: Mapping[str, Passes] | None = None,
    controls: Iterable[str] = (),
    failed: Iterable[str] = (),
    **settings: Any,
) -> RunFolder:
    """A finished run over all scenarios of ``data``; some are controls, some failed whole."""
    spec = parse_spec(
        {"name": name, "data": {"path": str(data)}, "arm": "strict_vta", "draws": 200, **settings},
        source="test",
    )
    records = json.loads(data.read_text("utf-8"))
    folder = RunFolder(path)
    manifest = new_manifest(
        data_name=data.name,
        data_sha256=file_sha256(data),
        frozen_sha256=None,
        scenarios=len(records),
        backend="loop",
    )
    folder.begin(spec, manifest, resume=False)
    controls, failed = set(controls), set(failed)
    for record in records:
        uid = record["uid"]
        folder.append(
            ItemRecord(
                uid=uid,
                type=record["type"],
                control=uid in controls,
                error="HTTP 500" if uid in failed else None,
                probes={
                    d: ProbeRecord(
                        question=record["probing_queries"][f"dim{n}_query"],
                        draft=draft(uid, d),
                        response=reply(uid, d),
                        error=None if reply(uid, d) is not None else "timed out",
                    )
                    for n, d in enumerate(DIMENSIONS, start=1)
                },
                judgments={
                    judge: Judgment(
                        probes={d: JudgedProbe(passed=passes(uid, d)) for d in DIMENSIONS}
                    )
                    for judge, passes in (judges or {}).items()
                },
            )
        )
    return folder


def export(folders: RunFolder | list[RunFolder], out: Path, **options: Any) -> tuple[Manifest, Key]:
    """A package at a fixed time, with its key."""
    folders = [folders] if isinstance(folders, RunFolder) else folders
    manifest = export_package(folders, out, **{"now": NOW, "cells": 12, **options})
    return manifest, Key.model_validate_json((out / "key.json").read_bytes())


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def fill(package: Path, key: Key, annotator: str, label: LabelOf, to: Path) -> Path:
    """The annotator's sheet with a label for each item, as a spreadsheet saves it."""
    items = key.by_id(annotator)
    filled = [r | {"label": label(items[r["item"]])} for r in rows(package / sheet(annotator))]
    return write_rows(to, filled)


def write_rows(path: Path, content: list[dict[str, str]], **dialect: Any) -> Path:
    """Rows as a CSV file."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(content[0]), lineterminator="\n", **dialect)
    writer.writeheader()
    writer.writerows(content)
    path.write_bytes(out.getvalue().encode("utf-8"))
    return path


def sheet(annotator: str) -> str:
    """The blank sheet's name."""
    return f"sheet_{annotator}.csv"
