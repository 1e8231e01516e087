"""How fast retrieval is, next to rank-bm25 over the same windows in the same process.

    python experiments/benchmarks/retrieval_bench.py FILE [--growth] [--rounds 15]

FILE holds Stale records; the histories of several of them are joined for the
longer points. Each round times the retriever and rank-bm25 one right after the
other, so that a busy machine slows both; the table gives the median of the
rounds' ratios and the best absolute times. rank-bm25 gets the words of the same
windows, lower-cased, and the question's words likewise.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi

from stateauditor.program.memory import Memory, read_memory
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.program.retrieval.tokens import words

Record = dict[str, Any]


def history(records: Sequence[Record], sessions: int) -> Memory:
    """A memory of ``sessions`` sessions: the records' histories, one year after another."""
    turns: list[Any] = []
    stamps: list[str] = []
    for number, (session, stamp) in enumerate(_endless(records)):
        if number == sessions:
            break
        turns.append(session)
        stamps.append(stamp)
    return read_memory({"haystack_session": turns, "timestamps": stamps})


def _endless(records: Sequence[Record]) -> Iterator[tuple[Any, str]]:
    year = 1950
    while True:
        for record in records:
            for session, stamp in zip(
                record["haystack_session"], record["timestamps"], strict=True
            ):
                yield session, f"{year + int(stamp[:4]) % 10}{stamp[4:]}"
            year += 3


def timed(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def compare(
    ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int
) -> tuple[float, float, float]:
    """Best milliseconds of both, and the median ratio of rounds run back to back."""
    pairs = [(timed(ours), timed(theirs)) for _ in range(rounds)]
    ratio = statistics.median(one / other for one, other in pairs)
    return min(p[0] for p in pairs) * 1e3, min(p[1] for p in pairs) * 1e3, ratio


def speed(records: Sequence[Record], sessions: int, rounds: int) -> None:
    """Print build and question times, and their ratios to rank-bm25."""
    memory = history(records, sessions)
    index = MemoryIndex.build(memory)
    corpus = [[word.lower() for word in words(w.text)] for w in index.each_window()]
    okapi = BM25Okapi(corpus)
    label = f"{sessions:5d} sessions {len(corpus):6d} windows"
    ours, theirs, ratio = compare(
        lambda: MemoryIndex.build(memory), lambda: BM25Okapi(corpus), rounds
    )
    print(f"{label}  build     {ours:8.2f} ms  BM25Okapi  {theirs:8.2f} ms  ratio {ratio:5.2f}")
    for dimension, question in records[0]["probing_queries"].items():
        query = [word.lower() for word in words(question)]
        ours, theirs, ratio = compare(
            partial(index.retrieve, question),
            partial(okapi.get_scores, query),
            3 * rounds,
        )
        print(
            f"{label}  {dimension[:4]} {len(query):2d}w {ours:8.2f} ms  get_scores {theirs:8.2f} ms"
            f"  ratio {ratio:5.2f}"
        )


def growth(records: Sequence[Record], points: Sequence[int]) -> None:
    """Print how build and question times grow with the history."""
    question = records[0]["probing_queries"]["dim3_query"]
    for sessions in points:
        memory = history(records, sessions)
        begin = time.perf_counter()
        index = MemoryIndex.build(memory)
        built = time.perf_counter() - begin
        asked = min(timed(partial(index.retrieve, question)) for _ in range(25))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        windows = index.windows_examined
        print(
            f"{sessions:5d} sessions {windows:7d} windows  build {built * 1e3:9.1f} ms "
            f"({built * 1e6 / max(windows, 1):5.1f} us a window)  question {asked * 1e3:7.2f} ms  "
            f"peak {peak:6.0f} MB"
        )


def main() -> None:
    """Read the records and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--points", default="10,50,200,1000,5000")
    options = parser.parse_args()
    records = json.loads(options.file.read_text(encoding="utf-8"))
    if options.growth:
        growth(records, [int(point) for point in options.points.split(",")])
    else:
        for sessions in (50, 53, 122):
            speed(records, sessions, options.rounds)


if __name__ == "__main__":
    main()
