"""Small sets of scenarios in Stale's layout, with keys that need no judge.

A slice is a folder of JSON files, plain or compressed with gzip: conflicts (Stale
records), controls (the same lives without the change) and keys. The slice
``stale_mini`` stands in the folder ``slices`` and ships with the package.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from stateauditor.data.checking import Field
from stateauditor.data.records import parse_record
from stateauditor.data.scenario import BenchmarkItem, ByDimension, Dimension
from stateauditor.data.sealed import SealedText
from stateauditor.signatures.errors import InputError

BUNDLED: Final = ("stale_mini",)
"""The slices that ship with the package."""

PARTS: Final = ("conflicts", "controls", "keys")
"""The files of a slice; only the conflicts must be there."""

KEY_FIELDS: Final = (
    "control_uid",
    "attribute",
    "domain",
    "old_value",
    "new_value",
    "causal_path",
    "stale_drafts",
    "good_responses",
    "control_kind",
    "control_quote",
)


class ControlKind(StrEnum):
    """What a control has in the place of the change."""

    HYPOTHETICAL = "hypothetical"
    PAST = "past"
    TEMPORARY = "temporary"
    ADDITIVE = "additive"
    OTHER_PERSON = "other_person"
    REVERSED = "reversed"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class SliceKey:
    """What is true of a conflict and its control; the values are the judge's.

    In the control the old value still holds, and nothing may be repaired.
    """

    uid: str
    control_uid: str
    domain: str
    control_kind: ControlKind
    attribute: SealedText
    old_value: SealedText
    new_value: SealedText
    causal_path: tuple[SealedText, ...]
    control_quote: SealedText
    good_responses: ByDimension[SealedText]


@dataclass(frozen=True, slots=True)
class Slice:
    """The scenarios of one slice; ``sha256`` is over its files' contents, unpacked.

    ``keys`` is by conflict uid. ``drafts`` is by uid, conflicts and controls
    alike: replies that rely on the old state, wrong there and right here.
    """

    name: str
    sha256: str
    conflicts: tuple[BenchmarkItem, ...] = field(repr=False)
    controls: tuple[BenchmarkItem, ...] = field(default=(), repr=False)
    keys: Mapping[str, SliceKey] = field(default_factory=dict, repr=False)
    drafts: Mapping[str, ByDimension[str]] = field(default_factory=dict, repr=False)

    def __iter__(self) -> Iterator[BenchmarkItem]:
        """Conflicts, then controls."""
        yield from self.conflicts
        yield from self.controls

    def is_control(self, uid: str) -> bool:
        """Whether the scenario has no change."""
        return any(item.uid == uid for item in self.controls)


def load_slice(source: str | Path) -> Slice:
    """Load a bundled slice by its name, or one from a folder.

    Raises `InputError` for an unknown name, and for broken records or keys with
    the uid and the field.
    """
    if isinstance(source, str) and source in BUNDLED:
        return _read(files("stateauditor.data") / "slices" / source, source)
    folder = Path(source)
    if not folder.is_dir():
        raise InputError(
            f"{source}: neither a bundled slice ({', '.join(BUNDLED)}) nor a folder with one"
        )
    return _read(folder, folder.name)


def _read(folder: Traversable, name: str) -> Slice:
    contents = {part: found for part in PARTS if (found := _content(folder, part)) is not None}
    if "conflicts" not in contents:
        raise InputError(f"{folder}: holds no conflicts.json and no conflicts.json.gz")
    digest = hashlib.sha256()
    for part, content in contents.items():
        digest.update(f"{part} {len(content)}\n".encode() + content)
    conflicts = _items(contents, "conflicts", name)
    controls = _items(contents, "controls", name)
    _refuse_repeats(conflicts + controls, name)
    keys, drafts = _keys(contents, name, conflicts, controls)
    return Slice(name, digest.hexdigest(), conflicts, controls, keys, drafts)


def _content(folder: Traversable, part: str) -> bytes | None:
    packed = folder / f"{part}.json.gz"
    plain = folder / f"{part}.json"
    try:
        if packed.is_file():
            return gzip.decompress(packed.read_bytes())
        return plain.read_bytes() if plain.is_file() else None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{packed}: the gzip data is damaged or cut off: {error}") from error


def _parsed(contents: Mapping[str, bytes], part: str, name: str) -> Field:
    source = f"slice {name}, {part}.json"
    try:
        return Field(source, "", json.loads(contents[part]))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not valid JSON") from error


def _items(contents: Mapping[str, bytes], part: str, name: str) -> tuple[BenchmarkItem, ...]:
    if part not in contents:
        return ()
    records = _parsed(contents, part, name)
    return tuple(
        parse_record(record.value, records.record, number)
        for number, record in enumerate(records.items(), start=1)
    )


def _refuse_repeats(items: tuple[BenchmarkItem, ...], name: str) -> None:
    seen: set[str] = set()
    for item in items:
        if item.uid in seen:
            raise InputError(f"slice {name}, uid {item.uid!r}, field 'uid': occurs twice")
        seen.add(item.uid)


# --- keys -----------------------------------------------------------------------


def _keys(
    contents: Mapping[str, bytes],
    name: str,
    conflicts: tuple[BenchmarkItem, ...],
    controls: tuple[BenchmarkItem, ...],
) -> tuple[dict[str, SliceKey], dict[str, ByDimension[str]]]:
    keys: dict[str, SliceKey] = {}
    drafts: dict[str, ByDimension[str]] = {}
    if "keys" not in contents:
        return keys, drafts
    known = {item.uid for item in conflicts}
    control_uids = {item.uid for item in controls}
    source = _parsed(contents, "keys", name)
    for uid, raw in source.mapping().items():
        entry = Field(f"{source.record}: key of uid {uid!r}", "", raw.value)
        if uid not in known:
            raise entry.broken("no conflict has this uid")
        fields = entry.members(KEY_FIELDS)
        keys[uid] = _key(uid, fields)
        if keys[uid].control_uid not in control_uids:
            raise fields["control_uid"].broken("no control has this uid")
        drafts[uid] = _by_dimension(fields["stale_drafts"])
        drafts[keys[uid].control_uid] = drafts[uid]
    for uid in known - keys.keys():
        raise source.broken(f"the conflict with uid {uid!r} has no key")
    return keys, drafts


def _key(uid: str, fields: Mapping[str, Field]) -> SliceKey:
    good = _by_dimension(fields["good_responses"])
    return SliceKey(
        uid=uid,
        control_uid=fields["control_uid"].text(),
        domain=fields["domain"].text(),
        control_kind=fields["control_kind"].choice(ControlKind),
        attribute=SealedText(fields["attribute"].text()),
        old_value=SealedText(fields["old_value"].text()),
        new_value=SealedText(fields["new_value"].text()),
        causal_path=tuple(SealedText(node.text()) for node in fields["causal_path"].items()),
        control_quote=SealedText(fields["control_quote"].text()),
        good_responses=ByDimension(*(SealedText(text) for _, text in good.items())),
    )


def _by_dimension(texts: Field) -> ByDimension[str]:
    fields = texts.members(tuple(dimension.key for dimension in Dimension))
    return ByDimension(*(fields[dimension.key].text() for dimension in Dimension))
