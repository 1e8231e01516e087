"""Whether two runs may be compared, and with what caution.

Refused: other data, so that a difference could come from the scenarios. Said as a
warning: whatever else differs beside the arms (drafts, policy, memory setting).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord
from stateauditor.experiments.runs.scenarios import Source
from stateauditor.experiments.runs.spec import SHARE_BASE, RunSpec
from stateauditor.program.config import settings_read
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


# What may differ without a word: what the arms are, where drafts and base audits come from
# (both are looked at themselves), the data (refused above), and what changes no answer.
_NO_DIFFERENCE = frozenset(
    {
        *("name", "arm", "audit.variant", "data", "drafts", "drafts_from"),
        *("base_audit_from", "allow_missing", "tracking", "max_cost", "concurrency", "draws"),
    }
)


def warnings_of(
    a: RunFolder,
    b: RunFolder,
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
    found += [
        f"the runs differ in {name.removeprefix('audit.')}: {left} and {right}"
        for name, left, right in (*_settings(a.spec(), b.spec()), *_makings(a, b))
        if left != right
    ]
    if None not in (bases := (_base_of(a), _base_of(b))) and bases[0] != bases[1]:
        found.append("each run has base audits of its own: a difference may be a new draw of them")
    return tuple(found)


def _settings(a: RunSpec, b: RunSpec) -> Iterator[tuple[str, object, object]]:
    """Every setting that both runs have, with both values; one that an arm does not read is none.

    The settings are those of the specs themselves, so that a new one is compared, too.
    """
    one, two = _flat(a), _flat(b)
    for name in one:
        if name in two and not _NO_DIFFERENCE.intersection((name, name.partition(".")[0])):
            yield name, one[name], two[name]


def _flat(spec: RunSpec) -> dict[str, object]:
    read = settings_read(spec.arm.variant)
    values = spec.model_dump(mode="json", exclude={"audit"})
    if not spec.arm.is_baseline:
        del values["baseline"]
    audit = {
        name: value for name, value in spec.audit.model_dump(mode="json").items() if name in read
    }
    return dict(_leaves({**values, "audit": audit}))


def _leaves(value: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, part in value.items():
        if isinstance(part, Mapping):
            yield from _leaves(part, f"{above}{name}.")
        else:
            yield f"{above}{name}", part


def _makings(a: RunFolder, b: RunFolder) -> Iterator[tuple[str, object, object]]:
    """What the runs were made with: the code's commit, and the versions that both recorded."""
    one, two = a.manifest(), b.manifest()
    if one.git is not None and two.git is not None:
        yield "the code's commit", one.git[:12], two.git[:12]
    for name in sorted(one.versions.keys() & two.versions.keys()):
        yield f"the version of {name}", one.versions[name], two.versions[name]


def _base_of(folder: RunFolder) -> Path | None:
    """The run whose base audits an arm works with; None for an arm that has none."""
    spec = folder.spec()
    if spec.arm not in SHARE_BASE:
        return None
    return (spec.base_audit_from or folder.path).resolve()


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
