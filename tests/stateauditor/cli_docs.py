"""docs/cli.md: the command line's own help, written down.

``make docs`` writes it; a test keeps it true.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

from stateauditor.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
_HEAD = """\
# Command line

What `stateauditor --help` and `stateauditor COMMAND --help` print. `make docs` writes this page.
"""
_COMMANDS = re.compile(r"^Commands:\n((?:  .*\n)+)", re.MULTILINE)
_NAME = re.compile(r"^  ([a-z]\S*)", re.MULTILINE)


def help_of(*command: str) -> str:
    """What a command prints on ``--help``, 80 columns wide."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "utf-8", write_through=True)
    before = {name: os.environ.get(name) for name in ("COLUMNS", "TERMINAL_WIDTH")}
    os.environ.update(COLUMNS="80", TERMINAL_WIDTH="80")
    try:
        with contextlib.redirect_stdout(stream):
            status = main([*command, "--help"])
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    if status != 0:
        raise RuntimeError(f"{command}: --help ended with {status}")
    return raw.getvalue().decode("utf-8").strip()


def commands(parents: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and group, in the order of the help."""
    yield parents
    listed = _COMMANDS.search(help_of(*parents) + "\n")
    for name in _NAME.findall(listed.group(1)) if listed else ():
        yield from commands((*parents, name))


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for command in commands():
        title = " ".join(("stateauditor", *command))
        parts.append(f"## {title}\n\n```text\n{help_of(*command)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
