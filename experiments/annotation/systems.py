"""What is labelled: the systems under comparison, and the cells in which each has a text.

A system is a phase of a run, its drafts or its replies. A cell is one probe of one
scenario. Controls are no cells: without a change no rule applies to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stateauditor.experiments.results.comparability import refuse_other_data
from stateauditor.experiments.results.summary import labels
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord, ProbeRecord
from stateauditor.metrics import Dimension, ScenarioType
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Frozen

DRAFT = "draft"
REPLY = "reply"


class System(Frozen):
    """One system; ``labels`` are the caveats that go with each of its figures."""

    name: str
    run: str
    run_id: str
    phase: Literal["draft", "reply"]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One probe with every system's answer; ``verdicts`` are judge -> system -> passed."""

    uid: str
    type: ScenarioType
    dimension: Dimension
    question: str = field(repr=False)
    answers: Mapping[str, str] = field(repr=False)
    verdicts: Mapping[str, Mapping[str, bool]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class _Answered:
    """What one run says in one cell."""

    type: ScenarioType
    question: str
    draft: str | None
    reply: str
    verdicts: Mapping[str, bool]


_Run = Mapping[tuple[str, Dimension], _Answered]


def cells_of(
    folders: Sequence[RunFolder], *, with_draft: bool = False
) -> tuple[tuple[System, ...], tuple[Cell, ...]]:
    """The systems of one run (replies, drafts) or of several (the replies of each).

    ``with_draft`` adds the drafts that several runs share. Cells come in order of uid
    and dimension. Raises :class:`ConfigError` for runs on other data, a run named
    twice, drafts that are not shared, and where there is nothing to tell apart.
    """
    if not folders:
        raise ConfigError("name at least one run")
    _refuse_repeats(folders)
    for other in folders[1:]:
        refuse_other_data(folders[0], other)
    with_draft = with_draft or len(folders) == 1
    systems = _systems(folders, with_draft=with_draft)
    runs = [_answered(folder) for folder in folders]
    common = sorted(
        set.intersection(*(set(run) for run in runs)),
        key=lambda cell: (cell[0], DIMENSIONS.index(cell[1])),
    )
    if with_draft:
        common = [cell for cell in common if _text(runs[0][cell].draft)]
        _refuse_other_drafts(runs, common)
    cells = tuple(_cell(key, systems, runs, with_draft=with_draft) for key in common)
    if not cells:
        raise ConfigError(
            f"{', '.join(str(f.path) for f in folders)}: no probe with a change has a text of "
            f"every system ({', '.join(s.name for s in systems)})"
        )
    if all(len(set(cell.answers.values())) == 1 for cell in cells):
        raise ConfigError(
            f"{' and '.join(s.name for s in systems)} have the same text in all {len(cells)} "
            "cells: labels could not tell them apart"
        )
    return systems, cells


def _refuse_repeats(folders: Sequence[RunFolder]) -> None:
    seen: dict[str, RunFolder] = {}
    for folder in folders:
        earlier = seen.setdefault(folder.manifest().run_id, folder)
        if earlier is not folder:
            raise ConfigError(
                f"{earlier.path} and {folder.path} are the same run; name each run once"
            )


def _systems(folders: Sequence[RunFolder], *, with_draft: bool) -> tuple[System, ...]:
    specs = [(folder.spec(), folder.manifest()) for folder in folders]
    names = [REPLY] if len(folders) == 1 else _names(folders, [spec.name for spec, _ in specs])
    systems = [
        System(
            name=name,
            run=spec.name,
            run_id=manifest.run_id,
            phase="reply",
            labels=labels(spec, manifest.backend, manifest.inherited),
        )
        for name, (spec, manifest) in zip(names, specs, strict=True)
    ]
    if with_draft:
        systems.append(systems[0].model_copy(update={"name": DRAFT, "phase": "draft"}))
    return tuple(systems)


def _names(folders: Sequence[RunFolder], names: Sequence[str]) -> list[str]:
    """The runs' names, each with its folder where it would not tell the run apart."""
    often = Counter([*names, DRAFT])
    return [
        name if often[name] == 1 else f"{name} ({folder.path})"
        for name, folder in zip(names, folders, strict=True)
    ]


def _answered(folder: RunFolder) -> _Run:
    """The cells that have a reply, with no more of the records than texts and verdicts."""
    return {
        (item.uid, dimension): _Answered(
            type=item.type,
            question=probe.question,
            draft=probe.draft,
            reply=reply,
            verdicts={
                judge: judgment.probes[dimension].passed
                for judge, judgment in item.judgments.items()
                if dimension in judgment.probes
            },
        )
        for item in folder.items()
        if not item.control and item.error is None
        for dimension in DIMENSIONS
        if (probe := _probe(item, dimension)) is not None
        and (reply := _text(probe.response)) is not None
    }


def _probe(item: ItemRecord, dimension: Dimension) -> ProbeRecord | None:
    probe = item.probes.get(dimension)
    return None if probe is None or probe.error is not None else probe


def _text(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


def _refuse_other_drafts(runs: Sequence[_Run], cells: Sequence[tuple[str, Dimension]]) -> None:
    differing = sum(len({run[cell].draft for run in runs}) > 1 for cell in cells)
    if differing:
        raise ConfigError(
            f"drafts differ in {differing} of {len(cells)} cells: --with-draft needs runs that "
            "started from the same drafts"
        )


def _cell(
    key: tuple[str, Dimension],
    systems: Sequence[System],
    runs: Sequence[_Run],
    *,
    with_draft: bool,
) -> Cell:
    said = [run[key] for run in runs]
    answers = {s.name: run.reply for s, run in zip(systems, said, strict=False)}
    verdicts: dict[str, dict[str, bool]] = {}
    for system, run in zip(systems, said, strict=False):
        for judge, passed in run.verdicts.items():
            verdicts.setdefault(judge, {})[system.name] = passed
    if with_draft:
        answers[systems[-1].name] = said[0].draft or ""
    return Cell(key[0], said[0].type, key[1], said[0].question, answers, verdicts)
