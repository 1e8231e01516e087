"""Where the command line writes: results to stdout, everything else to stderr.

Output is UTF-8 whatever the locale says. Colour appears only on a terminal and
never where ``NO_COLOR`` is set; text from memories, drafts and models is shown
without control characters, so that none of it can steer the terminal.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDEST = 240
"""Columns that a table may take where no terminal limits it."""
PIPE_CLOSED = 141
"""Exit status when the reader of stdout has gone, as a shell reports SIGPIPE."""

PLAIN_WIDTH = 100
"""Columns of tables where stdout is no terminal and COLUMNS is not set."""

# Control characters but for newline and tab, and marks that reorder text.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        _pipe_closed()


def stdout() -> Console:
    """The console for results."""
    return _console(sys.stdout)


def stderr() -> Console:
    """The console for progress, warnings and errors."""
    return _console(sys.stderr)


def _console(file: IO[str]) -> Console:
    plain = bool(os.environ.get("NO_COLOR"))
    terminal = file.isatty()
    width = PLAIN_WIDTH if not terminal and "COLUMNS" not in os.environ else None
    return _Console(
        file=file,
        color_system=None if plain or not terminal else "auto",
        no_color=plain,
        force_terminal=terminal,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )


def has_colour(console: Console) -> bool:
    """Whether styles will show; where not, markers have to say the same."""
    return console.color_system is not None


def printable(text: str) -> str:
    """``text`` with U+FFFD for whatever could move the cursor or reorder the line."""
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n"))


def show(console: Console, text: str | Text = "", *, style: str | None = None) -> None:
    """Print text as it is: no markup, no added line breaks."""
    console.print(text, style=style, soft_wrap=True)


def show_table(console: Console, table: Table) -> None:
    """Print a table; where it goes to a file or a pipe as wide as it needs, without padding."""
    if console.is_terminal:
        console.print(table)
        return
    plain = Console(width=WIDEST, file=io.StringIO(), color_system=None, record=False)
    with plain.capture() as capture:
        plain.print(table)
    for line in capture.get().splitlines():
        show(console, line.rstrip())


def write_json(value: Any) -> None:
    """Write a JSON value to stdout: UTF-8, no ASCII escapes, whatever the locale."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _pipe_closed()


def use_utf8() -> None:
    """Make the text streams UTF-8 (a C locale or an old terminal setting may say otherwise)."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


def report_error(message: str) -> None:
    """One clear message for a user's mistake."""
    line = Text("error: ", style="bold red")
    line.append(printable(message), style="default not bold")
    show(stderr(), line)


def note(message: str) -> None:
    """A remark that is no error, on stderr."""
    show(stderr(), f"note: {printable(message)}", style="yellow")


@contextmanager
def progress(message: str) -> Iterator[None]:
    """A spinner on stderr while something slow runs; nothing where stderr is no terminal."""
    console = stderr()
    if not console.is_terminal:
        yield
        return
    with console.status(printable(message)):
        yield


def _pipe_closed() -> NoReturn:
    # Python flushes stdout once more at exit; let that go nowhere.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    raise typer.Exit(PIPE_CLOSED) from None
