"""Where a run's scenarios come from, with what belongs to them: keys and drafts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stateauditor.data.frozen import FrozenList, load_frozen
from stateauditor.data.registry import expected_path, get_dataset
from stateauditor.data.scenario import BenchmarkItem, ByDimension
from stateauditor.data.slices import BUNDLED, Slice, load_slice
from stateauditor.data.stale import iter_stale
from stateauditor.experiments.runs.spec import DataSpec, Part
from stateauditor.metrics import GoldKey
from stateauditor.signatures.errors import InputError

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """The scenarios of a run, streamed; ``uids`` in their order, controls among them.

    ``gold`` holds the keys of slices that ship them, by uid of conflict or control;
    ``partners`` gives each control's conflict.
    """

    name: str
    sha256: str
    uids: tuple[str, ...]
    controls: frozenset[str] = frozenset()
    frozen: FrozenList | None = None
    gold: Mapping[str, GoldKey] = field(default_factory=dict, repr=False)
    drafts: Mapping[str, ByDimension[str]] = field(default_factory=dict, repr=False)
    partners: Mapping[str, str] = field(default_factory=dict, repr=False)
    _slice: Slice | None = field(default=None, repr=False)
    _path: Path | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[BenchmarkItem]:
        """The chosen scenarios, one at a time."""
        chosen = frozenset(self.uids)
        every = iter_stale(self._path) if self._path is not None else iter(self._slice or ())
        return (item for item in every if item.uid in chosen)


def open_source(data: DataSpec) -> Source:
    """Find the data, check them, and choose the scenarios.

    Raises :class:`InputError` for broken data, for a frozen id that is not there,
    and where a data set has not been fetched.
    """
    frozen = load_frozen(data.frozen) if data.frozen is not None else None
    if data.set in BUNDLED:
        return _from_slice(load_slice(str(data.set)), data, frozen)
    if data.path is not None and data.path.is_dir():
        return _from_slice(load_slice(data.path), data, frozen)
    path = data.path if data.path is not None else expected_path(get_dataset(str(data.set)))
    if not path.is_file():
        hint = "" if data.set is None else f"; run `stateauditor data fetch {data.set}` first"
        raise InputError(f"{path}: there is no such file{hint}")
    uids = tuple(item.uid for item in iter_stale(path))
    name = path.name if data.path is not None else str(data.set)
    return Source(
        name=name,
        sha256=file_sha256(path),
        uids=_chosen(uids, data, frozen, name),
        frozen=frozen,
        _path=path,
    )


def _from_slice(found: Slice, data: DataSpec, frozen: FrozenList | None) -> Source:
    conflicts = tuple(item.uid for item in found.conflicts)
    controls = tuple(item.uid for item in found.controls)
    kept = _chosen(conflicts, data, frozen, found.name)
    partner = {uid: key.control_uid for uid, key in found.keys.items()}
    matched = tuple(
        uid for uid in controls if frozen is None or uid in {partner.get(c) for c in kept}
    )
    uids = {
        Part.CONFLICTS: kept,
        Part.CONTROLS: matched[: data.limit],
        Part.BOTH: kept + matched[: data.limit],
    }[data.part]
    return Source(
        name=found.name,
        sha256=found.sha256,
        uids=uids,
        controls=frozenset(controls),
        frozen=frozen,
        gold=_gold(found),
        drafts=found.drafts,
        partners={key.control_uid: uid for uid, key in found.keys.items()},
        _slice=found,
    )


def _chosen(
    uids: tuple[str, ...], data: DataSpec, frozen: FrozenList | None, name: str
) -> tuple[str, ...]:
    if frozen is not None:
        missing = [uid for uid in frozen.ids if uid not in set(uids)]
        if missing:
            raise InputError(
                f"{name} lacks {len(missing)} id(s) of the frozen list {frozen.name!r}, "
                f"first {missing[0]}"
            )
        uids = tuple(uid for uid in uids if uid in set(frozen.ids))
    return uids[: data.limit]


def _gold(found: Slice) -> dict[str, GoldKey]:
    """The keys as the key judge reads them: revealed here, for scoring only."""
    gold: dict[str, GoldKey] = {}
    for item in found:
        key = found.keys.get(item.uid)
        control = key is None
        if key is None:
            key = next((k for k in found.keys.values() if k.control_uid == item.uid), None)
        if key is None:
            continue
        gold[item.uid] = GoldKey(
            uid=item.uid,
            attribute=key.attribute.reveal(),
            old_value=key.old_value.reveal(),
            new_value=key.new_value.reveal(),
            causal_path=tuple(node.reveal() for node in key.causal_path),
            m_old=item.judge.m_old.reveal(),
            m_new=item.judge.m_new.reveal(),
            control=control,
        )
    return gold


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()
