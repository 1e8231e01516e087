"""Reads filled sheets back: whose they are, what they say, and that nothing else changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateauditor.experiments.annotation.package import Key, Manifest, sheet_names
from stateauditor.experiments.annotation.rules import Label
from stateauditor.experiments.annotation.sheets import (
    TEXTS,
    Row,
    read_rows,
    same_text,
    unguarded,
)
from stateauditor.experiments.annotation.verify import read
from stateauditor.signatures.errors import InputError

_SHOWN: Final = 5  # problems of one file that a message lists
_WORDS: Final = ", ".join(Label)


@dataclass(frozen=True, slots=True)
class Filled:
    """One annotator's sheet: a label for each of their blind ids, None where there is none."""

    annotator: str
    labels: Mapping[str, Label | None]
    comments: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_filled(
    folder: Path, manifest: Manifest, key: Key, files: Iterable[str]
) -> tuple[Filled, ...]:
    """The sheets of some annotators, in the manifest's order.

    Each of ``files`` is a path, or NAME=PATH to say whose sheet it must be; its ids
    tell whose it is. Raises :class:`InputError` with file and line for a sheet that
    is not one of the package, that was altered beside labels and comments, or that
    holds another label.
    """
    found: dict[str, tuple[Filled, Path]] = {}
    for text in files:
        claimed, path = _named(text, manifest.annotators)
        filled = _read(folder, key, manifest.annotators, path)
        if claimed is not None and claimed != filled.annotator:
            raise InputError(
                f"{path}: this is the sheet of {filled.annotator}, not of {claimed}: "
                "the ids of its items say so"
            )
        if filled.annotator in found:
            raise InputError(
                f"{found[filled.annotator][1]} and {path} are both the sheet of "
                f"{filled.annotator}; give one of them"
            )
        found[filled.annotator] = (filled, path)
    if not found:
        raise InputError("name at least one filled sheet")
    return tuple(found[name][0] for name in manifest.annotators if name in found)


def _named(text: str, annotators: Sequence[str]) -> tuple[str | None, Path]:
    name, equals, rest = text.partition("=")
    if not equals or Path(text).exists():
        return None, Path(text)
    if name not in annotators:
        raise InputError(
            f"{text}: {name!r} is no annotator of this package; it has {', '.join(annotators)}"
        )
    return name, Path(rest)


def _read(folder: Path, key: Key, annotators: Sequence[str], path: Path) -> Filled:
    rows = read_rows(read(path), path)
    annotator = _annotator(rows, key, annotators, path)
    _check_items(rows, key.by_id(annotator).keys(), path)
    if rows and TEXTS[0] in rows[0].values:
        _check_texts(rows, folder / sheet_names(annotator)[0], path)
    labels = _labels(rows, path)
    comments = {row.values["item"].strip(): unguarded(row.values["comment"]) for row in rows}
    return Filled(annotator, labels, {i: text for i, text in comments.items() if text.strip()})


def _annotator(rows: Sequence[Row], key: Key, annotators: Sequence[str], path: Path) -> str:
    """Whose sheet it is: every annotator has ids of their own."""
    owners = {blind: a for item in key.items for a, blind in item.ids.items()}
    counts = Counter(owners.get(row.values["item"].strip()) for row in rows)
    known = [a for a in annotators if counts[a]]
    if not known:
        raise InputError(f"{path}: none of its {len(rows)} items is of this package")
    if len(known) > 1:
        raise InputError(f"{path}: holds items of {' and '.join(known)}; a file is one's own sheet")
    return known[0]


def _check_items(rows: Sequence[Row], ids: Iterable[str], path: Path) -> None:
    """Exactly the items of the blank sheet, each once."""
    wanted = set(ids)
    seen: dict[str, Row] = {}
    problems: list[str] = []
    for row in rows:
        item = row.values["item"].strip()
        if item not in wanted:
            problems.append(f"{_place(row)}: the item {item!r} is not on the blank sheet")
        elif item in seen:
            problems.append(f"{_place(row)}: the item {item!r} stands in {_place(seen[item])} too")
        seen.setdefault(item, row)
    missing = sorted(wanted - seen.keys())
    if missing:
        problems.append(
            f"{len(missing)} item(s) of the blank sheet are missing, first {missing[0]!r}; "
            "leave the label empty, but keep the row"
        )
    _refuse(problems, path)


def _check_texts(rows: Sequence[Row], blank: Path, path: Path) -> None:
    """Only labels and comments may differ from the blank sheet."""
    if not blank.exists():
        raise InputError(
            f"{path}: cannot be compared with its blank sheet, which is gone ({blank}); put it back"
        )
    frozen = {row.values["item"]: row for row in read_rows(read(blank), blank)}
    _refuse(
        [
            f"{_place(row)}: the {name.replace('_', ' ')} of item {row.values['item'].strip()!r} "
            "was altered; only label and comment may differ"
            for row in rows
            for name in TEXTS
            if not same_text(row.values[name], frozen[row.values["item"].strip()].values[name])
        ],
        path,
    )


def _labels(rows: Sequence[Row], path: Path) -> dict[str, Label | None]:
    found: dict[str, Label | None] = {}
    problems: list[str] = []
    for row in rows:
        word = unguarded(row.values["label"]).strip().casefold()
        item = row.values["item"].strip()
        if not word:
            found[item] = None
        elif word in set(Label):
            found[item] = Label(word)
        else:
            problems.append(
                f"{_place(row)}: the label {row.values['label'].strip()[:40]!r} of item {item!r} "
                f"is none of {_WORDS}"
            )
    _refuse(problems, path)
    return found


def _place(row: Row) -> str:
    """Where it stands in a text editor, and in a spreadsheet."""
    return f"line {row.line} (row {row.number} of a spreadsheet)"


def _refuse(problems: Sequence[str], path: Path) -> None:
    if problems:
        more = len(problems) - _SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        raise InputError("\n  ".join([f"{path}:", *problems[:_SHOWN], *rest]))
