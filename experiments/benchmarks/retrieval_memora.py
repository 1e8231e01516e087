"""How much of the evidence for real Memora questions the retriever finds.

    python experiments/benchmarks/retrieval_memora.py PERSONA_FOLDER [...] [--budgets 2000,5700]

A persona folder holds ``conversations/`` and one ``evaluation_questions_*.json``.
Each question names the values that an answer needs (``memory_evidence``) and the
ones that no longer hold (``forgetting_evidence``), each with its session. A value
counts as found if a line of the readout from that session contains it word for
word (case aside). Nothing here is used to train or tune the retriever.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stateauditor.experiments.benchmarks.retrieval_recall import Retriever, plain, with_config
from stateauditor.program.memory import from_memora
from stateauditor.program.retrieval.config import RetrievalConfig
from stateauditor.program.retrieval.index import MemoryIndex
from stateauditor.signatures.models import Readout

VALUES = ("value", "item", "amount", "step_count")


def evidence(node: Any) -> Iterator[tuple[str, str]]:
    """Every (value, session) pair in a question's evidence, at whatever depth."""
    if isinstance(node, dict):
        value = next((node[key] for key in VALUES if key in node), None)
        if value is not None and "session_id" in node:
            yield str(value), str(node["session_id"])
        for child in node.values():
            yield from evidence(child)
    elif isinstance(node, list):
        for child in node:
            yield from evidence(child)


def holds(readout: Readout, value: str, session: str) -> bool:
    """Whether a line of ``session`` contains ``value``; numbers may have thousands marks."""
    forms = {value.casefold()}
    if value.isdigit():
        forms.add(f"{int(value):,}")
    return any(
        line.session == session and any(form in line.text.casefold() for form in forms)
        for line in readout.entries
    )


def measure(questions: dict[str, Any], retrieve: Retriever) -> dict[str, list[float]]:
    """Per kind of question the share of its evidence that was found; forgetting apart."""
    found: dict[str, list[float]] = {}
    for kind, asked in questions.items():
        for question in asked:
            readout = retrieve(question["question"])
            found.setdefault("tokens", []).append(readout.tokens)
            for name, field in ((kind, "memory_evidence"), ("forgetting", "forgetting_evidence")):
                wanted = set(evidence(question.get(field)))
                if wanted:
                    share = statistics.fmean(holds(readout, *item) for item in wanted)
                    found.setdefault(name, []).append(share)
    return found


def main() -> None:
    """Read the personas and print a row for each budget and retriever."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("personas", nargs="+", type=Path)
    parser.add_argument("--budgets", default="2000,5700")
    options = parser.parse_args()
    for folder in options.personas:
        (asked,) = folder.glob("evaluation_questions_*.json")
        questions = json.loads(asked.read_text(encoding="utf-8"))["questions"]
        sessions = [
            json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((folder / "conversations").glob("*.json"))
        ]
        index = MemoryIndex.build(from_memora(sessions))
        print(f"{folder.name}: {len(sessions)} sessions, {index.windows_examined} windows")
        for budget in map(int, options.budgets.split(",")):
            config = RetrievalConfig(budget_tokens=budget)
            for name, retrieve in (
                ("plain BM25", plain(index, budget)),
                ("four steps", with_config(index, config)),
            ):
                found = measure(questions, retrieve)
                cells = "  ".join(
                    f"{kind} {statistics.fmean(shares):.3f}"
                    for kind, shares in found.items()
                    if kind != "tokens"
                )
                print(
                    f"{budget:>6} {name}  {cells}  tokens {statistics.fmean(found['tokens']):.0f}"
                )


if __name__ == "__main__":
    main()
