"""The suites by name: generated when asked for, with a digest of their content.

Generators are imported when a suite is loaded; listing the names costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from stateauditor.data.suites.frozen import (
    check_suite,
    content_sha256,
    load_frozen_suite,
)
from stateauditor.data.suites.items import SuiteItem, find_problems
from stateauditor.signatures.errors import InputError


@dataclass(frozen=True, slots=True)
class SuiteInfo:
    """What is known of a suite without generating it."""

    name: str
    module: str
    title: str
    shows: str


SUITES: Final[dict[str, SuiteInfo]] = {
    suite.name: suite
    for suite in (
        SuiteInfo(
            "safety",
            "stateauditor.data.suites.safety",
            "Safety suite: true changes, and six regimes of what only looks like one",
            "how often a change is found, and how often one is seen where there is none",
        ),
        SuiteInfo(
            "lifecycle_hard",
            "stateauditor.data.suites.lifecycle",
            "Hard lifecycle set: six stress categories, a probe that is due and a trap each",
            "whether one change is told from another beside it",
        ),
    )
}
"""Every suite of items, by name; each has a frozen record."""

SEED: Final = 42
"""The seed of the suites as published, and of their records."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A generated suite; ``sha256`` is that of its whole content, keys included.

    ``frozen_sha256`` is the digest that the content was checked against, None under another
    seed than that of the record.
    """

    name: str
    seed: int
    sha256: str
    frozen_sha256: str | None = None
    items: tuple[SuiteItem, ...] = field(repr=False, default=())


def generate(name: str, seed: int = SEED) -> tuple[SuiteItem, ...]:
    """A suite's items, unchecked; the same seed gives the same bytes.

    Raises :class:`InputError` for an unknown name.
    """
    if name not in SUITES:
        raise InputError(f"there is no suite {name!r}; there are {', '.join(SUITES)}")
    return tuple(import_module(SUITES[name].module).items(seed=seed))


def load_suite(name: str, seed: int = SEED) -> Suite:
    """Generate a suite, and check what it promises.

    It is checked against its committed record first, under the seed of that record;
    under another one it is another suite. Raises :class:`InputError` for an unknown
    name, for content with problems, and where the record does not match.
    """
    items = generate(name, seed)
    record = load_frozen_suite(name) if seed == SEED else None
    if record is not None:
        check_suite(items, record)
    problems = find_problems(items)
    if problems:
        raise InputError(f"suite {name}, seed {seed}: {len(problems)} problem(s): {problems[0]}")
    return Suite(
        name=name,
        seed=seed,
        sha256=content_sha256(items),
        frozen_sha256=None if record is None else record.content_sha256,
        items=items,
    )
