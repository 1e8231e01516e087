"""``stateauditor doctor``: does this installation work?"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from stateauditor.cli import options
from stateauditor.cli.backend_files import key_variables
from stateauditor.cli.console import progress, show, show_table, stdout, write_json
from stateauditor.cli.demos import EXAMPLES as WORKED_EXAMPLES
from stateauditor.program.backends.config import load_backend_config
from stateauditor.program.backends.named import shipped_backends
from stateauditor.program.backends.store import default_folder

EXAMPLES = options.examples("stateauditor doctor", "stateauditor doctor --json")

OLDEST_PYTHON = (3, 11)
PACKAGES = ("stateauditor", "dspy", "pydantic", "rank-bm25", "rapidfuzz", "typer", "rich", "numpy")
OPTIONAL = ("mlflow", "pandas")
FOUND_BROKEN = 1


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; ``ok`` is None where either answer is fine."""

    name: str
    ok: bool | None
    detail: str


def doctor(as_json: options.AsJson = False) -> None:
    """Check that this installation works.

    Looks at Python, the packages, the cache folder and the keys (whether they are
    set, never their values), and audits the worked examples offline.

    Exit status: 0 all is well, 1 it is not.
    """
    with progress("checking"):
        checks = list(run_checks())
    well = all(check.ok is not False for check in checks)
    if as_json:
        listed = [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in checks]
        write_json({"ok": well, "checks": listed})
    else:
        _show(checks, well=well)
    if not well:
        raise typer.Exit(FOUND_BROKEN)


def run_checks() -> Iterator[Check]:
    """Every check, in the order of the table."""
    python = f"{platform.python_version()} on {platform.system()}"
    yield Check("Python", sys.version_info >= OLDEST_PYTHON, python)
    for package in PACKAGES:
        yield _installed(package)
    yield _self_check()
    yield _cache_folder(default_folder())
    for package in OPTIONAL:
        found = find_spec(package) is not None
        detail = _version(package) if found else "not installed (only for the experiments extra)"
        yield Check(package, True if found else None, detail or "installed")
    keys = {
        key.name: key
        for path in shipped_backends().values()
        for key in key_variables(load_backend_config(path))
    }
    for key in keys.values():
        yield Check(key.name, True if key.is_set else None, key.state)


def _installed(package: str) -> Check:
    found = _version(package)
    return Check(package, found is not None, found or "not installed")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _self_check() -> Check:
    """Audit the worked examples offline: each must come out as it should."""
    name = "offline self-test"
    try:
        from stateauditor.program.auditor import StateAuditor
        from stateauditor.signatures.models import Policy

        auditor = StateAuditor(policy=Policy.REPAIR_ONLY)
        for example in WORKED_EXAMPLES:
            given = example.load()
            result = auditor.audit(given.memory, *given.pairs[0])
            if result.changed is not example.repaired or result.failed_open:
                return Check(name, False, f"the example {example.name!r} came out wrong")
    except Exception as error:  # noqa: BLE001  # a broken installation can fail in any way
        return Check(name, False, f"{type(error).__name__}: {error}")
    return Check(name, True, f"{len(WORKED_EXAMPLES)} worked examples came out right")


def _cache_folder(folder: Path) -> Check:
    """Recorded responses go there if a backend file asks for it; nothing is created now."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    writable = existing.is_dir() and os.access(existing, os.W_OK)
    if writable and existing == folder:
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            writable = False
    state = "writable" if writable else "not writable; set STATEAUDITOR_CACHE to another folder"
    return Check("cache folder", writable, f"{folder} ({state})")


def _show(checks: list[Check], *, well: bool) -> None:
    styles = {True: ("ok", "green"), False: ("FAIL", "bold red"), None: ("–", "dim")}
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        word, style = styles[check.ok]
        table.add_row(Text(word, style=style), check.name, Text(check.detail))
    console = stdout()
    show_table(console, table)
    show(console)
    show(console, "All is well." if well else "Something is broken; see FAIL above.")
