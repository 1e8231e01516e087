"""Arguments and options that several commands share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from stateauditor.program.memory import formats
from stateauditor.signatures.errors import ConfigError

InputFile = Annotated[
    str | None,
    typer.Argument(
        metavar="INPUT.json",
        show_default=False,
        help='A file {"memory": [...], "question": "...", "draft": "..."}, or - for stdin.',
    ),
]
MemoryFile = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="FILE",
        help="The memory as JSON or JSONL instead of INPUT.json; - for stdin.",
    ),
]
MemoryFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="What wrote the memory; recognised by its shape if left out. "
        + "; ".join(f"{known.name}: {known.about}" for known in formats.FORMATS)
        + ".",
    ),
]
UserName = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="NAME",
        help="The user's name, where facts use it ('Kim lives in Ghent') or leave it out "
        "('Lives in Ghent'), and which of the speakers is the user.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="When the memory is read (default: now): a fact whose end is still to come then "
        "still holds.",
    ),
]
Question = Annotated[
    str | None,
    typer.Option(
        "--question",
        metavar="TEXT|@FILE|-",
        help="The user's question; goes before that of INPUT.json.",
    ),
]
Draft = Annotated[
    str | None,
    typer.Option(
        "--draft", metavar="TEXT|@FILE|-", help="The drafted reply; goes before that of INPUT.json."
    ),
]
AllowUndated = Annotated[
    bool,
    typer.Option(
        "--allow-undated",
        help="Keep entries without a readable time; they are never later than anything.",
    ),
]
Compiled = Annotated[
    Path | None,
    typer.Option(
        "--compiled",
        metavar="DIR",
        help="Prompts that 'stateauditor compile' wrote, in place of the built-in ones.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        metavar="N",
        min=32,
        help="Tokens that the readout may cost (default: 5700).",
    ),
]


def retrieval_settings(budget: int | None) -> dict[str, Any]:
    """The settings of :class:`AuditConfig` that ``--budget`` stands for."""
    return {} if budget is None else {"retrieval": {"budget_tokens": budget}}


def new_folder(name: str, out: Path | None, *, resume: bool, what: str = "run") -> Path:
    """``--out``, or a folder under ``runs`` by name and time; what goes on needs ``--out``."""
    if out is not None:
        return out
    if resume:
        raise ConfigError(f"--resume needs --out: the folder of the {what} to go on with")
    return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def examples(*lines: str) -> str:
    """An epilog that keeps one example a line (the backspace says: do not wrap)."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
