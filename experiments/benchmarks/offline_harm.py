"""Do the offline rules harm? Right drafts touched, and changes said outright that were found.

::

    python -m stateauditor.experiments.benchmarks.offline_harm ../shared [--locomo FILE] [--show]

The first table counts right drafts that got any directive, by source, with Wilson intervals;
the second one the changes of ``offline_outright.yaml`` that were repaired, by register, for the
half that rules may be tuned on and for the half that is only ever counted. Deterministic.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from stateauditor.experiments.benchmarks.offline_right import right_drafts
from stateauditor.metrics.statistics import wilson_interval
from stateauditor.program.auditor import StateAuditor
from stateauditor.signatures.models import AuditResult, DirectiveKind, Policy

HALVES = ("tuned", "held out")
_FACTS = ("stored_fact", "named_fact")


@dataclass(frozen=True)
class Outright:
    """One change that is said outright, with a draft that rests on the old value."""

    register: str
    half: str
    old: str
    new: str
    question: str
    draft: str

    def memory(self) -> list[dict[str, object]]:
        """Two entries a month apart: stored facts, or the user's turns."""
        said = (("2024-02-03", self.old), ("2024-03-09", self.new))
        if self.register in _FACTS:
            return [{"timestamp": time, "text": text} for time, text in said]
        return [
            {"timestamp": time, "turns": [{"role": "user", "content": text}]} for time, text in said
        ]


def outright_changes() -> Iterator[Outright]:
    """The sixty changes; in each register every second one by hash is for tuning."""
    path = Path(__file__).with_name("offline_outright.yaml")
    content: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
    for number, (register, lines) in enumerate(content.items()):
        ranked = sorted(lines.splitlines(), key=lambda t: hashlib.sha256(t.encode()).hexdigest())
        # Registers of five lines take turns in having the larger half.
        for place, line in enumerate(ranked, start=number):
            yield Outright(register, HALVES[place % 2], *line.split(" | "))


def touched(result: AuditResult) -> bool:
    """Whether anything was found against a draft."""
    return result.changed or bool(result.directives)


def repaired(result: AuditResult) -> bool:
    """Whether a repair changed the reply."""
    return result.changed and any(d.kind is DirectiveKind.REPAIR for d in result.directives)


def rate(hits: int, total: int) -> str:
    """A count with its share and Wilson interval."""
    interval = wilson_interval(hits, total)
    if interval is None:
        return f"{hits:5} / {total:5}"
    low, high = interval
    return f"{hits:5} / {total:5}  {hits / total:7.2%}  [{low:.2%}, {high:.2%}]"


def harm(auditor: StateAuditor, args: argparse.Namespace) -> list[str]:
    """The first table."""
    counts: dict[str, list[bool]] = defaultdict(list)
    for history in right_drafts(args.shared, args.dialogues, args.locomo):
        results = auditor.audit_pairs(history.memory, history.pairs)
        counts[history.source] += map(touched, results)
        if args.show:
            _show_wrong(history.source, history.pairs, results)
    lines = ["right drafts touched (any directive)"]
    lines += [f"  {name:26} {rate(sum(hit), len(hit))}" for name, hit in counts.items()]
    everything = [hit for hits in counts.values() for hit in hits]
    return [*lines, f"  {'all':26} {rate(sum(everything), len(everything))}"]


def _show_wrong(
    source: str, pairs: tuple[tuple[str, str], ...], results: list[AuditResult]
) -> None:
    for (question, draft), result in zip(pairs, results, strict=True):
        for directive in result.directives:
            change = f"{directive.attribute}: {directive.old_value} -> {directive.current_value}"
            told = [c.new.quote for c in result.transitions if c.id in directive.authority]
            sys.stderr.write(f"{source} | {question} | {draft} | {change} | {told[:1]}\n")


def recall(auditor: StateAuditor, show: str | None) -> list[str]:
    """The second table."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for change in outright_changes():
        result = auditor.audit(change.memory(), change.question, change.draft)
        found[change.register, change.half].append(repaired(result))
        if show == change.half and not repaired(result):
            sys.stderr.write(f"missed | {change.register} | {change.old} | {change.new}\n")
    lines = ["changes said outright that were repaired"]
    for register in dict.fromkeys(name for name, _ in found):
        cells = [found[register, half] for half in HALVES]
        told = "   ".join(f"{h} {sum(c)}/{len(c)}" for h, c in zip(HALVES, cells, strict=True))
        lines.append(f"  {register:26} {told}")
    for half in HALVES:
        hits = [hit for (_, of), hits in found.items() if of == half for hit in hits]
        lines.append(f"  {half:26} {rate(sum(hits), len(hits))}")
    return lines


def main() -> None:
    """Read the command line and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("shared", type=Path, help="the folder with real/ and slices/")
    parser.add_argument("--dialogues", type=int, default=60, help="generated dialogues (60)")
    parser.add_argument("--locomo", type=Path, help="a LoCoMo file, a list of records")
    parser.add_argument("--show", action="store_true", help="print wrong and missed ones, too")
    args = parser.parse_args()
    auditor = StateAuditor("offline", policy=Policy.REPAIR_ONLY)
    # Only the half for tuning is ever printed.
    for line in harm(auditor, args) + recall(auditor, HALVES[0] if args.show else None):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
