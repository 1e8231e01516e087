"""The two plots of docs/retrieval.md: recall against budget, and build time against memory.

    python experiments/benchmarks/retrieval_plots.py --out docs FILE [FILE ...]

Each FILE holds Stale records. The disclosure weights are the shipped ones; the
page gives the recall on left-out folds beside them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

from stateauditor.experiments.benchmarks.retrieval_bench import history, timed
from stateauditor.experiments.benchmarks.retrieval_recall import plain, probe_all, with_config
from stateauditor.experiments.benchmarks.retrieval_train import Record, index_of, read_records
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex

BUDGETS = (500, 750, 1_000, 1_250, 1_500, 2_000, 3_000, 4_000, 5_700, 8_000, 12_000)
SESSIONS = (50, 200, 500, 1_000, 2_000)
STYLES = ("-", "--", ":", "-.")


def recall_curves(records: Sequence[Record]) -> tuple[list[float], list[float]]:
    """Strict pair recall at each budget: all four steps, and plain BM25."""
    indexes = [index_of(record) for record in records]
    curves: tuple[list[float], list[float]] = ([], [])
    for budget in BUDGETS:
        config = RetrievalConfig(budget_tokens=budget)
        steps = probe_all(records, [with_config(i, config) for i in indexes], records)
        bm25 = probe_all(records, [plain(i, budget) for i in indexes], records)
        for curve, probes in zip(curves, (steps, bm25), strict=True):
            curve.append(sum(probe.pair for probe in probes) / len(probes))
    return curves


def plot_recall(files: Sequence[Path], path: Path) -> None:
    """Write the plot of recall against budget."""
    figure, axes = plt.subplots(figsize=(7, 4))
    for file, style in zip(files, STYLES, strict=False):
        steps, bm25 = recall_curves(read_records([file]))
        axes.plot(BUDGETS, steps, style, color="black", label=f"four steps, {file.parent.name}")
        axes.plot(BUDGETS, bm25, style, color="gray", label=f"plain BM25, {file.parent.name}")
    axes.set(xlabel="budget in tokens", ylabel="strict pair recall", ylim=(0, 1.03), xscale="log")
    axes.set_xticks([500, 1_000, 2_000, 5_700, 12_000], ["500", "1k", "2k", "5.7k", "12k"])
    axes.minorticks_off()
    axes.legend(loc="center right")
    axes.grid(alpha=0.3)
    _save(figure, path)


def plot_growth(records: Sequence[Record], path: Path) -> None:
    """Write the plot of index building against the number of windows."""
    windows, seconds = [], []
    for sessions in SESSIONS:
        memory = history(records, sessions)
        seconds.append(min(timed(partial(MemoryIndex.build, memory)) for _ in range(3)))
        windows.append(MemoryIndex.build(memory).windows_examined)
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.plot(windows, seconds, "o-", color="black", label="index building")
    slope = seconds[-1] / windows[-1]
    axes.plot(windows, [slope * w for w in windows], ":", color="gray", label="proportional")
    axes.set(xlabel="windows", ylabel="seconds", ylim=(0, None), xlim=(0, None))
    axes.legend()
    axes.grid(alpha=0.3)
    _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Read the records and write both plots."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--out", type=Path, default=Path("docs"))
    options = parser.parse_args()
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stateauditor"
    plot_recall(options.files, options.out / "retrieval-recall.svg")
    plot_growth(read_records(options.files[-1:]), options.out / "retrieval-growth.svg")


if __name__ == "__main__":
    main()
