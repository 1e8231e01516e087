"""README.md as a program: its files, its commands with their output, its Python.

``make docs`` writes the outputs anew; a test runs everything and compares.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block; ``file`` if it is to be written under that name."""

    language: str
    text: str
    file: str | None
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """All fenced blocks, in order."""
    return [
        Block(m["language"], m["text"], m["file"], m.start("text"), m.end("text"))
        for m in _BLOCK.finditer(text)
    ]


def write_files(found: list[Block], folder: Path) -> None:
    """Write every named file, so that commands and code find it."""
    for block in found:
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run commands as a reader would, with no key and no terminal."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    scripts = sysconfig.get_path("scripts")
    environment = kept | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def outputs(found: list[Block]) -> list[tuple[Block, Block]]:
    """Commands that are followed by the text that they print."""
    return [
        (command, printed)
        for command, printed in itertools.pairwise(found)
        if command.language == "bash" and printed.language == "text"
    ]


def refresh() -> None:
    """Write what the commands print now into README.md."""
    text = README.read_text("utf-8")
    found = blocks(text)
    with tempfile.TemporaryDirectory() as folder:
        write_files(found, Path(folder))
        for command, printed in reversed(outputs(found)):
            done = shell(command.text, Path(folder))
            done.check_returncode()
            text = text[: printed.start] + done.stdout + text[printed.end :]
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    refresh()
