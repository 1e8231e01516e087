"""The public names, and how little it costs to import them."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

import stateauditor

EXPORTED = """
    AuditConfig AuditResult Backend BackendConfig BackendError ConfigError Directive
    EmptyOutputError InputError InputWarning Memory MemoryEntry MemoryIndex MissingKeyError
    ModelOutputError Policy Premise ReplayMissError ReplyRejectedError RetrievalConfig
    StateAuditor StateAuditorError TimestampError TransitionCheck TruncatedOutputError
    Variant __version__ audit from_chatgpt from_claude from_graphiti from_langchain_messages
    from_langgraph from_letta from_locomo from_longmemeval from_mem0 from_memora
    from_openai_messages from_rows from_zep load_memory read_memory
"""

HEAVY = ("dspy", "litellm", "mlflow", "pandas", "numpy", "openai", "scipy", "matplotlib")


def loaded_after(code: str) -> set[str]:
    """Which heavy modules a fresh interpreter has loaded after ``code``."""
    script = f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1])) & set(HEAVY)


def test_exports_are_the_documented_ones() -> None:
    assert sorted(stateauditor.__all__) == sorted(EXPORTED.split())


@pytest.mark.parametrize("name", EXPORTED.split())
def test_every_exported_name_can_be_loaded(name: str) -> None:
    assert getattr(stateauditor, name) is getattr(stateauditor, name)
    assert name in dir(stateauditor)


def test_star_import_brings_every_name() -> None:
    names: dict[str, object] = {}
    exec("from stateauditor import *", names)
    assert set(stateauditor.__all__) <= set(names)


def test_the_version_is_that_of_the_installed_package() -> None:
    assert stateauditor.__version__ == version("stateauditor")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'auditt'"):
        stateauditor.auditt  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import stateauditor") == set()


def test_help_loads_nothing_heavy() -> None:
    code = "import stateauditor.cli; assert stateauditor.cli.main(['--help']) == 0"
    assert loaded_after(code) == set()


def test_contracts_and_errors_load_no_dspy() -> None:
    names = "AuditResult, MemoryEntry, Policy, Variant, InputError, read_memory, AuditConfig"
    assert "dspy" not in loaded_after(f"from stateauditor import {names}")
