"""Frozen lists of scenario ids: the only data that prompts are tuned on.

Paper, section 5: "Development used frozen slices of at most 50 items (seed 42;
committed ID lists); no prompt was tuned on any full test set." The lists stand
in the folder ``frozen``; a list that does not hold to that is refused.

The list for Stale itself is drawn once the file has been fetched, and committed:
``stateauditor data freeze stale --out data/frozen/stale_dev.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from stateauditor.data.checking import Field
from stateauditor.signatures.errors import InputError

SEED: Final = 42
LIMIT: Final = 50
"""The most ids that a development slice may hold."""

_FIELDS: Final = ("name", "dataset", "revision", "seed", "count", "ids", "sha256")


@dataclass(frozen=True, slots=True)
class FrozenList:
    """A development slice: ids of `dataset` at `revision`, in the order of the draw.

    Types alternate in that order, so that every prefix is stratified.
    """

    name: str
    dataset: str
    revision: str
    ids: tuple[str, ...] = field(repr=False)
    seed: int = SEED

    def __post_init__(self) -> None:
        problem = _problem(self.ids, self.seed)
        if problem:
            raise InputError(f"frozen list {self.name!r}: {problem}")

    @property
    def sha256(self) -> str:
        """The checksum that a run records: SHA-256 of the ids, each with a line feed."""
        return ids_sha256(self.ids)

    def split(self, train: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The first `train` ids to learn from, and the rest to validate on."""
        if not 0 < train < len(self.ids):
            raise InputError(
                f"frozen list {self.name!r}: cannot put {train} of {len(self.ids)} ids "
                "into training and keep some for validation"
            )
        return self.ids[:train], self.ids[train:]

    def to_json(self) -> str:
        """The file's text."""
        record = {
            "name": self.name,
            "dataset": self.dataset,
            "revision": self.revision,
            "seed": self.seed,
            "count": len(self.ids),
            "ids": list(self.ids),
            "sha256": self.sha256,
        }
        return json.dumps(record, indent=2) + "\n"


def draw_dev_slice(
    ids_by_type: Mapping[str, Iterable[str]], n: int = LIMIT, seed: int = SEED
) -> tuple[str, ...]:
    """Draw at most `n` ids, each type in its share of the whole.

    An id's turn is the SHA-256 of the seed and the id: the draw depends neither
    on the order of the input nor on a random generator that may change.
    """
    if not 0 < n <= LIMIT:
        raise InputError(f"a development slice holds 1 to {LIMIT} ids, not {n}")
    pools = {str(name): sorted(ids) for name, ids in sorted(ids_by_type.items())}
    everything = [uid for pool in pools.values() for uid in pool]
    if len(set(everything)) != len(everything):
        raise InputError("an id was given twice; a slice cannot be drawn")
    placed = []
    for name, share in _shares({k: len(v) for k, v in pools.items()}, n).items():
        chosen = sorted(pools[name], key=lambda uid: ids_sha256((str(seed), uid)))[:share]
        # Spread each type evenly over the list.
        placed += [(Fraction(2 * i + 1, 2 * share), name, uid) for i, uid in enumerate(chosen)]
    return tuple(uid for _, _, uid in sorted(placed))


def _shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """How many of each type: in proportion, the largest remainders rounded up."""
    total = sum(sizes.values())
    n = min(n, total)
    exact = {name: Fraction(n * size, total or 1) for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: (shares[name] - exact[name], name))
    for name in by_remainder[: n - sum(shares.values())]:
        shares[name] += 1
    return shares


def load_frozen(source: str | Path) -> FrozenList:
    """Load a committed list by its name, or one from a file.

    Raises `InputError` if it was changed since it was drawn, holds more than
    `LIMIT` ids, or was not drawn with the seed `SEED`.
    """
    path = _locate(source)
    try:
        parsed = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON") from error
    fields = Field(str(path), "", parsed).members(_FIELDS)
    ids = tuple(uid.text() for uid in fields["ids"].items())
    if fields["count"].whole() != len(ids):
        raise fields["count"].broken(f"says {fields['count'].whole()}, but there are {len(ids)}")
    if fields["sha256"].text() != ids_sha256(ids):
        raise fields["sha256"].broken("does not fit the ids: the list was changed after the draw")
    problem = _problem(ids, fields["seed"].whole())
    if problem:
        raise Field(str(path), "", None).broken(problem)
    return FrozenList(
        name=fields["name"].text(),
        dataset=fields["dataset"].text(),
        revision=fields["revision"].text(),
        ids=ids,
    )


def committed() -> tuple[str, ...]:
    """The names of the lists that ship with the package."""
    found = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in found if name.endswith(".json")))


def ids_sha256(ids: Iterable[str]) -> str:
    """SHA-256 of the ids, in order, each followed by a line feed."""
    return hashlib.sha256("".join(f"{uid}\n" for uid in ids).encode()).hexdigest()


def _folder() -> Traversable:
    return files("stateauditor.data") / "frozen"


def _locate(source: str | Path) -> Traversable:
    inside = _folder() / f"{source}.json"
    if isinstance(source, str) and source in committed():
        return inside
    path = Path(source)
    if path.is_file():
        return path
    hint = ""
    if str(source) == "stale_dev":
        hint = (
            "; the list for Stale is drawn from the fetched file, and kept, with: "
            "stateauditor data freeze stale --out stale_dev.json"
        )
    raise InputError(
        f"{source}: neither a committed list ({', '.join(committed())}) nor a file{hint}"
    )


def _problem(ids: Sequence[str], seed: int) -> str | None:
    if not ids:
        return "holds no ids"
    if len(ids) > LIMIT:
        return f"holds {len(ids)} ids; a development slice holds at most {LIMIT}"
    if len(set(ids)) != len(ids):
        return "holds an id twice"
    if seed != SEED:
        return f"was drawn with seed {seed}; development slices are drawn with seed {SEED}"
    return None
