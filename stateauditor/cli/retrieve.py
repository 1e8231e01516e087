"""``stateauditor retrieve``: the readout that an audit and a generator read."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from stateauditor.cli import options
from stateauditor.cli.console import printable, show, show_table, stdout, write_json
from stateauditor.cli.inputs import Given, read_retrieval_input
from stateauditor.signatures.models import Readout, Validity
from stateauditor.signatures.readout import validity_mark

EXAMPLES = options.examples(
    "stateauditor retrieve input.json",
    "stateauditor retrieve --memory mem.jsonl --question 'Where do I live?' --json --budget 2000",
)


def retrieve(
    file: options.InputFile = None,
    memory: options.MemoryFile = None,
    question: options.Question = None,
    budget: options.Budget = None,
    format: options.MemoryFormat = None,
    user: options.UserName = None,
    as_of: options.AsOf = None,
    allow_undated: options.AllowUndated = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what retrieval selects for a question, without any LM.

    The readout is what generator and auditor read: dated entries, oldest first,
    each with the step that chose it. Pairs join an older statement with a newer
    one that may supersede it. A draft in INPUT.json is not needed and not read.
    """
    given = read_retrieval_input(
        Given(file, memory, question, None, allow_undated, format, user, as_of)
    )
    from stateauditor.program.config import audit_config
    from stateauditor.program.retrieval.index import MemoryIndex
    from stateauditor.program.safety.screening import neutralise, redact

    config = audit_config(**options.retrieval_settings(budget)).retrieval
    index = MemoryIndex.build(given.memory, config)
    readout = index.retrieve(neutralise(given.question), redact=redact)  # as an audit does
    if as_json:
        write_json(readout_json(readout))
    else:
        _show(readout)


def readout_json(readout: Readout) -> dict[str, Any]:
    """The readout as ``--json`` prints it."""
    keys = {"id", "timestamp", "text", "session", "step"}
    of_closed = {*keys, "validity", "ended"}
    return {
        "entries": [
            entry.model_dump(
                mode="json", include=keys if entry.validity is Validity.OPEN else of_closed
            )
            for entry in readout.entries
        ],
        "pairs": [list(pair) for pair in readout.pairs],
        "tokens": readout.tokens,
    }


def _show(readout: Readout) -> None:
    console = stdout()
    if not readout.entries:
        show(console, "Nothing was retrieved: the memory holds nothing that the user said.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("id", "time", "session", "step"):
        table.add_column(heading, no_wrap=True, overflow="fold")
    table.add_column("text", ratio=1, overflow="fold")
    for entry in readout.entries:
        time = "unknown" if entry.timestamp is None else str(entry.timestamp)
        time += validity_mark(entry).replace(", ", "\n")
        session = printable(entry.session or "fact")
        text = Text(printable(entry.text))
        table.add_row(entry.id, time, Text(session), entry.step.value, text)
    show_table(console, table)
    if readout.pairs:
        show(console)
        listed = ", ".join(f"{old} → {new}" for old, new in readout.pairs)
        show(console, f"older → newer pairs: {listed}")
    show(console)
    show(console, f"{len(readout.entries)} entries, {readout.tokens} tokens", style="dim")
