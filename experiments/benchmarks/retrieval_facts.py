"""How often both sides of a plain change are found among many other statements of a life.

    python -m stateauditor.experiments.benchmarks.retrieval_facts [--half report]
        [--sizes 100,300,1000] [--budgets 2000,5700] [--memora PERSONA_FOLDER ...]
        [--slices SLICE_FOLDER ...] [--misses]

A pair of statements (``fact_pairs.yaml``) stands among the statements of real people, as
short facts, as asides in sessions, or as a mixture. ``both``: some line holds the whole old
side and some line the whole new one. ``other`` asks the probes of another pair instead: what
is found without the question's help. ``control``: the same with a statement that only looks
like the change. ``dense``: the scenarios of the bundled slice in histories where every
session tells of a life. 3,000 statements need Memora personas or more slices.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from stateauditor.experiments.benchmarks.fact_stores import (
    Kind,
    Store,
    build_store,
    dense_histories,
    load_pairs,
    statements,
)
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.signatures.models import Readout

Asked = tuple[MemoryIndex, Store, Sequence[str], Sequence[str]]
"""An index, what it should yield, its own probes, and another scenario's."""


def holds(readout: Readout, statement: str) -> bool:
    """Whether one line holds the whole statement."""
    return any(statement in line.text for line in readout.entries)


def sides(
    asked: Iterable[Asked], budget: int, own: bool = True, misses: bool = False
) -> tuple[float, float, float, float, float]:
    """Shares of probes that found both sides, the old, the new; tokens and lines on average."""
    rows: list[tuple[bool, bool, int, int]] = []
    for index, store, probes, others in asked:
        for question in probes if own else others:
            readout = index.retrieve(question, budget_tokens=budget)
            old, new = holds(readout, store.old), holds(readout, store.new)
            rows.append((old, new, readout.tokens, len(readout.entries)))
            if misses and not (old and new):
                lost = " and ".join(
                    repr(side) for side, hit in ((store.old, old), (store.new, new)) if not hit
                )
                print(f"      {question!r} missed {lost}")
    mean = statistics.fmean
    return (
        mean(old and new for old, new, _, _ in rows),
        mean(old for old, _, _, _ in rows),
        mean(new for _, new, _, _ in rows),
        mean(tokens for _, _, tokens, _ in rows),
        mean(lines for _, _, _, lines in rows),
    )


def stores(half: str, others: dict[str, str], size: int, kind: Kind, control: bool) -> list[Asked]:
    """One store a pair; the probes of another scenario are those of the next pair but two."""
    pairs = load_pairs(half)
    result: list[Asked] = []
    for number, pair in enumerate(pairs):
        store = build_store(pair, others, size, kind, control, number)
        stranger = pairs[(number + 3) % len(pairs)]
        result.append((MemoryIndex.build(store.memory), store, pair.probes, stranger.probes))
    return result


def dense() -> list[Asked]:
    """The life-dense histories with their own probes and the next scenario's."""
    histories = dense_histories()
    result: list[Asked] = []
    for number, (item, store) in enumerate(histories):
        stranger = histories[(number + 3) % len(histories)][0]
        result.append(
            (
                MemoryIndex.build(store.memory),
                store,
                [text for _, text in item.scenario.probes.items()],
                [text for _, text in stranger.scenario.probes.items()],
            )
        )
    return result


HEADER = (
    f"{'kind':<8} {'size':>5} {'budget':>6}  {'both':>5} {'old':>5} {'new':>5}  {'other':>5}  "
    f"{'control':>7}  {'tokens':>6} {'lines':>5}"
)


def row(
    kind: str, size: int, budget: int, asked: Sequence[Asked],
    control: Sequence[Asked], misses: bool,
) -> str:  # fmt: skip
    """One line of the table."""
    both, old, new, tokens, lines = sides(asked, budget, misses=misses)
    other = sides(asked, budget, own=False)[0]
    kept = f"{sides(control, budget)[0]:7.3f}" if control else f"{'':7}"
    return (
        f"{kind:<8} {size:>5} {budget:>6}  {both:5.3f} {old:5.3f} {new:5.3f}  {other:5.3f}  "
        f"{kept}  {tokens:6.0f} {lines:5.0f}"
    )


def report(
    half: str,
    sizes: Sequence[int],
    budgets: Sequence[int],
    kinds: Sequence[Kind],
    others: dict[str, str],
    misses: bool,
    show: Callable[[str], None] = print,
) -> None:
    """Print the table of one half."""
    show(f"{len(load_pairs(half))} pairs ({half}), three probes each, among {len(others)} others")
    show(HEADER)
    for kind in kinds:
        for size in sizes:
            if size > len(others):
                show(
                    f"{kind:<8} {size:>5}  needs more statements: give --memora or --slices folders"
                )
                continue
            asked = stores(half, others, size, kind, control=False)
            control = stores(half, others, size, kind, control=True)
            for budget in budgets:
                show(row(kind.value, size, budget, asked, control, misses))


def main() -> None:
    """Build the stores and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--sizes", default="100,300,1000,3000")
    parser.add_argument("--budgets", default="2000,5700")
    parser.add_argument("--kinds", default=",".join(Kind))
    parser.add_argument("--memora", type=Path, nargs="*", default=[])
    parser.add_argument("--slices", type=Path, nargs="*", default=[])
    parser.add_argument("--no-dense", action="store_true", help="leave out the dense histories")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    report(
        options.half,
        [int(size) for size in options.sizes.split(",")],
        budgets,
        [Kind(kind) for kind in options.kinds.split(",")],
        statements(options.memora, options.slices),
        options.misses,
    )
    if not options.no_dense:
        asked = dense()
        for budget in budgets:
            print(row("dense", 50, budget, asked, (), options.misses))


if __name__ == "__main__":
    main()
