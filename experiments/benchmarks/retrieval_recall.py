"""How often the retriever finds the (old, new) pair, step by step and by budget.

    python experiments/benchmarks/retrieval_recall.py FILE [--budgets 2000,5700]
        [--train FILE ...] [--folds 7] [--misses]

FILE holds Stale records. A pair counts as found only if some line of the readout
contains the whole ``M_old`` and some line the whole ``M_new`` (strict
window-level recall). The ladder starts from plain BM25 with one window a
session and switches the four steps on in turn. With ``--train`` the disclosure
weights are learnt anew for every fold without the fold's own scenarios, and the
table gives the recall on what was left out, fold by fold.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi

from stateauditor.experiments.benchmarks.retrieval_train import (
    Record,
    collect,
    fit,
    index_of,
    read_records,
    scenario_numbers,
)
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.page import line_cost
from stateauditor.program.retrieval.tokens import words
from stateauditor.signatures.models import Readout, RenderedEntry

STEPS = ("question_anchored", "change_scan", "session_companions", "antecedents")
Retriever = Callable[[str], Readout]


@dataclass(frozen=True)
class Probe:
    """What one question of one scenario got."""

    dimension: str
    kind: str
    old: bool
    new: bool
    tokens: int
    lines: int
    seconds: float
    gold_pairs: int
    pairs: int
    linked: bool

    @property
    def pair(self) -> bool:
        """Both sides are there, each whole."""
        return self.old and self.new


def found(readout: Readout, statement: str) -> bool:
    """Whether one line holds the whole statement."""
    return any(statement in line.text for line in readout.entries)


def probe_all(
    records: Sequence[Record], retrievers: Sequence[Retriever], every: Sequence[Record]
) -> list[Probe]:
    """Ask every question of every record; ``every`` names all pairs that count as gold."""
    probes = []
    for record, retrieve in zip(records, retrievers, strict=True):
        for dimension, question in record["probing_queries"].items():
            begin = time.perf_counter()
            readout = retrieve(question)
            seconds = time.perf_counter() - begin
            text = {line.id: line.text for line in readout.entries}
            proposed = [(text[old], text[new]) for old, new in readout.pairs]
            gold = [
                any(r["M_old"] in old and r["M_new"] in new for r in every) for old, new in proposed
            ]
            linked = any(record["M_old"] in old and record["M_new"] in new for old, new in proposed)
            probes.append(
                Probe(
                    dimension[:4], record["type"],
                    found(readout, record["M_old"]), found(readout, record["M_new"]),
                    readout.tokens, len(readout.entries), seconds,
                    sum(gold), len(proposed), linked,
                )
            )  # fmt: skip
    return probes


def plain(index: MemoryIndex, budget: int) -> Retriever:
    """Plain BM25: each session's best window, best first, as long as the budget lasts."""
    windows = index.each_window()
    okapi = BM25Okapi([[word.lower() for word in words(w.text)] for w in windows])

    def retrieve(question: str) -> Readout:
        scores = okapi.get_scores([word.lower() for word in words(question)])
        entries: list[RenderedEntry] = []
        tokens = 0
        seen: set[str | None] = set()
        for place in sorted(range(len(windows)), key=lambda n: -scores[n]):
            window = windows[place]
            cost = line_cost("E000", window.timestamp, window.text)
            if window.session in seen or tokens + cost > budget:
                continue
            seen.add(window.session)
            tokens += cost
            entries.append(
                RenderedEntry(
                    id=f"E{len(entries):02d}", entry_id=window.entry_id,
                    timestamp=window.timestamp, session=window.session, text=window.text,
                )
            )  # fmt: skip
        return Readout(entries=tuple(entries), tokens=tokens)

    return retrieve


def with_config(index: MemoryIndex, config: RetrievalConfig) -> Retriever:
    """The retriever of ``index`` under ``config``."""
    return lambda question: index.retrieve(question, config=config)


def ladder(budget: int) -> list[tuple[str, RetrievalConfig]]:
    """The four steps switched on in turn, then the budget filled."""
    rungs = []
    for count in range(1, len(STEPS) + 1):
        switches: dict[str, Any] = {step: place < count for place, step in enumerate(STEPS)}
        switches |= {"later_tellings": False, "fill": False}
        rungs.append(
            (f"+ ({'i' * count if count < 4 else 'iv'})",
             RetrievalConfig(budget_tokens=budget, **switches))
        )  # fmt: skip
    rungs.append(("+ filled", RetrievalConfig(budget_tokens=budget)))
    return rungs


HEADER = (
    f"{'budget':>6} {'retriever':<16} {'pair':>5} {'old':>5} {'new':>5}  "
    f"{'dim1':>5} {'dim2':>5} {'dim3':>5}  {'T1':>5} {'T2':>5}  "
    f"{'tokens':>6} {'lines':>5} {'ms':>6}  {'linked':>6} {'precision':>9}"
)


def row(budget: int, name: str, probes: Sequence[Probe]) -> str:
    """One line of the table."""

    def mean(values: Sequence[float]) -> float:
        return statistics.fmean(values) if values else float("nan")

    cells = [mean([p.pair for p in probes if p.dimension == d]) for d in ("dim1", "dim2", "dim3")]
    kinds = [mean([p.pair for p in probes if p.kind == kind]) for kind in ("T1", "T2")]
    precision = sum(p.gold_pairs for p in probes) / max(1, sum(p.pairs for p in probes))
    return (
        f"{budget:>6} {name:<16} {mean([p.pair for p in probes]):5.3f} "
        f"{mean([p.old for p in probes]):5.3f} {mean([p.new for p in probes]):5.3f}  "
        f"{cells[0]:5.3f} {cells[1]:5.3f} {cells[2]:5.3f}  {kinds[0]:5.3f} {kinds[1]:5.3f}  "
        f"{mean([p.tokens for p in probes]):6.0f} {mean([p.lines for p in probes]):5.0f} "
        f"{1e3 * statistics.median(p.seconds for p in probes):6.2f}  "
        f"{mean([p.linked for p in probes]):6.3f} {precision:9.3f}"
    )


def cross_validate(
    records: Sequence[Record], training: Sequence[Record], budgets: Sequence[int], folds: int
) -> None:
    """Print the recall on scenarios that the weights have not seen, and its spread."""
    together = [*training, *records]
    numbers = scenario_numbers(together)
    examples = collect(together, [index_of(record) for record in together])
    held: dict[int, list[list[Probe]]] = {budget: [] for budget in budgets}
    for fold in range(folds):
        left_out = [number for number in numbers.values() if number % folds == fold]
        chosen = [record for record in records if numbers[record["M_old"]] in left_out]
        if not chosen:
            continue
        weights = fit(examples, left_out)
        indexes = [index_of(record, weights) for record in chosen]
        for budget in budgets:
            config = RetrievalConfig(budget_tokens=budget)
            held[budget].append(
                probe_all(chosen, [with_config(i, config) for i in indexes], together)
            )
    for budget, by_fold in held.items():
        print(row(budget, "left-out folds", [probe for fold in by_fold for probe in fold]))
        recalls = [statistics.fmean(p.pair for p in fold) for fold in by_fold]
        spread = statistics.pstdev(recalls)
        print(
            f"{'':>6} by fold {' '.join(f'{recall:.3f}' for recall in recalls)}"
            f"  min {min(recalls):.3f}  sd {spread:.3f}"
        )


def main() -> None:
    """Read the records and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--budgets", default="2000,5700")
    parser.add_argument("--train", type=Path, nargs="*", default=[])
    parser.add_argument("--folds", type=int, default=7)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    records = read_records([options.file])
    indexes = [index_of(record) for record in records]
    examined = statistics.fmean(index.windows_examined for index in indexes)
    print(f"{options.file}: {len(records)} scenarios, {examined:.0f} windows a history")
    print(HEADER)
    for budget in budgets:
        print(
            row(
                budget,
                "plain BM25",
                probe_all(records, [plain(i, budget) for i in indexes], records),
            )
        )
        for name, config in ladder(budget):
            probes = probe_all(records, [with_config(i, config) for i in indexes], records)
            print(row(budget, name, probes))
        if options.misses:
            _print_misses(records, probes)
    if options.train:
        cross_validate(records, read_records(options.train), budgets, options.folds)


def _print_misses(records: Sequence[Record], probes: Sequence[Probe]) -> None:
    asked = [
        (record, question) for record in records for question in record["probing_queries"].values()
    ]
    for (record, question), probe in zip(asked, probes, strict=True):
        if not probe.pair:
            print(f"       missed {probe.dimension} {question}")
            print("" if probe.old else f"         old: {record['M_old']}")
            print("" if probe.new else f"         new: {record['M_new']}")


if __name__ == "__main__":
    main()
