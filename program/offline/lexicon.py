"""The lexicon: YAML files read once into frozen, indexed patterns.

The files hold the knowledge, with comments on why each group of entries is
there; the modules beside them hold the rules. Nothing in them is learned from,
or fitted to, a benchmark: they list ordinary English for ordinary changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from stateauditor.program.offline.patterns import Pattern, PatternIndex, compile_pattern

Scope = Literal["sentence", "before", "clause"]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ObstacleEntry(_Strict):
    """One kind of non-change with its cues."""

    scope: Scope
    cues: list[str]


class StatementsFile(_Strict):
    """``statements.yaml``."""

    hypothetical: ObstacleEntry
    cancelled: ObstacleEntry
    temporary: ObstacleEntry
    other_person: ObstacleEntry
    past: ObstacleEntry
    former: ObstacleEntry
    additive: ObstacleEntry
    recap: ObstacleEntry
    negated: ObstacleEntry
    relations: str
    passed_on: list[str]
    past_question: list[str]
    still_question: list[str]
    aware: list[str]
    only_named: list[str]
    instruction_like: list[str]
    not_names: str
    passing: str
    regions: str


class FrameEntry(_Strict):
    """An attribute with one value at a time.

    ``restated`` says that a newer value counts without a word of newness.
    """

    attribute: str
    noun: str
    state: list[str]
    fresh: list[str]
    restated: bool = False


class EndingEntry(_Strict):
    """One way to say that something is over.

    ``anyone`` marks the ones whose subject is not the user ("the café has closed").
    """

    attribute: str
    says: list[str]
    anyone: bool = False


class OneAtATime(_Strict):
    """Nouns of which people have one: "my dentist is ..."."""

    nouns: str
    favourites: str


class ChangesFile(_Strict):
    """``changes.yaml``."""

    endings: dict[str, EndingEntry]
    arrivals: list[str]
    frames: dict[str, FrameEntry]
    one_at_a_time: OneAtATime


@dataclass(frozen=True)
class Lexicon:
    """Everything the rules know, indexed by the words that can trigger it."""

    scopes: Mapping[str, Scope]
    obstacles: PatternIndex
    relations: frozenset[str]
    passed_on: PatternIndex
    past_question: PatternIndex
    still_question: PatternIndex
    aware: PatternIndex
    only_named: PatternIndex
    instruction_like: PatternIndex
    not_names: frozenset[str]
    passing: frozenset[str]
    regions: frozenset[str]
    frames: Mapping[str, FrameEntry]
    frame_patterns: PatternIndex
    nouns: frozenset[str]
    favourites: frozenset[str]
    endings: Mapping[str, EndingEntry]
    ending_patterns: PatternIndex
    arrivals: PatternIndex


def _index(groups: Iterable[tuple[str, Iterable[str]]]) -> PatternIndex:
    labelled: Iterator[tuple[str, Pattern]] = (
        (label, compile_pattern(source)) for label, sources in groups for source in sources
    )
    return PatternIndex(labelled)


def _read(name: str) -> object:
    return yaml.safe_load((files(__package__) / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def lexicon() -> Lexicon:
    """The lexicon of this package; it is read and compiled on the first use only."""
    statements = StatementsFile.model_validate(_read("statements"))
    changes = ChangesFile.model_validate(_read("changes"))
    obstacles: dict[str, ObstacleEntry] = {
        name: entry for name, entry in statements if isinstance(entry, ObstacleEntry)
    }
    return Lexicon(
        scopes={name: entry.scope for name, entry in obstacles.items()},
        obstacles=_index((name, entry.cues) for name, entry in obstacles.items()),
        relations=frozenset(statements.relations.split()),
        passed_on=_index([("passed on", statements.passed_on)]),
        past_question=_index([("past", statements.past_question)]),
        still_question=_index([("still", statements.still_question)]),
        aware=_index([("aware", statements.aware)]),
        only_named=_index([("named", statements.only_named)]),
        instruction_like=_index([("instruction", statements.instruction_like)]),
        not_names=frozenset(statements.not_names.split()),
        passing=frozenset(statements.passing.split()),
        regions=frozenset(statements.regions.split()),
        frames=changes.frames,
        frame_patterns=_index(
            (f"{name}:{kind}", sources)
            for name, frame in changes.frames.items()
            for kind, sources in (("fresh", frame.fresh), ("state", frame.state))
        ),
        nouns=frozenset(changes.one_at_a_time.nouns.split()),
        favourites=frozenset(changes.one_at_a_time.favourites.split()),
        endings=changes.endings,
        ending_patterns=_index((name, ending.says) for name, ending in changes.endings.items()),
        arrivals=_index([("arrival", changes.arrivals)]),
    )
