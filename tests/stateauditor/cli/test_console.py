"""Where and how the command line writes."""

from __future__ import annotations

import io
import sys

import pytest
from rich.text import Text

from stateauditor.cli import console


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return True

    @property
    def written(self) -> str:
        raw = self.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode()


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of both streams, for the rest of the test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    return stream


def test_a_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    console.show(console.stdout(), Text("red", style="red"))
    assert "\x1b[31mred" in terminal.written
    assert console.has_colour(console.stdout())


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    console.show(console.stdout(), Text("bold red", style="bold red"))
    assert terminal.written == "bold red\n"
    assert not console.has_colour(console.stdout())


def test_a_pipe_gets_no_escape_codes(capsys: pytest.CaptureFixture[str]) -> None:
    console.show(console.stdout(), Text("plain", style="bold red"))
    assert capsys.readouterr().out == "plain\n"


def test_long_lines_stay_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    console.show(console.stdout(), "word " * 100)
    assert capsys.readouterr().out.count("\n") == 1


def test_markup_in_text_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    console.show(console.stdout(), "[bold]:smile: [/]")
    assert capsys.readouterr().out == "[bold]:smile: [/]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("line\r\nline\tend\n", "line\nline\tend\n"),
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("abc\u202egnp.exe", "abc\ufffdgnp.exe"),
        ("漢字 🌲 é", "漢字 🌲 é"),
    ],
)
def test_nothing_can_steer_the_terminal(text: str, expected: str) -> None:
    assert console.printable(text) == expected


def test_json_is_utf8_in_an_ascii_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    console.write_json({"text": "漢字 🌲", "lone": "\ud800"})
    assert raw.getvalue().decode("utf-8") == '{\n  "text": "漢字 🌲",\n  "lone": "?"\n}\n'


def test_errors_and_notes_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console.report_error("file: [wrong]\x1b")
    console.note("mind the gap")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: file: [wrong]\ufffd\nnote: mind the gap\n"


def test_progress_is_silent_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress("working"):
        pass
    assert capsys.readouterr().err == ""


def test_progress_spins_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    with console.progress("working"):
        pass
    assert "working" in terminal.written
