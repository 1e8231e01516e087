"""``stateauditor demo``: four worked examples, audited here and now."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stateauditor.cli import options
from stateauditor.cli.console import printable, progress, show, show_table, stdout, write_json
from stateauditor.cli.demos import EXAMPLES as WORKED_EXAMPLES
from stateauditor.cli.demos import Example
from stateauditor.cli.inputs import AuditInput
from stateauditor.cli.report import (
    OFFLINE_MEANS,
    VERIFIED_MEANS,
    show_directives,
)
from stateauditor.signatures.models import AuditResult, Policy

EXAMPLES = options.examples("stateauditor demo", "stateauditor demo --json")


def demo(as_json: options.AsJson = False) -> None:
    """Run the bundled worked examples, with no key and no network.

    Two drafts that rely on something stale come back repaired; two that must
    stay as they are do. The findings come from lexical rules, not from a model.
    """
    inputs = [example.load() for example in WORKED_EXAMPLES]
    with progress("auditing the worked examples"):
        from stateauditor.program.auditor import StateAuditor

        auditor = StateAuditor(policy=Policy.REPAIR_ONLY)
        results = [auditor.audit(i.memory, *i.pairs[0]) for i in inputs]
    audits = list(zip(WORKED_EXAMPLES, inputs, results, strict=True))
    if as_json:
        listed = [
            {"name": example.name, "title": example.title, "result": result.model_dump(mode="json")}
            for example, _, result in audits
        ]
        write_json({"examples": listed})
        return
    console = stdout()
    for number, (example, given, result) in enumerate(audits, start=1):
        _show(console, number, example, given, result)
    show(console, f"backend: {results[0].backend} · no key, no network", style="dim")
    show(console, OFFLINE_MEANS, style="dim")
    show(console, VERIFIED_MEANS, style="dim")


def _show(
    console: Console, number: int, example: Example, given: AuditInput, result: AuditResult
) -> None:
    show(console, f"{number}. {example.title}", style="bold")
    rows = [("question", given.pairs[0][0]), ("before", result.draft)]
    rows.append(("after", result.response if result.changed else "the same, byte for byte"))
    for label, text in rows:
        table = Table.grid(padding=(0, 2))
        table.add_column(width=8, style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row(label, Text(printable(text), style="green" if label == "after" else ""))
        show_table(console, table)
    show_directives(console, result)
    show(console)
