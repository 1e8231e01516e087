"""Whether two runs may be compared, and with what caution.

Refused: other data, so that a difference could come from the scenarios. Said as a
warning: whatever else differs beside the arms (drafts, policy, memory setting).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord
from stateauditor.experiments.runs.scenarios import Source
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.signatures.errors import ConfigError, InputError


def refuse_other_data(a: RunFolder, b: RunFolder) -> None:
    """Raise :class:`ConfigError` that names what differs in the scenarios of two runs."""
    one, two = a.manifest(), b.manifest()
    left, right = a.spec().data, b.spec().data
    differing = [
        f"{name} ({_shown(x)} and {_shown(y)})"
        for name, x, y in (
            ("the data's checksum", one.data_sha256, two.data_sha256),
            ("the frozen list's checksum", one.frozen_sha256, two.frozen_sha256),
            ("data.part", left.part.value, right.part.value),
            ("data.held_back", left.held_back, right.held_back),
            ("data.limit", left.limit, right.limit),
        )
        if x != y
    ]
    if differing:
        raise ConfigError(
            f"{a.path} and {b.path} are not on the same scenarios; they differ in "
            + ", ".join(differing)
        )


def refuse_changed_data(source: Source, folder: RunFolder, reader: str) -> None:
    """Raise :class:`InputError` where ``reader`` would see other scenarios than the run did."""
    if source.sha256 != folder.manifest().data_sha256:
        raise InputError(
            f"{source.name}: these are not the data of {folder.path} (their SHA-256 differs); "
            f"{reader} needs the same scenarios"
        )


def _shown(value: object) -> str:
    return "none" if value is None else str(value)[:12]


def warnings_of(
    a: RunSpec,
    b: RunSpec,
    same: int,
    common: int,
    first: Sequence[ItemRecord],
    second: Sequence[ItemRecord],
) -> tuple[str, ...]:
    """What to keep in mind; ``same`` of ``common`` probes started from the same draft."""
    found = []
    if same < common:
        found.append(
            f"drafts differ on {common - same} of {common} common probes: "
            "this is no comparison on frozen drafts"
        )
    uids = [{item.uid for item in items} for items in (first, second)]
    if uids[0] != uids[1]:
        found.append(f"{len(uids[0] ^ uids[1])} scenario(s) stand in one run only and are left out")
    for name in ("memory", "protocol", "policy", "backend", "compiled"):
        left, right = (str(getattr(spec, name)) for spec in (a, b))
        if left != right:
            found.append(f"the runs differ in {name}: {left} and {right}")
    return tuple(found)


def same_drafts(first: Sequence[ItemRecord], second: Sequence[ItemRecord]) -> tuple[int, int]:
    """How many common probes have the same draft, and how many there are."""
    other = {item.uid: item for item in second}
    pairs = [
        (item.probes[d].draft, other[item.uid].probes[d].draft)
        for item in first
        if item.uid in other
        for d in DIMENSIONS
        if d in item.probes and d in other[item.uid].probes
    ]
    drafted = [(x, y) for x, y in pairs if x is not None and y is not None]
    return sum(x == y for x, y in drafted), len(drafted)


def light_records(items: Iterable[ItemRecord]) -> list[ItemRecord]:
    """The records by uid without audits, and with each draft as its digest."""
    kept = []
    for item in items:
        probes = {
            d: p.model_copy(update={"result": None, "response": None, "draft": _digest(p.draft)})
            for d, p in item.probes.items()
        }
        kept.append(item.model_copy(update={"probes": probes}))
    return sorted(kept, key=lambda item: item.uid)


def _digest(draft: str | None) -> str | None:
    return None if draft is None else hashlib.sha256(draft.encode("utf-8")).hexdigest()
