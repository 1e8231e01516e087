"""Drawing a frozen list from the data themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from stateauditor.data.frozen import LIMIT, FrozenList, draw_dev_slice
from stateauditor.data.registry import dataset_path, list_datasets
from stateauditor.data.scenario import BenchmarkItem
from stateauditor.data.slices import BUNDLED, load_slice
from stateauditor.data.stale import iter_stale
from stateauditor.data.verify import measured


def freeze(source: str, name: str, count: int = LIMIT) -> FrozenList:
    """Draw at most `count` ids of a fetched data set, a bundled slice or a file.

    The list's revision is the pin where the file's bytes are the pinned ones,
    else the checksum of what was read. Controls are never drawn.
    """
    if source in BUNDLED:
        loaded = load_slice(source)
        revision = f"sha256:{loaded.sha256}"
        return FrozenList(name, source, revision, _draw(loaded.conflicts, count))
    fetched = {dataset.name for dataset in list_datasets() if dataset.pin is not None}
    path = dataset_path(source) if source in fetched else Path(source)
    size, sha256 = measured(path)
    dataset, revision = path.name, f"sha256:{sha256}"
    for known in list_datasets():
        if known.pin is not None and (known.pin.size, known.pin.sha256) == (size, sha256):
            dataset, revision = known.name, known.pin.revision
    return FrozenList(name, dataset, revision, _draw(iter_stale(path), count))


def _draw(items: Iterable[BenchmarkItem], count: int) -> tuple[str, ...]:
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        ids[item.type.value].append(item.uid)
    return draw_dev_slice(ids, count)
