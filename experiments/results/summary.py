"""From a run's records to its numbers: a pure function, the same for any order of work.

A resumed, a replayed and an uninterrupted run of the same answers give the same
summary to the byte, because nothing but the records and the seed goes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from pydantic import Field

from stateauditor.experiments.baselines.registry import every_stage
from stateauditor.experiments.runs.audited import Arm
from stateauditor.experiments.runs.folder import Inherited, RunFolder
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord, Result
from stateauditor.experiments.runs.spec import MemorySetting, RunSpec
from stateauditor.metrics import (
    Agreement,
    CellScore,
    CostSummary,
    DirectiveRates,
    KeyFindings,
    KeyRates,
    PairRecall,
    Rate,
    RecallItem,
    RecallTable,
    ReplyRates,
    ScoreIntervals,
    ScoreTable,
    agreement,
    bootstrap_scores,
    cost_summary,
    directive_rates,
    failed_open,
    key_rates,
    majority_cells,
    recall_table,
    reply_rates,
    score_table,
)
from stateauditor.program.offline.label import BACKEND_LABEL
from stateauditor.signatures.judge import Rubric
from stateauditor.signatures.models import CallRecord, Channel, Frozen, Labels, Rewrite

MAJORITY = "majority"


class JudgeScores(Frozen):
    """One judge's table under one rubric, with bootstrap intervals."""

    judge: str
    rubric: Rubric
    table: ScoreTable
    intervals: ScoreIntervals


class Summary(Frozen):
    """Everything that tables and reports print about one run.

    ``labels`` are the caveats that every table of the run must carry. ``scores`` has
    one entry a judge and rubric, and the majority where several judges scored.
    ``key`` holds the key judge's figures and ``replies`` what the replies' words say,
    never Stale accuracies. Failed scenarios
    and probes are in ``errors`` and in no rate.
    """

    name: str
    arm: Arm
    labels: tuple[str, ...]
    backend: str
    policy: str
    data: str
    scenarios: int
    controls: int
    probes: int
    errors: int
    failed_open: Rate
    scores: tuple[JudgeScores, ...] = ()
    agreement: dict[Rubric, Agreement] = Field(default_factory=dict)
    key: KeyRates | None = None
    replies: ReplyRates | None = None
    directives: DirectiveRates
    directives_on_controls: DirectiveRates | None = None
    recall: RecallTable | None = None
    cost: CostSummary


def summary_of(folder: RunFolder, items: Iterable[ItemRecord] | None = None) -> Summary:
    """The run's summary, computed now from its records, or from `items` if they are read."""
    manifest = folder.manifest()
    read = light_items(folder) if items is None else items
    return summarise(
        folder.spec(),
        read,
        data=manifest.data_name,
        backend=manifest.backend,
        inherited=manifest.inherited,
    )


def light_items(folder: RunFolder) -> Iterator[ItemRecord]:
    """The records without their readouts: no figure needs them, and they are most of the size."""
    for item in folder.items():
        probes = {
            name: probe.model_copy(
                update={"result": probe.result.model_copy(update={"readout": ()})}
            )
            if probe.result is not None
            else probe
            for name, probe in item.probes.items()
        }
        yield item.model_copy(update={"probes": probes})


def summarise(
    spec: RunSpec,
    records: Iterable[ItemRecord],
    *,
    data: str,
    backend: str,
    inherited: Inherited | None = None,
) -> Summary:
    """Compute a run's summary; records may come in any order."""
    items = sorted(records, key=lambda item: item.uid)
    conflicts = [item for item in items if not item.control]
    controls = [item for item in items if item.control]
    scores, agreements = _scores(conflicts, spec)
    return Summary(
        name=spec.name,
        arm=spec.arm,
        labels=labels(spec, backend, inherited),
        backend=backend,
        policy=spec.audit.policy.value,
        data=data,
        scenarios=len(conflicts),
        controls=len(controls),
        probes=sum(len(item.probes) for item in items),
        errors=sum(item.error is not None for item in items)
        + sum(probe.error is not None for item in items for probe in item.probes.values()),
        failed_open=failed_open(_results(items)),
        scores=scores,
        agreement=agreements,
        key=_key(items),
        replies=_replies(items),
        directives=directive_rates(_results(conflicts)),
        directives_on_controls=directive_rates(_results(controls)) if controls else None,
        recall=_recall(conflicts),
        cost=cost_summary(
            [_probe_calls(item) for item in items], every_stage(), joint=spec.arm is Arm.JOINT_VTA
        ),
    )


def labels(spec: RunSpec, backend: str, inherited: Inherited | None = None) -> tuple[str, ...]:
    """What must be said beside every figure of a run."""
    found = []
    if inherited is not None:
        found.append(inherited.label)
    if backend == BACKEND_LABEL:
        found.append("offline lexical rules: a floor, no model")
    if spec.arm is Arm.JOINT_VTA:
        found.append("scenario-joint: privileged upper bound")
    if spec.audit.channels:
        open_ones = ", ".join(c for c in Channel if c in spec.audit.channels)
        found.append(f"channels between probes ({open_ones}): privileged")
    found += [f"ablation: {name}" for name in ablated(spec)]
    if spec.memory is MemorySetting.ORACLE:
        found.append("oracle memory: development only")
    if spec.compiled is not None:
        found.append(f"compiled prompts: {spec.compiled.name}")
    if spec.allow_train:
        found.append("contains training ids")
    if spec.data.set == "stale_mini":
        found.append("bundled slice: no Stale result")
    return tuple(found)


def ablated(spec: RunSpec) -> tuple[str, ...]:
    """The parts of the program that a run does without, or replaces, in a few words."""
    parts = (
        ("entailment labels", spec.audit.labels is Labels.NLI),
        ("untyped rewrite", spec.audit.rewrite is Rewrite.UNTYPED),
        ("no validation", not spec.audit.validation),
        ("base verdicts fire beside verified transitions", not spec.audit.verified_only),
        ("no evidence expansion", not spec.audit.expand_evidence),
    )
    return tuple(name for name, done in parts if done)


def judged_cells(items: Sequence[ItemRecord], judge: str, rubric: Rubric) -> tuple[CellScore, ...]:
    """One judge's cells; a probe that failed, or that the judge failed on, is an error."""
    return tuple(
        _cell(item, judge, rubric, dimension) for item in items for dimension in DIMENSIONS
    )


def _cell(
    item: ItemRecord, judge: str, rubric: Rubric, dimension: Literal["SR", "PR", "IPA"]
) -> CellScore:
    judgment = item.judgments.get(judge)
    judged = None if judgment is None else judgment.probes.get(dimension)
    passed = None
    if judged is not None:
        passed = judged.grounded if rubric is Rubric.GROUNDED else judged.passed
    return CellScore(
        uid=item.uid, type=item.type, dimension=dimension, passed=passed, error=judged is None
    )


def judges_of(items: Iterable[ItemRecord]) -> tuple[str, ...]:
    """The LM judges that scored, in order of first appearance by uid."""
    return tuple(dict.fromkeys(judge for item in items for judge in item.judgments))


def _grounds(items: Iterable[ItemRecord], judge: str) -> bool:
    """Whether a judge knows the stricter rubric; an imported one may not."""
    words = [w for i in items if judge in i.judgments for w in i.judgments[judge].probes.values()]
    return not words or any(word.grounded is not None for word in words)


def _scores(
    conflicts: Sequence[ItemRecord], spec: RunSpec
) -> tuple[tuple[JudgeScores, ...], dict[Rubric, Agreement]]:
    judges = judges_of(conflicts)
    scores: list[JudgeScores] = []
    agreements: dict[Rubric, Agreement] = {}
    for rubric in Rubric:
        by_judge = {
            judge: judged_cells(conflicts, judge, rubric)
            for judge in judges
            if rubric is Rubric.BENCHMARK or _grounds(conflicts, judge)
        }
        if len(by_judge) > 1:
            agreements[rubric] = agreement(by_judge)
            by_judge[MAJORITY] = majority_cells(by_judge).cells
        scores += [
            JudgeScores(
                judge=judge,
                rubric=rubric,
                table=score_table(cells),
                intervals=bootstrap_scores(cells, seed=spec.seed, draws=spec.draws),
            )
            for judge, cells in by_judge.items()
        ]
    return tuple(scores), agreements


def _key(items: Sequence[ItemRecord]) -> KeyRates | None:
    findings: dict[Literal["SR", "PR", "IPA"], list[KeyFindings]] = {d: [] for d in DIMENSIONS}
    for item in items:
        for dimension in DIMENSIONS:
            probe = item.probes.get(dimension)
            if probe is not None and probe.key is not None:
                findings[dimension].append(probe.key)
    return key_rates(findings) if any(findings.values()) else None


def _replies(items: Sequence[ItemRecord]) -> ReplyRates | None:
    found = [
        probe.reply_key
        for item in items
        for probe in item.probes.values()
        if probe.reply_key is not None
    ]
    return reply_rates(found) if found else None


def _recall(conflicts: Sequence[ItemRecord]) -> RecallTable | None:
    found = [
        RecallItem(
            uid=item.uid, type=item.type, dimension=d, recall=probe.recall, tokens=probe.tokens
        )
        for item in conflicts
        for d in DIMENSIONS
        if (probe := item.probes.get(d)) is not None and isinstance(probe.recall, PairRecall)
    ]
    return recall_table(found) if found else None


def _results(items: Iterable[ItemRecord]) -> list[Result]:
    return [p.result for item in items for p in item.probes.values() if p.result is not None]


def _probe_calls(item: ItemRecord) -> list[list[CallRecord]]:
    """The calls by probe; those outside the audits go with the first, on no path."""
    probes = [list(p.result.calls) if p.result else [] for p in item.probes.values()] or [[]]
    probes[0] = [*item.calls, *probes[0]]
    return probes
