"""Frozen suites: what a generator must yield, fixed by checksums before any run.

A suite is code and written content, so it could drift without anyone's notice. Its frozen
file keeps the ids, a SHA-256 over them, one over the whole content, keys included, and
one a scenario, so that a mismatch can be named. ``stateauditor.data.suites.freeze`` writes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from stateauditor.data.checking import Field
from stateauditor.data.frozen import ids_sha256
from stateauditor.data.sealed import SealedText
from stateauditor.data.suites.items import SuiteItem
from stateauditor.signatures.errors import InputError

_NAMED: Final = 5
"""How many scenarios a message names."""


@dataclass(frozen=True, slots=True)
class FrozenSuite:
    """What one suite was when it was frozen; ``item_sha256`` goes with ``ids``."""

    name: str
    seed: int
    count: int
    ids: tuple[str, ...] = field(repr=False)
    sha256: str
    """SHA-256 of the ids, each with a line feed."""
    content_sha256: str
    """SHA-256 of the canonical JSON of all scenarios, keys included."""
    item_sha256: tuple[str, ...] = field(repr=False)

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(asdict(self), indent=2) + "\n"


def canonical_json(items: Sequence[SuiteItem]) -> str:
    """All of the scenarios, keys in plain text: one spelling for one content."""
    return json.dumps(
        [_plain(item) for item in items], ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


def content_sha256(items: Sequence[SuiteItem]) -> str:
    """SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical_json(items).encode()).hexdigest()


def freeze_suite(name: str, seed: int, items: Sequence[SuiteItem]) -> FrozenSuite:
    """The record of these scenarios."""
    ids = tuple(item.uid for item in items)
    return FrozenSuite(
        name=name,
        seed=seed,
        count=len(ids),
        ids=ids,
        sha256=ids_sha256(ids),
        content_sha256=content_sha256(items),
        item_sha256=tuple(content_sha256([item]) for item in items),
    )


def load_frozen_suite(source: str | Path) -> FrozenSuite:
    """A committed record by the suite's name, or one from a file.

    Raises ``InputError`` if there is none, or if it does not hold together.
    """
    path = Path(source) if isinstance(source, Path) else frozen_path(source)
    try:
        parsed = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or error}; a suite is frozen with: "
            "python -m stateauditor.data.suites.freeze NAME"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON") from error
    found = Field(str(path), "", parsed).members([f.name for f in fields(FrozenSuite)])
    suite = FrozenSuite(
        name=found["name"].text(),
        seed=found["seed"].whole(),
        count=found["count"].whole(),
        ids=tuple(uid.text() for uid in found["ids"].items()),
        sha256=found["sha256"].text(),
        content_sha256=found["content_sha256"].text(),
        item_sha256=tuple(digest.text() for digest in found["item_sha256"].items()),
    )
    if not suite.count == len(suite.ids) == len(suite.item_sha256):
        raise found["count"].broken(
            f"says {suite.count}, but there are {len(suite.ids)} ids "
            f"and {len(suite.item_sha256)} checksums of scenarios"
        )
    if suite.sha256 != ids_sha256(suite.ids):
        raise found["sha256"].broken("does not fit the ids: the list was changed by hand")
    return suite


def check_suite(items: Sequence[SuiteItem], frozen: FrozenSuite) -> None:
    """Raise ``InputError`` where the scenarios are not, letter for letter, the frozen ones."""
    now = freeze_suite(frozen.name, frozen.seed, items)
    if now == frozen:
        return
    raise InputError(
        f"suite {frozen.name!r} is not the frozen one: {_difference(now, frozen)}. Restore the "
        f"content that was frozen with seed {frozen.seed} (content SHA-256 "
        f"{frozen.content_sha256[:12]}, now {now.content_sha256[:12]}); results on a renewed "
        "suite are not comparable with earlier ones"
    )


def frozen_path(name: str) -> Path:
    """Where the record of a suite stands."""
    return Path(str(files(__package__).joinpath("frozen", f"{name}.json")))


def _difference(now: FrozenSuite, frozen: FrozenSuite) -> str:
    then = dict(zip(frozen.ids, frozen.item_sha256, strict=True))
    current = dict(zip(now.ids, now.item_sha256, strict=True))
    parts = {
        "missing": [uid for uid in frozen.ids if uid not in current],
        "new": [uid for uid in now.ids if uid not in then],
        "changed": [uid for uid in now.ids if uid in then and then[uid] != current[uid]],
    }
    told = [f"{len(uids)} {what} ({_some(uids)})" for what, uids in parts.items() if uids]
    return "; ".join(told) or "the same scenarios in another order or number"


def _some(uids: Sequence[str]) -> str:
    more = ", ..." if len(uids) > _NAMED else ""
    return ", ".join(uids[:_NAMED]) + more


def _plain(value: Any) -> Any:
    """The value as JSON knows it; sealed texts are opened, since the digest covers them."""
    if isinstance(value, SealedText):
        return value.reveal()
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(member) for member in value]
    return value
