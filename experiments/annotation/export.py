"""Writes a package: sheets for annotators, the key that unblinds, and what was frozen.

The old and the new state come from the run's data, since no record holds them; sheets
are for human judges and show both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from stateauditor.experiments.annotation.cells import choose
from stateauditor.experiments.annotation.form import form_html
from stateauditor.experiments.annotation.package import (
    KEY,
    MANIFEST,
    REPORT,
    RESULTS,
    Key,
    Manifest,
    make_secret,
    seal,
    sheet_names,
    strata,
)
from stateauditor.experiments.annotation.rules import RULES
from stateauditor.experiments.annotation.sheets import Entry, blank_sheet
from stateauditor.experiments.annotation.systems import Cell, cells_of
from stateauditor.experiments.annotation.verify import load_manifest, sha256
from stateauditor.experiments.results.comparability import refuse_changed_data
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.scenarios import open_source
from stateauditor.signatures.errors import ConfigError, InputError
from stateauditor.signatures.models import Frozen

States = Mapping[str, tuple[str, str]]
"""The old and the new state by uid."""


def export_package(
    folders: Sequence[RunFolder],
    out: Path,
    *,
    cells: int = 100,
    annotators: Sequence[str] = ("annotator1", "annotator2"),
    seed: int = 42,
    with_draft: bool = False,
    force: bool = False,
    now: datetime | None = None,
) -> Manifest:
    """Choose cells and write one sheet and one form for each annotator.

    The same runs and seed give the same bytes but for the time in the manifest. A
    folder with a package is left alone unless ``force``; one for which labels were
    read back always is. Raises :class:`ConfigError` for runs that cannot be compared,
    and :class:`InputError` where the data are not those of the runs.
    """
    earlier = _refuse_package(out, force=force)
    systems, found = cells_of(folders, with_draft=with_draft)
    chosen = choose(found, cells, seed)
    states = _states(folders[0], {cell.uid for cell in chosen})
    secret = make_secret(seed, (folder.items_path.read_bytes() for folder in folders))
    key = seal(secret, systems, chosen, annotators)
    files = {KEY: _json(key)} | {
        name: content
        for annotator in annotators
        for name, content in _sheets(annotator, _entries(annotator, key, chosen, states)).items()
    }
    source = folders[0].manifest()
    manifest = Manifest(
        exported=(now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
        seed=seed,
        wanted=cells,
        cells=len(chosen),
        scenarios=len({cell.uid for cell in chosen}),
        answers=len(chosen) * len(systems),
        items=len(key.items),
        strata=strata(chosen),
        systems=systems,
        data_name=source.data_name,
        data_sha256=source.data_sha256,
        annotators=tuple(annotators),
        files={name: sha256(content) for name, content in sorted(files.items())},
    )
    _write(out, files, manifest, earlier)
    return manifest


def _refuse_package(out: Path, *, force: bool) -> Manifest | None:
    """The package that ``force`` may replace, if there is one."""
    if not (out / MANIFEST).exists():
        return None
    for name in (RESULTS, REPORT):
        if (out / name).exists():
            raise ConfigError(
                f"{out} holds a package whose labels were read back ({name}); choose another --out"
            )
    if not force:
        raise ConfigError(
            f"{out} holds a package already; labels for it could no longer be read back if it "
            "changed. Choose another --out, or add --force where nobody has its sheets yet"
        )
    return load_manifest(out)


def _states(folder: RunFolder, uids: Collection[str]) -> States:
    source = open_source(folder.spec().data)
    refuse_changed_data(source, folder, "an annotator")
    found = {
        item.uid: (item.judge.m_old.reveal(), item.judge.m_new.reveal())
        for item in source
        if item.uid in uids
    }
    missing = sorted(set(uids) - found.keys())
    if missing:
        raise InputError(f"{source.name}: lacks the scenario {missing[0]!r} of {folder.path}")
    return found


def _entries(annotator: str, key: Key, cells: Sequence[Cell], states: States) -> tuple[Entry, ...]:
    """What one annotator sees, in the order of their ids, which follow from nothing but the key."""
    by_key = {(cell.uid, cell.dimension): cell for cell in cells}
    entries = []
    for blind, item in sorted(key.by_id(annotator).items()):
        cell = by_key[item.uid, item.dimension]
        old, new = states[item.uid]
        entries.append(
            Entry(
                id=blind,
                dimension=item.dimension,
                question=cell.question,
                old_state=old,
                new_state=new,
                rule=RULES[item.dimension],
                answer=cell.answers[item.systems[0]],
            )
        )
    return tuple(entries)


def _sheets(annotator: str, entries: Sequence[Entry]) -> dict[str, bytes]:
    table, form = sheet_names(annotator)
    page = form_html(annotator, entries).encode("utf-8", "replace")
    return {table: blank_sheet(entries), form: page}


def _json(value: Frozen) -> bytes:
    return (value.model_dump_json(indent=2) + "\n").encode("utf-8")


def _write(
    out: Path, files: Mapping[str, bytes], manifest: Manifest, earlier: Manifest | None
) -> None:
    """All files, the manifest last: an export that broke off is no package."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / MANIFEST).unlink(missing_ok=True)
        for name in earlier.own_files() if earlier else ():
            (out / name).unlink(missing_ok=True)
        for name, content in files.items():
            (out / name).write_bytes(content)
        (out / MANIFEST).write_bytes(_json(manifest))
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error
