"""What an audit costs besides its LM calls, on histories of about 93,000 tokens.

    python -m stateauditor.experiments.benchmarks.audit_overhead SLICE/conflicts.json

Prints medians over five runs: building the index, the first and a later audit with
an LM that answers at once, as ratios to one ``BM25Okapi(...)`` build and one
``get_scores`` over the same windows in the same process; peak memory; and how the
time grows from 10 to 500 sessions.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi
from rich.console import Console
from rich.table import Table

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.scripted import scripted_backend
from stateauditor.program.memory import read_memory
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.tokens import words

RUNS = 5
SIZES = (10, 50, 100, 200, 500)
QUESTION = "What should I do this weekend?"
DRAFT = "Take the early train to the lake and walk the long loop before lunch."


def median_seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """Median wall-clock seconds over some runs."""
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def window_tokens(index: MemoryIndex) -> list[list[str]]:
    """The words of every window of an index, as plain BM25 would be given them."""
    sentences, windows = index.sentences, index.windows
    texts = []
    for number in range(len(windows)):
        first, last = int(windows.first[number]), int(windows.last[number])
        entry = sentences.entries[int(sentences.entry[first])]
        text = entry.text[int(sentences.start[first]) : int(sentences.end[last - 1])]
        texts.append([word.casefold() for word in words(text)])
    return texts


def measure(record: dict[str, Any], auditor: StateAuditor) -> dict[str, float]:
    """All timings for one history, in seconds."""
    memory = read_memory(record)
    index = auditor.index(memory)
    tokens = window_tokens(index)
    plain = BM25Okapi(tokens)
    query = [word.casefold() for word in words(QUESTION)]
    return {
        "windows": float(len(tokens)),
        "read": median_seconds(lambda: read_memory(record)),
        "build": median_seconds(lambda: auditor.index(memory)),
        "first": median_seconds(lambda: auditor.audit(memory, QUESTION, DRAFT)),
        "later": median_seconds(lambda: auditor.audit(index, QUESTION, DRAFT)),
        "retrieve": median_seconds(lambda: index.retrieve(QUESTION)),
        "bm25_build": median_seconds(lambda: BM25Okapi(tokens)),
        "bm25_scores": median_seconds(lambda: plain.get_scores(query)),
    }


def grown(records: list[dict[str, Any]], sessions: int) -> dict[str, Any]:
    """A history of ``sessions`` sessions put together from the slice's own."""
    pool = [s for record in records for s in record["haystack_session"]]
    chosen = [pool[i % len(pool)] for i in range(sessions)]
    stamps = [
        f"{2000 + i // 336:04d}-{i // 28 % 12 + 1:02d}-{i % 28 + 1:02d} 09:00"
        for i in range(sessions)
    ]
    return {"haystack_session": chosen, "timestamps": stamps}


def report(rows: list[dict[str, float]], growth: dict[int, dict[str, float]]) -> None:
    """Print both tables."""
    console = Console()
    middle = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    table = Table(title=f"Median over {len(rows)} histories, {RUNS} runs each")
    for column in ("what", "ms", "ratio", "to"):
        table.add_column(column, justify="left" if column in ("what", "to") else "right")
    for name, base in (
        ("build", "bm25_build"),
        ("first", "bm25_build"),
        ("later", "bm25_scores"),
        ("retrieve", "bm25_scores"),
    ):
        table.add_row(name, f"{1e3 * middle[name]:.2f}", f"{middle[name] / middle[base]:.2f}", base)
    for name in ("read", "bm25_build", "bm25_scores"):
        table.add_row(name, f"{1e3 * middle[name]:.2f}", "", "")
    console.print(table)
    console.print(
        f"windows: {middle['windows']:.0f}; peak memory: "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
    )
    table = Table(title="Growth")
    for column in ("sessions", "windows", "build ms", "first audit ms", "later audit ms"):
        table.add_column(column, justify="right")
    for sessions, row in growth.items():
        table.add_row(
            str(sessions),
            f"{row['windows']:.0f}",
            f"{1e3 * row['build']:.1f}",
            f"{1e3 * row['first']:.1f}",
            f"{1e3 * row['later']:.1f}",
        )
    console.print(table)


def main() -> None:
    """Measure the histories of a file in the Stale layout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("records", type=Path, help="a JSON array of Stale records")
    records = json.loads(parser.parse_args().records.read_text("utf-8"))
    auditor = StateAuditor(scripted_backend({}), role_timeout=None)
    rows = [measure(record, auditor) for record in records]
    report(rows, {size: measure(grown(records, size), auditor) for size in SIZES})


if __name__ == "__main__":
    main()
