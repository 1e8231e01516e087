"""Two runs on the same scenarios, paired by uid and probe (paper, section 6.1).

Only runs on the same data are compared; anything else that keeps a comparison from
being about the arms alone (drafts, policy, memory setting) is said as a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from stateauditor.experiments.results.comparability import (
    light_records,
    refuse_other_data,
    same_drafts,
    warnings_of,
)
from stateauditor.experiments.results.summary import MAJORITY, judged_cells, judges_of, labels
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.records import DIMENSIONS, ItemRecord, ProbeRecord
from stateauditor.metrics import (
    DRAWS,
    KEY_JUDGE_LABEL,
    REPLY_KEY_LABEL,
    TYPES,
    CellScore,
    Comparison,
    KeyFindings,
    Rate,
    ReplyFindings,
    ScoreTable,
    SignTest,
    clustered_sign_test,
    compare_arms,
    majority_cells,
    mcnemar_exact,
    pair_arms,
    rate_of,
    scenario_wins,
    score_table,
)
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.judge import Rubric
from stateauditor.signatures.models import Frozen

KEY: Final = "key"

FoundT = TypeVar("FoundT", KeyFindings, ReplyFindings)


class RunFacts(Frozen):
    """Which run one side of a comparison is; ``labels`` go with each of its figures."""

    name: str
    arm: str
    labels: tuple[str, ...]
    backend: str
    policy: str
    data: str


class Wins(Frozen):
    """Scenarios won and lost over some probes: all, one dimension or one type."""

    name: str
    test: SignTest


class Accuracies(Frozen):
    """One judge's comparison under one rubric, over the probes that both runs have."""

    judge: str
    rubric: Rubric
    first: ScoreTable
    second: ScoreTable
    comparison: Comparison
    wins: tuple[Wins, ...]


class PairedRate(Frozen):
    """One of the key judge's rates in both runs, paired by probe.

    ``only_first`` and ``only_second`` are the discordant probes and ``p`` McNemar's
    exact test; ``scenarios`` is the same with the scenario as the unit, since the
    probes of one share a history.
    """

    first: Rate
    second: Rate
    only_first: int
    only_second: int
    p: float
    scenarios: SignTest


class KeyComparison(Frozen):
    """The key judge's paired figures; print ``label`` with them.

    ``true_change`` is over conflicts (more is better), ``false_invalidation`` over
    controls (fewer is better).
    """

    label: str = KEY_JUDGE_LABEL
    true_change: PairedRate
    false_invalidation: PairedRate


class ReplyComparison(Frozen):
    """What the replies' words say in both runs; print ``label`` with it.

    ``names_new`` is over conflicts (more is better), ``rewritten`` over controls (fewer
    is better).
    """

    label: str = REPLY_KEY_LABEL
    names_new: PairedRate
    rewritten: PairedRate


class RunComparison(Frozen):
    """Everything that ``first`` against ``second`` says.

    ``same_drafts`` of ``common_probes`` started from the same draft, byte for byte.
    ``accuracies`` is None where no LM judge scored both runs, ``key`` where the key
    judge did not, ``replies`` where the data ship no keys.
    """

    first: RunFacts
    second: RunFacts
    common_scenarios: int
    common_probes: int
    same_drafts: int
    warnings: tuple[str, ...]
    accuracies: Accuracies | None = None
    key: KeyComparison | None = None
    replies: ReplyComparison | None = None

    @property
    def frozen_drafts(self) -> bool:
        """Whether every common probe started from the same draft in both runs."""
        return self.same_drafts == self.common_probes


def compare_runs(
    a: RunFolder,
    b: RunFolder,
    *,
    judge: str | None = None,
    rubric: Rubric = Rubric.BENCHMARK,
    seed: int = 42,
    draws: int = DRAWS,
) -> RunComparison:
    """Compare two runs on what both have a verdict on.

    ``judge`` is the name of an LM judge, ``majority`` or ``key``; by default the
    majority of the judges that both runs share, or the first where they are two (a
    split of two decides nothing), and the key judge's figures wherever both runs have
    them. Raises :class:`ConfigError` where
    the runs are on different data, or lack the judge.
    """
    refuse_other_data(a, b)
    first, second = light_records(a.items()), light_records(b.items())
    chosen = _choose(judge, first, second)
    same, common = same_drafts(first, second)
    return RunComparison(
        first=_facts(a),
        second=_facts(b),
        common_scenarios=len({i.uid for i in first} & {i.uid for i in second}),
        common_probes=common,
        same_drafts=same,
        warnings=warnings_of(a, b, same, common, first, second),
        accuracies=_accuracies(first, second, chosen, rubric, seed, draws) if chosen else None,
        key=_key(first, second) if judge in (None, KEY) else None,
        replies=_replies(first, second) if judge in (None, KEY) else None,
    )


def _facts(folder: RunFolder) -> RunFacts:
    spec, manifest = folder.spec(), folder.manifest()
    return RunFacts(
        name=spec.name,
        arm=spec.arm.label,
        labels=labels(spec, manifest.backend, manifest.inherited),
        backend=manifest.backend,
        policy=spec.audit.policy.value,
        data=manifest.data_name,
    )


# --- accuracy by an LM judge --------------------------------------------------------


def _choose(
    judge: str | None, first: Sequence[ItemRecord], second: Sequence[ItemRecord]
) -> tuple[str, ...]:
    """The judges whose verdicts count: one, or several for their majority; none for the key."""
    if judge == KEY:
        if not _has_keys(first) or not _has_keys(second):
            raise ConfigError("judge key: both runs need the key judge's findings")
        return ()
    one, two = judges_of(first), judges_of(second)
    shared = tuple(name for name in one if name in two)
    if judge is None:
        if not shared and _key(first, second) is None and _replies(first, second) is None:
            raise ConfigError(
                f"no judge scored both runs (first: {_listed(one)}; second: {_listed(two)}); "
                "score one of them again with `stateauditor rejudge`"
            )
        return shared if len(shared) > 2 else shared[:1]
    if judge == MAJORITY and len(shared) > 1:
        return shared
    if judge in shared:
        return (judge,)
    raise ConfigError(f"judge {judge!r} did not score both runs; in both: {_listed(shared)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _accuracies(
    first: Sequence[ItemRecord],
    second: Sequence[ItemRecord],
    judges: tuple[str, ...],
    rubric: Rubric,
    seed: int,
    draws: int,
) -> Accuracies:
    one, two = (_cells(items, judges, rubric) for items in (first, second))
    arms = pair_arms(one, two)
    wins = [Wins(name="all probes", test=scenario_wins(one, two))]
    wins += [Wins(name=d, test=scenario_wins(one, two, dimension=d)) for d in DIMENSIONS]
    wins += [Wins(name=t, test=scenario_wins(one, two, type=t)) for t in TYPES]
    return Accuracies(
        judge=judges[0] if len(judges) == 1 else MAJORITY,
        rubric=rubric,
        first=score_table(cell for item in arms.first for cell in item.cells),
        second=score_table(cell for item in arms.second for cell in item.cells),
        comparison=compare_arms(one, two, seed=seed, draws=draws),
        wins=tuple(wins),
    )


def _cells(
    items: Sequence[ItemRecord], judges: tuple[str, ...], rubric: Rubric
) -> tuple[CellScore, ...]:
    conflicts = [item for item in items if not item.control]
    if len(judges) == 1:
        return judged_cells(conflicts, judges[0], rubric)
    return majority_cells({name: judged_cells(conflicts, name, rubric) for name in judges}).cells


# --- the key judge's figures ---------------------------------------------------------


def _has_keys(items: Iterable[ItemRecord]) -> bool:
    return any(probe.key is not None for item in items for probe in item.probes.values())


def _key(first: Sequence[ItemRecord], second: Sequence[ItemRecord]) -> KeyComparison | None:
    one, two = (_findings(items, lambda probe: probe.key) for items in (first, second))
    if not one or not two:
        return None
    return KeyComparison(
        true_change=_paired(one, two, lambda f: f.change_found, control=False),
        false_invalidation=_paired(one, two, lambda f: f.false_invalidation, control=True),
    )


def _replies(first: Sequence[ItemRecord], second: Sequence[ItemRecord]) -> ReplyComparison | None:
    one, two = (_findings(items, lambda probe: probe.reply_key) for items in (first, second))
    if not one or not two:
        return None
    return ReplyComparison(
        names_new=_paired(one, two, lambda f: f.names_new, control=False),
        rewritten=_paired(one, two, lambda f: f.rewritten, control=True),
    )


def _findings(
    items: Iterable[ItemRecord], of: Callable[[ProbeRecord], FoundT | None]
) -> dict[tuple[str, str], FoundT]:
    """What is known of each probe, by scenario and dimension."""
    return {
        (item.uid, d): found
        for item in items
        for d, probe in item.probes.items()
        if (found := of(probe)) is not None
    }


def _paired(
    first: Mapping[tuple[str, str], FoundT],
    second: Mapping[tuple[str, str], FoundT],
    outcome: Callable[[FoundT], bool],
    *,
    control: bool,
) -> PairedRate:
    pairs = [
        (place[0], outcome(found), outcome(second[place]))
        for place, found in first.items()
        if place in second and found.control is control
    ]
    only_first = sum(x and not y for _, x, y in pairs)
    only_second = sum(y and not x for _, x, y in pairs)
    return PairedRate(
        first=rate_of(x for _, x, _ in pairs),
        second=rate_of(y for _, _, y in pairs),
        only_first=only_first,
        only_second=only_second,
        p=mcnemar_exact(only_first, only_second),
        scenarios=clustered_sign_test((uid, x - y) for uid, x, y in pairs).clusters,
    )
