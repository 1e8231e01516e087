"""The documentation is true: what it shows was run, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from stateauditor import Policy, Variant
from stateauditor.program.backends.config import parse_backend_config
from tests.stateauditor import cli_docs
from tests.stateauditor.readme import README, Block, blocks, outputs, shell, write_files

ROOT = README.parent
TEXT = README.read_text("utf-8")
BLOCKS = blocks(TEXT)
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]


def of(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(BLOCKS, tmp_path)
    return tmp_path


# --- README.md --------------------------------------------------------------------


@pytest.mark.parametrize("block", of("bash"), ids=lambda block: block.text.split("\n")[0][:60])
def test_readme_commands_run(block: Block, folder: Path) -> None:
    done = shell(block.text, folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_readme_shows_what_its_commands_print(folder: Path) -> None:
    assert outputs(BLOCKS), "the README has an example with its output"
    for command, printed in outputs(BLOCKS):
        assert shell(command.text, folder).stdout == printed.text, "run: make docs"


def test_readme_exit_status_is_the_documented_one(folder: Path) -> None:
    gate = next(block for block in of("bash") if "--fail-on" in block.text)
    assert shell(gate.text, folder).stdout.splitlines()[-1] == "exit status 1"


def test_readme_python_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")  # the reader has one; nothing is sent
    names: dict[str, Any] = {}
    for block in of("python"):
        exec(compile(block.text, "README.md", "exec"), names)
    assert "verified Seattle -> Austin" in capsys.readouterr().out
    assert "Austin" in names["result"].response


def test_readme_traces_of_an_audit_reach_mlflow(folder: Path) -> None:
    (block,) = of("py")
    audit = """
from stateauditor import StateAuditor
memory = [{"timestamp": "2023-05-20", "text": "I live in Seattle."}]
StateAuditor("offline").audit(memory, "Any ideas?", "Take a Seattle ferry.")
mlflow.flush_trace_async_logging()
(trace,) = mlflow.search_traces(return_type="list")
print(trace.info.state, *(span.name for span in trace.data.spans))
"""
    (folder / "traced.py").write_text(block.text + audit, encoding="utf-8")
    done = shell("python traced.py", folder)
    assert "OK StateAuditor.forward" in done.stdout, done.stderr
    assert "TransitionProposer.forward" in done.stdout


def test_readme_shows_each_store_a_conflict_that_ends_repaired() -> None:
    section = TEXT.partition("## In your stack")[2].partition("\n## ")[0]
    examples = [block.text for block in blocks(section) if block.language == "python"]
    assert len(examples) >= 4
    for text in examples:
        assert "import from_" in text
        assert '"Austin" in' in text.split("\nassert ")[-1] or 'assert "Austin" in' in text


def test_readme_backend_file_is_right(folder: Path) -> None:
    (block,) = of("yaml")
    (folder / "mine.yaml").write_text(block.text, encoding="utf-8")
    config = parse_backend_config(yaml.safe_load(block.text), source="README.md")
    assert set(config.lms) == {"strong", "local"}


def test_readme_commands_that_need_more_are_well_formed(folder: Path) -> None:
    (backend,) = of("yaml")
    (folder / "mine.yaml").write_text(backend.text, encoding="utf-8")
    for block in of("console"):
        for line in block.text.splitlines():
            program, *rest = line.removeprefix("$ ").split()
            if program == "make":
                assert rest[0] in make_targets()
                continue
            done = shell(line.removeprefix("$ "), folder)
            # Everything is right but for the key, which a test has not.
            assert done.returncode == 0 or "OPENAI_API_KEY" in done.stderr, done.stderr


def test_readme_goes_the_way_of_a_person_with_a_key_and_a_store() -> None:
    purpose = TEXT.split("\n\n")[1]
    assert purpose.count(". ") == 1, "two sentences"
    wanted = [
        *("Install", "With your key", "On your own rows", "In Python", "In your stack"),
        *("Policies and variants", "Backends", "Memory", "Command line"),
        *("What is verified, and what is not", "Evaluation", "Licence and citation"),
    ]
    headings = [h for h in re.findall(r"^## (.+)$", TEXT, re.MULTILINE) if h in wanted]
    assert headings == wanted
    assert of("console")[0].text == "$ make demo\n$ make test\n"


@pytest.mark.parametrize("name", [*Policy, *Variant])
def test_readme_lists_every_policy_and_variant(name: str) -> None:
    assert f"\n| `{name}`" in TEXT


# --- the other pages -----------------------------------------------------------------


def test_the_command_line_page_is_the_help() -> None:
    assert cli_docs.PAGE.read_text("utf-8") == cli_docs.page(), "run: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("#")
    }
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif "://" not in target:
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_that_pages_name_are_there(page: Path) -> None:
    named = set(re.findall(r"`make ([a-z]+)`", page.read_text("utf-8")))
    assert named <= make_targets()
