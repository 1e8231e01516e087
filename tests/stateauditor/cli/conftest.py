"""Running the command line in this process, and inputs for it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stateauditor.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command returned and wrote."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command line with arguments, and with ``stdin`` as bytes or text."""

    def call(*arguments: str | Path, stdin: str | bytes = b"") -> Outcome:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        capsysbinary.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capsysbinary.readouterr()
        return Outcome(status, captured.out.decode("utf-8"), captured.err.decode("utf-8"))

    return call


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no colour setting of the machine reaches a test."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


MEMORY: list[dict[str, Any]] = [
    {"id": "home", "timestamp": "2024-01-05", "text": "I live in Seattle, near the ferry."},
    {
        "id": "chat",
        "timestamp": "2024-06-02 10:00",
        "turns": [
            {"role": "user", "content": "I am setting up the utilities in my new Austin flat."},
            {"role": "assistant", "content": "Congratulations!"},
        ],
    },
]
QUESTION = "What should I do this Saturday?"
DRAFT = "Take the ferry from Seattle to Bainbridge Island."


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, Any], Path]:
    """Write text or JSON to a file of that name."""

    def to_file(name: str, content: Any) -> Path:
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


@pytest.fixture
def input_file(write: Callable[[str, Any], Path]) -> Path:
    """A whole INPUT.json."""
    return write("input.json", {"memory": MEMORY, "question": QUESTION, "draft": DRAFT})
