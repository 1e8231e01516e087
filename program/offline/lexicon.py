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
from pydantic import BaseModel, ConfigDict, TypeAdapter

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
    newness: list[str]
    past_question: list[str]
    still_question: list[str]
    aware: list[str]
    instruction_like: list[str]
    not_names: str
    regions: str
    habit: list[str]
    avoided: str
    passing: str


class FrameEntry(_Strict):
    """An attribute with one value at a time (``frames.yaml``)."""

    attribute: str
    noun: str
    state: list[str]
    fresh: list[str]
    held: list[str]
    words: str


class FacetEntry(_Strict):
    """Something the user does, has or is bound to (``facets.yaml``)."""

    label: str
    premise: str
    strong: str
    weak: str


class EffectEntry(_Strict):
    """An event that ends facets (``effects.yaml``)."""

    attribute: str
    value: str
    says: list[str]
    ends: list[str]
    over: list[str]
    knows: str
    bounded: bool = False
    weak: bool = False


class EndingEntry(_Strict):
    """An ending that names what it ends (``endings.yaml``)."""

    attribute: str
    new_value: str
    says: list[str]


@dataclass(frozen=True)
class Lexicon:
    """Everything the rules know, indexed by the words that can trigger it."""

    scopes: Mapping[str, Scope]
    obstacles: PatternIndex
    relations: frozenset[str]
    newness: PatternIndex
    past_question: PatternIndex
    still_question: PatternIndex
    aware: PatternIndex
    instruction_like: PatternIndex
    habit: PatternIndex
    not_names: frozenset[str]
    regions: frozenset[str]
    avoided: frozenset[str]
    passing: frozenset[str]
    frames: Mapping[str, FrameEntry]
    frame_patterns: PatternIndex
    facets: Mapping[str, FacetEntry]
    facet_patterns: PatternIndex
    effects: Mapping[str, EffectEntry]
    effect_patterns: PatternIndex
    over_patterns: PatternIndex
    knows_patterns: PatternIndex
    endings: Mapping[str, EndingEntry]
    ending_patterns: PatternIndex


def phrases(text: str) -> list[str]:
    """The comma-separated phrases of a lexicon line."""
    return [phrase.strip() for phrase in text.split(",") if phrase.strip()]


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
    frames = TypeAdapter(dict[str, FrameEntry]).validate_python(_read("frames"))
    facets = TypeAdapter(dict[str, FacetEntry]).validate_python(_read("facets"))
    effects = TypeAdapter(dict[str, EffectEntry]).validate_python(_read("effects"))
    endings = TypeAdapter(dict[str, EndingEntry]).validate_python(_read("endings"))
    unknown = sorted({f for e in effects.values() for f in e.ends} - set(facets))
    if unknown:
        raise ValueError(f"effects.yaml: no such facet in facets.yaml: {', '.join(unknown)}")
    obstacles: dict[str, ObstacleEntry] = {
        name: entry for name, entry in statements if isinstance(entry, ObstacleEntry)
    }
    return Lexicon(
        scopes={name: entry.scope for name, entry in obstacles.items()},
        obstacles=_index((name, entry.cues) for name, entry in obstacles.items()),
        relations=frozenset(statements.relations.split()),
        newness=_index([("newness", statements.newness)]),
        past_question=_index([("past", statements.past_question)]),
        still_question=_index([("still", statements.still_question)]),
        aware=_index([("aware", statements.aware)]),
        instruction_like=_index([("instruction", statements.instruction_like)]),
        habit=_index([("habit", statements.habit)]),
        not_names=frozenset(statements.not_names.split()),
        regions=frozenset(statements.regions.split()),
        avoided=frozenset(statements.avoided.split()),
        passing=frozenset(statements.passing.split()),
        frames=frames,
        frame_patterns=_index(
            (f"{name}:{kind}", sources)
            for name, frame in frames.items()
            for kind, sources in (
                ("held", frame.held),
                ("fresh", frame.fresh),
                ("state", frame.state),
            )
        ),
        facets=facets,
        facet_patterns=_index(
            (f"{name}:{kind}", phrases(line))
            for name, facet in facets.items()
            for kind, line in (("strong", facet.strong), ("weak", facet.weak))
        ),
        effects=effects,
        effect_patterns=_index((name, effect.says) for name, effect in effects.items()),
        over_patterns=_index((name, effect.over) for name, effect in effects.items()),
        knows_patterns=_index((name, phrases(effect.knows)) for name, effect in effects.items()),
        endings=endings,
        ending_patterns=_index((name, ending.says) for name, ending in endings.items()),
    )
