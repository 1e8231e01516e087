"""Train the weights for stored facts and print them as the part ``fact`` of the weights file.

    python -m stateauditor.experiments.benchmarks.retrieval_train_facts

Positive are the old and new values of the bundled slice's keys, written as facts, and both
sides of the pairs to work with (``fact_pairs.yaml``, half ``tune``); negative are all other
statements of the slice. Each weight keeps the sign that the cue's reason gives it, within a
bound, as in ``retrieval_train``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from stateauditor.data.slices import SliceKey, load_slice
from stateauditor.experiments.benchmarks.fact_stores import load_pairs, statements
from stateauditor.experiments.benchmarks.retrieval_train import descend
from stateauditor.program.memory import read_memory
from stateauditor.program.retrieval.index import MemoryIndex

RAISES: Final = (
    *("possession", "store_subject", "stating_verb", "ended_or_begun", "habit", "weekday"),
    *("duration", "present_state", "only", "novelty", "since_anchor", "started_or_stopped"),
    *("said_change", "month_anchor", "constraint", "domains", "body_and_home"),
)
LOWERS: Final = (
    *("hypothetical", "past", "address", "reaction", "task", "concept", "spending", "taste"),
    *("question", "asks", "length", "numbers", "other_person"),
)
MOST: Final = 2.0
LEAST: Final = -2.5


def key_facts(key: SliceKey) -> list[str]:
    """Both values of a key as facts of a store."""
    facts = []
    for value in (key.old_value.reveal(), key.new_value.reveal()):
        verb = value.split()[0].endswith("s")
        facts.append(f"User {value}." if verb else f"User's {key.attribute.reveal()} is {value}.")
    return facts


def main() -> None:
    """Train and print."""
    positive = [text for pair in load_pairs("tune") for text in (pair.old, pair.new)]
    for key in load_slice("stale_mini").keys.values():
        positive += key_facts(key)
    rows = [
        {"id": f"f{number}", "timestamp": "2024-01-01", "text": text}
        for number, text in enumerate([*positive, *statements().values()])
    ]
    index = MemoryIndex.build(read_memory(rows))
    wanted = set(positive)
    target = np.array([index.sentences.entries[e].text in wanted for e in index.lists.entry])
    names = (*RAISES, *LOWERS)
    used = index.measured.values[:, [index.measured.columns.index(name) for name in names]]
    scale = used.std(axis=0) + 1e-9
    table = np.hstack([used / scale, np.ones((len(used), 1))])
    raises = np.array([name in RAISES for name in names])
    lowest = np.append(np.where(raises, 0.0, LEAST * scale), -np.inf)
    highest = np.append(np.where(raises, MOST * scale, 0.0), np.inf)
    weights = descend(table, target.astype(np.float64), lowest, highest)
    by_name = dict(zip(names, np.round(weights[:-1] / scale, 2).tolist(), strict=True))
    print(f"fact_bias: {weights[-1]:.2f}\nfact:")
    for name, weight in sorted(by_name.items(), key=lambda item: (-item[1], item[0])):
        if weight:
            print(f"  {name}: {weight}")


if __name__ == "__main__":
    main()
