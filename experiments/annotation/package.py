"""The files' contents: what stands in ``key.json`` and in ``manifest.json``.

Items go by blind ids, others for each annotator. An id is a keyed hash; its key is made
from the seed and the runs' records, and stands in ``key.json`` only. So the same runs
and seed give the same bytes, and an id says nothing to somebody who has the sheets.
(Whoever has the runs could tell the systems apart by their texts anyway.)
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field

from stateauditor.experiments.annotation.systems import Cell, System
from stateauditor.metrics import CELLS, Dimension, ScenarioType
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Frozen

KEY: Final = "key.json"
MANIFEST: Final = "manifest.json"
RESULTS: Final = "annotation.json"
REPORT: Final = "annotation.md"
FORMAT: Final = 1
_ID_LENGTH: Final = 12
# Consonants alone: no spreadsheet takes an id for a number or a date, and it spells no word.
_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
_NAME: Final = re.compile(r"\w[\w-]{0,39}")
_MOST_ANNOTATORS: Final = 50

Count = Annotated[int, Field(ge=0)]
AnnotatorName = Annotated[str, Field(pattern=r"^\w[\w-]{0,39}$")]
"""Part of a file's name, so that it never leaves the folder."""


class Item(Frozen):
    """One distinct answer of one cell; ``ids`` has its blind id for each annotator.

    Systems that say the same, byte for byte, are one item, labelled once for all.
    """

    uid: str
    type: ScenarioType
    dimension: Dimension
    systems: tuple[str, ...]
    ids: dict[str, str]


class Verdicts(Frozen):
    """What one judge said in the runs when the sheets were written: passed, by cell and system."""

    judge: str
    passed: tuple[tuple[str, Dimension, str, bool], ...]


class Key(Frozen):
    """What unblinds: never for annotators."""

    format: int = FORMAT
    secret: str
    systems: tuple[System, ...]
    items: tuple[Item, ...]
    verdicts: tuple[Verdicts, ...] = ()

    def by_id(self, annotator: str) -> dict[str, Item]:
        """The items by one annotator's blind ids."""
        return {item.ids[annotator]: item for item in self.items}


class Stratum(Frozen):
    """How many cells of one kind were chosen."""

    type: ScenarioType
    dimension: Dimension
    cells: Count


class Manifest(Frozen):
    """What was frozen. ``files`` has the SHA-256 of each sheet and of the key.

    ``cells`` times systems are ``answers``; ``items`` are left to label, since
    identical answers of one cell are one item. ``wanted`` is what was asked for.
    """

    format: int = FORMAT
    exported: str
    seed: int
    wanted: Count
    cells: Count
    scenarios: Count
    answers: Count
    items: Count
    strata: tuple[Stratum, ...]
    systems: tuple[System, ...]
    data_name: str
    data_sha256: str
    annotators: tuple[AnnotatorName, ...]
    files: dict[str, str]

    def own_files(self) -> tuple[str, ...]:
        """The files that an export of these annotators wrote beside the manifest."""
        return (KEY, *(name for a in self.annotators for name in sheet_names(a)))


def sheet_names(annotator: str) -> tuple[str, str]:
    """The files of one annotator: the sheet as CSV, and as a form."""
    return f"sheet_{annotator}.csv", f"sheet_{annotator}.html"


def annotator_names(text: str) -> tuple[str, ...]:
    """A number of annotators or their names, comma between, as names for files.

    >>> annotator_names("2"), annotator_names("anna, ben")
    (('annotator1', 'annotator2'), ('anna', 'ben'))

    Raises :class:`ConfigError` for none, too many, a name given twice, and one that
    is no part of a file's name.
    """
    if text.strip().isdecimal():
        names = tuple(f"annotator{n}" for n in range(1, min(int(text), 1000) + 1))
    else:
        names = tuple(part.strip() for part in text.split(","))
    wrong = [name for name in names if not _NAME.fullmatch(name)]
    if wrong:
        raise ConfigError(
            f"annotator {wrong[0]!r}: a name has up to 40 letters, digits, _ or -, since it "
            "becomes part of a file's name"
        )
    repeated = [n for n, times in Counter(name.casefold() for name in names).items() if times > 1]
    if repeated:
        raise ConfigError(f"annotator {repeated[0]!r} is named twice")
    if not 1 <= len(names) <= _MOST_ANNOTATORS:
        raise ConfigError(f"1 to {_MOST_ANNOTATORS} annotators, got {text.strip()}")
    return names


def make_secret(seed: int, records: Iterable[bytes]) -> str:
    """The key of the blind ids from the seed and the digest of each run's records."""
    digest = hashlib.sha256(f"stateauditor annotation {FORMAT} {seed}\n".encode())
    for part in records:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def seal(
    secret: str, systems: Sequence[System], cells: Sequence[Cell], annotators: Sequence[str]
) -> Key:
    """The key of a package. Raises :class:`ConfigError` should two ids ever be the same."""
    items = tuple(
        Item(
            uid=cell.uid,
            type=cell.type,
            dimension=cell.dimension,
            systems=names,
            ids={
                a: blind_id(secret, a, cell.uid, cell.dimension, cell.answers[names[0]])
                for a in annotators
            },
        )
        for cell in cells
        for names in _same(cell.answers)
    )
    if len({i for item in items for i in item.ids.values()}) < len(items) * len(annotators):
        raise ConfigError("two items have the same blind id; export with another seed")
    judges = sorted({judge for cell in cells for judge in cell.verdicts})
    return Key(
        secret=secret,
        systems=tuple(systems),
        items=items,
        verdicts=tuple(
            Verdicts(
                judge=judge,
                passed=tuple(
                    (cell.uid, cell.dimension, system, passed)
                    for cell in cells
                    for system, passed in cell.verdicts.get(judge, {}).items()
                ),
            )
            for judge in judges
        ),
    )


def blind_id(secret: str, *parts: str) -> str:
    """A keyed hash of ``parts`` in letters."""
    message = "".join(f"{len(part)}:{part}" for part in parts).encode()
    number = int.from_bytes(hmac.digest(bytes.fromhex(secret), message, "sha256"), "big")
    letters = []
    for _ in range(_ID_LENGTH):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return "".join(letters)


def strata(cells: Iterable[Cell]) -> tuple[Stratum, ...]:
    """The chosen cells counted by type and dimension."""
    counts = Counter((cell.type, cell.dimension) for cell in cells)
    return tuple(
        Stratum(type=kind, dimension=dimension, cells=counts[kind, dimension])
        for kind, dimension in CELLS
    )


def _same(answers: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The systems grouped by what they say."""
    groups: dict[str, list[str]] = {}
    for system, answer in answers.items():
        groups.setdefault(answer, []).append(system)
    return [tuple(names) for names in groups.values()]
