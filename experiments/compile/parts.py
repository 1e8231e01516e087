"""The scenarios of a compile: guarded, split by scenario, and turned into examples.

A conflict and its control are one scenario here: they share their history, so that
they stand on the same side of the split. What is known of a scenario (its key, its
judge's texts) stays beside the examples, in :class:`Case`, and is in none of them:
DSPy's optimizers write whole examples into the prompts of their prompt LM.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stateauditor.data.scenario import BenchmarkItem, ByDimension, Dimension
from stateauditor.experiments.compile.guards import (
    is_committed,
    load_list,
    refuse_other_draw,
    refuse_outside,
)
from stateauditor.experiments.compile.spec import CompileSpec
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.runner import drafts_of
from stateauditor.experiments.runs.scenarios import Source, open_source
from stateauditor.experiments.runs.spec import DataSpec, Part
from stateauditor.metrics import GoldKey, ScenarioType
from stateauditor.signatures.errors import ConfigError, InputError

MIN_SCENARIOS = 2


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario: the item, its key, the conflict that it belongs to, and its part.

    Only the words about cases with ``train`` may name their change.
    """

    item: BenchmarkItem = field(repr=False)
    gold: GoldKey = field(repr=False)
    drafts: ByDimension[str] = field(repr=False)
    group: str
    type: ScenarioType
    train: bool


@dataclass(frozen=True)
class Parts:
    """The cases by uid, with the ids of both parts and where they come from."""

    cases: Mapping[str, Case]
    train: tuple[str, ...]
    validation: tuple[str, ...]
    source: Source
    frozen_name: str
    frozen_sha256: str

    @property
    def used(self) -> tuple[str, ...]:
        """Every id that the compile learns from or chooses by, controls included."""
        return (*self.train, *self.validation)


def load_parts(spec: CompileSpec) -> Parts:
    """Read the data, refuse what may not be compiled on, and split.

    Raises :class:`InputError` and :class:`ConfigError` before any work is done.
    """
    data = spec.data
    frozen = load_list(data.frozen)
    refuse_outside(data.ids, frozen, "data.ids")
    part = Part.BOTH if data.controls else Part.CONFLICTS
    source = open_source(DataSpec(set=data.set, path=data.path, part=part, frozen=data.frozen))
    items = {item.uid: item for item in source}
    groups = {uid: source.partners.get(uid, uid) for uid in items}
    if not is_committed(frozen):
        refuse_other_draw(frozen, _types(spec))
    refuse_outside(groups.values(), frozen, "the compile")
    chosen = [uid for uid in frozen.ids if not data.ids or uid in data.ids][: data.limit]
    if len(chosen) < MIN_SCENARIOS:
        raise InputError(
            f"{len(chosen)} scenario(s) cannot be split; a compile needs {MIN_SCENARIOS}"
        )
    train = split_scenarios(
        {uid: items[uid].type.value for uid in chosen}, spec.train_share, spec.seed
    )
    drafts = _drafts(spec, source)
    cases = {
        uid: Case(
            item=items[uid],
            gold=_gold(items[uid], source),
            drafts=drafts[uid],
            group=group,
            type=items[uid].type.value,
            train=group in train,
        )
        for uid, group in groups.items()
        if group in chosen and uid in drafts
    }
    without = [uid for uid in chosen if uid not in cases]
    if without:
        raise InputError(f"there are no drafts for {len(without)} id(s): {', '.join(without)}")
    order = sorted(cases, key=lambda uid: (chosen.index(cases[uid].group), cases[uid].gold.control))
    return Parts(
        cases=cases,
        train=tuple(uid for uid in order if cases[uid].train),
        validation=tuple(uid for uid in order if not cases[uid].train),
        source=source,
        frozen_name=frozen.name,
        frozen_sha256=frozen.sha256,
    )


def split_scenarios(types: Mapping[str, str], share: float, seed: int) -> frozenset[str]:
    """The ids to learn from: ``share`` of them, each type in proportion, never all or none.

    An id's turn is the SHA-256 of the seed and the id, as in the draw of the list.
    """
    placed: list[tuple[float, str, str]] = []
    for kind in sorted(set(types.values())):
        ranked = sorted((u for u in types if types[u] == kind), key=lambda u: _turn(seed, u))
        # Each type is spread evenly, so that every prefix is stratified.
        placed += [((i + 0.5) / len(ranked), kind, uid) for i, uid in enumerate(ranked)]
    count = min(max(1, round(share * len(types))), len(types) - 1)
    return frozenset(uid for _, _, uid in sorted(placed)[:count])


def examples_of(
    parts: Parts, part: Literal["train", "validation"], seed: int, *, conflicts_only: bool = False
) -> list[Any]:
    """The probes of one part as DSPy examples, in an order that the seed decides.

    Scenarios alternate, so that the first demonstrations come from different ones.
    """
    import dspy

    uids = list(parts.train if part == "train" else parts.validation)
    if conflicts_only:
        uids = [uid for uid in uids if not parts.cases[uid].gold.control]
    random.Random(seed).shuffle(uids)
    dimensions = list(Dimension)
    found = []
    for round_ in range(len(dimensions)):
        for place, uid in enumerate(uids):
            case, dimension = parts.cases[uid], dimensions[(place + round_) % len(dimensions)]
            example = dspy.Example(
                scenario=uid,
                dimension=dimension.value,
                question=case.item.scenario.probes[dimension],
                draft=case.drafts[dimension],
            )
            found.append(example.with_inputs("scenario", "dimension", "question", "draft"))
    return found


def _turn(seed: int, uid: str) -> str:
    return hashlib.sha256(f"{seed}\n{uid}\n".encode()).hexdigest()


def _types(spec: CompileSpec) -> dict[str, str]:
    whole = open_source(DataSpec(set=spec.data.set, path=spec.data.path))
    return {item.uid: item.type.value for item in whole}


def _drafts(spec: CompileSpec, source: Source) -> Mapping[str, ByDimension[str]]:
    if spec.drafts_from is not None:
        return drafts_of(RunFolder(spec.drafts_from))
    if not source.drafts:
        raise ConfigError(
            f"{source.name} ships no drafts; set drafts_from to the folder of a generator_only run"
        )
    return source.drafts


def _gold(item: BenchmarkItem, source: Source) -> GoldKey:
    """The slice's key, or the judge's sentences where there is none."""
    if item.uid in source.gold:
        return source.gold[item.uid]
    old, new = item.judge.m_old.reveal(), item.judge.m_new.reveal()
    return GoldKey(uid=item.uid, attribute="", old_value=old, new_value=new, m_old=old, m_new=new)
