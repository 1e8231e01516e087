"""Train the disclosure weights of the retriever and write them as a readable file.

    python experiments/benchmarks/retrieval_train.py FILE [FILE ...] [--write]

Every FILE holds Stale records with ``M_old`` and ``M_new``. A sentence is an
example; it is positive where it is an ``M_old`` or ``M_new`` of any record, and
left out where it overlaps one, or where it announces a change of taste in a
conversation that nobody annotated (it may well be a state). Logistic
regression with a ridge; each weight keeps the sign that the cue's reason gives
it, so that nothing is learnt that the lexicon cannot justify. Deterministic:
numpy only, no random start.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stateauditor.program.memory import read_memory
from stateauditor.program.retrieval.disclosures import Weights, load_weights
from stateauditor.program.retrieval.index import MemoryIndex

Record = dict[str, Any]
Floats = npt.NDArray[np.float64]

TARGET: Final = Path(__file__).parents[2] / "program" / "retrieval" / "weights.yaml"
RIDGE: Final = 3.0
ROUNDS: Final = 3_000

RAISES: Final = (
    *("first_person", "possession", "owning_verb", "being_verb", "body_and_home", "habit"),
    *("weekday", "duration", "present_state", "only", "novelty", "since_anchor"),
    *("started_or_stopped", "month_anchor", "constraint", "length", "numbers", "domains"),
    *("own_domains", "states", "aside"),
)
"""Features that may only speak for a lasting statement."""

LOWERS: Final = (
    *("hypothetical", "past", "address", "reaction", "task", "concept", "spending", "taste"),
    *("question", "asks", "opens_turn", "closes_turn", "stands_alone"),
)
"""Features that may only speak against one."""

MILD: Final = {
    **dict.fromkeys(("opens_turn", "closes_turn", "stands_alone"), 1.0),
    **dict.fromkeys(("hypothetical", "past", "taste"), 0.6),
}
"""Bounds for features of which the training conversations say more than the world would:
their changes always stand inside a turn, and other users do tell of former tastes."""


@dataclass(frozen=True)
class Examples:
    """One row a distinct sentence; ``scenario`` is the record a positive belongs to, or -1."""

    columns: tuple[str, ...]
    values: Floats
    positive: npt.NDArray[np.bool_]
    scenario: npt.NDArray[np.int64]


def read_records(paths: Iterable[Path]) -> list[Record]:
    """The records of all files."""
    return [record for path in paths for record in json.loads(path.read_text(encoding="utf-8"))]


def index_of(record: Record, weights: Weights | None = None) -> MemoryIndex:
    """The index of a record's history, as the retriever sees it: no annotated field."""
    history = {key: record[key] for key in ("haystack_session", "timestamps")}
    return MemoryIndex.build(read_memory(history), weights=weights)


def scenario_numbers(records: Sequence[Record]) -> dict[str, int]:
    """A number for each distinct pair: the same pair in two histories is one scenario."""
    numbers: dict[str, int] = {}
    for record in records:
        numbers.setdefault(record["M_old"], len(numbers))
    return numbers


def collect(records: Sequence[Record], indexes: Sequence[MemoryIndex]) -> Examples:
    """The distinct sentences of all histories with their features and labels."""
    numbers = scenario_numbers(records)
    gold = {
        record[key]: numbers[record["M_old"]] for record in records for key in ("M_old", "M_new")
    }
    joined = "\n".join(gold)
    seen: set[str] = set()
    values: list[Floats] = []
    positive: list[bool] = []
    scenario: list[int] = []
    for index in indexes:
        column = {name: place for place, name in enumerate(index.measured.columns)}
        opinion = [column["taste"], column["started_or_stopped"]]
        written = {
            number
            for number, entry in enumerate(index.sentences.entries)
            if any(statement in entry.text for statement in gold)
        }
        sessions = {index.sentences.entry_session[number] for number in written}
        for row, (entry, start, end) in enumerate(
            zip(index.lists.entry, index.lists.start, index.lists.end, strict=True)
        ):
            text = index.sentences.entries[entry].text[start:end]
            if text in seen:
                continue
            seen.add(text)
            is_gold = text in gold
            overlaps = text in joined or any(statement in text for statement in gold)
            unannotated = index.sentences.session[row] not in sessions
            if not is_gold and (
                overlaps or (unannotated and index.measured.values[row, opinion].any())
            ):
                continue
            values.append(index.measured.values[row])
            positive.append(is_gold)
            scenario.append(gold.get(text, -1))
    return Examples(
        indexes[0].measured.columns, np.array(values), np.array(positive), np.array(scenario)
    )


def fit(examples: Examples, leave_out: Collection[int] = ()) -> Weights:
    """Weights learnt from the examples, without the scenarios in ``leave_out``."""
    used = [examples.columns.index(name) for name in (*RAISES, *LOWERS)]
    kept = ~np.isin(examples.scenario, list(leave_out))
    table = examples.values[kept][:, used]
    scale = examples.values[:, used].std(axis=0) + 1e-9
    table = np.hstack([table / scale, np.ones((len(table), 1))])
    target = examples.positive[kept].astype(np.float64)
    names = (*RAISES, *LOWERS)
    bound = np.array([MILD.get(name, np.inf) for name in names]) * scale
    lowest = np.append(
        [0.0 if name in RAISES else -b for name, b in zip(names, bound, strict=True)], -np.inf
    )
    highest = np.append(
        [0.0 if name in LOWERS else b for name, b in zip(names, bound, strict=True)], np.inf
    )
    weights = descend(table, target, lowest, highest)
    plain = np.round(weights[:-1] / scale, 2)
    return Weights(
        version=1,
        bias=round(float(weights[-1]), 2),
        statement={name: float(value) for name, value in zip(names, plain, strict=True) if value},
        change=load_weights().change,
        fact_bias=load_weights().fact_bias,
        fact=load_weights().fact,
    )


def descend(table: Floats, target: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Accelerated projected gradient descent on the ridge logistic loss."""
    ridge = np.full(table.shape[1], RIDGE)
    ridge[-1] = 0.0
    rate = 1.0 / (0.25 * np.linalg.norm(table, 2) ** 2 + RIDGE)
    weights = ahead = np.zeros(table.shape[1])
    momentum = 1.0
    for _ in range(ROUNDS):
        gradient = table.T @ (1 / (1 + np.exp(-(table @ ahead))) - target) + ridge * ahead
        stepped = np.clip(ahead - rate * gradient, lowest, highest)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = stepped + (momentum - 1) / following * (stepped - weights)
        weights, momentum = stepped, following
    return weights


def to_yaml(weights: Weights) -> str:
    """The weights file, strongest first, with what it is and where it comes from."""
    lines = [
        "# What each feature of a sentence counts (features.py and lexicon.yaml name them).",
        "# bias and statement: log-odds that a sentence states something lasting about the user,",
        "# learnt by experiments/benchmarks/retrieval_train.py; run it again to change them.",
        "# fact: the same for stored facts, learnt by retrieval_train_facts.py.",
        "# change: added for step (ii), set by hand: small, because most changes are told",
        "# without a word of change, and just enough that of two equal statements the dated",
        "# or novel one comes first.",
        f"version: {weights.version}",
        f"bias: {weights.bias}",
        "statement:",
    ]
    ordered = sorted(weights.statement.items(), key=lambda item: (-item[1], item[0]))
    lines += [f"  {name}: {value}" for name, value in ordered]
    lines += ["change:", *(f"  {name}: {value}" for name, value in weights.change.items())]
    lines += [f"fact_bias: {weights.fact_bias}", "fact:"]
    lines += [f"  {name}: {value}" for name, value in weights.fact.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Train on the files' records; print the weights, or write them into the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    options = parser.parse_args()
    records = read_records(options.files)
    text = to_yaml(fit(collect(records, [index_of(record) for record in records])))
    if options.write:
        TARGET.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
