"""A run's folder: config, manifest, one JSON line a scenario, summary, tables, report.

Lines are flushed as scenarios end, so that whatever ends a run, what was paid for is
kept; a torn last line is cut off before the run goes on.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import uuid4

import yaml
from pydantic import BaseModel, ValidationError

from stateauditor.experiments.runs.audited import as_it_ran
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.signatures.edge import validated
from stateauditor.signatures.errors import ConfigError, InputError
from stateauditor.signatures.models import Frozen, Totals

# What may differ between a run and its continuation: nothing that changes an answer.
_MAY_DIFFER = ("max_cost", "concurrency", "tracking")
_PACKAGES = ("stateauditor", "dspy", "pydantic", "rank-bm25", "rapidfuzz", "mlflow", "scipy")


SpecT = TypeVar("SpecT", bound=BaseModel)
RecordT = TypeVar("RecordT", bound=BaseModel)


class Inherited(Frozen):
    """Base audits taken from an earlier run: what they cost there, and how many roles failed."""

    total: Totals
    failed_roles: int

    @property
    def label(self) -> str:
        """What tables say beside figures that do not count these calls."""
        cost = "an unknown cost" if self.total.cost is None else f"${self.total.cost:.4f}"
        failed = f"; {self.failed_roles} role(s) failed in it" if self.failed_roles else ""
        return f"base audit inherited: {self.total.calls} calls, {cost}{failed}"


class Manifest(Frozen):
    """Where a run's numbers come from."""

    run_id: str
    started: str
    git: str | None
    data_name: str
    data_sha256: str
    frozen_sha256: str | None
    scenarios: int
    backend: str
    versions: dict[str, str]
    inherited: Inherited | None = None


class Folder(Generic[SpecT, RecordT]):
    """Reads and writes the files of something that runs over items, whatever the items are.

    A subclass names its contracts: ``spec_type`` of config.yaml, ``record_type`` of the
    lines of items.jsonl.
    """

    spec_type: type[SpecT]
    record_type: type[RecordT]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.items_path = path / "items.jsonl"

    @property
    def responses(self) -> Path:
        """Where the run's LM responses are recorded."""
        return self.path / "responses"

    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / "manifest.json").exists()

    # --- beginning and going on -------------------------------------------------

    def begin(self, spec: SpecT, manifest: Manifest, *, resume: bool) -> Manifest:
        """Write config and manifest, or check that an earlier beginning fits.

        Raises :class:`ConfigError` where the folder holds another run, or this one
        and ``resume`` was not asked for.
        """
        if self.exists():
            if not resume:
                raise ConfigError(
                    f"{self.path} holds a run already; add --resume to go on with it, "
                    "or choose another --out"
                )
            earlier = self.manifest()
            self._refuse_other(spec, manifest, earlier)
            self._cut_torn_line()
            return earlier
        self.path.mkdir(parents=True, exist_ok=True)
        self.write_text("config.yaml", dump_spec(spec))
        self.write_json("manifest.json", manifest.model_dump(mode="json"))
        return manifest

    def _refuse_other(self, spec: SpecT, manifest: Manifest, earlier: Manifest) -> None:
        old, new = (s.model_dump(mode="json") for s in (self.spec(), spec))
        differing = [k for k in new if k not in _MAY_DIFFER and old.get(k) != new[k]]
        if differing:
            raise ConfigError(
                f"{self.path} holds a run with other settings ({', '.join(differing)}); "
                "a resumed run must have the config of its folder"
            )
        if earlier.data_sha256 != manifest.data_sha256:
            raise ConfigError(f"{self.path}: the data are not those that the run began with")

    def _cut_torn_line(self) -> None:
        if not self.items_path.exists():
            return
        content = self.items_path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with self.items_path.open("r+b") as file:
                file.truncate(whole)

    # --- items --------------------------------------------------------------------

    def append(self, item: RecordT) -> None:
        """Add one line, on disk before this returns."""
        line = json.dumps(item.model_dump(mode="json"), ensure_ascii=False) + "\n"
        with self.items_path.open("ab") as file:
            file.write(line.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())

    def items(self) -> Iterator[RecordT]:
        """The records in the order in which scenarios ended; a torn last line is left out."""
        if not self.items_path.exists():
            return
        with self.items_path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield self.record_type.model_validate_json(line)
                except ValidationError as error:
                    raise InputError(
                        f"{self.items_path}, line {number}: not a record of this version: "
                        f"{error.error_count()} problem(s)"
                    ) from None

    def replace_items(self, items: Iterable[RecordT]) -> None:
        """Write all records anew (after a rejudging), all or nothing."""
        temporary = self.items_path.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as file:
            for item in items:
                file.write(json.dumps(item.model_dump(mode="json"), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.items_path)

    # --- other files ----------------------------------------------------------------

    def spec(self) -> SpecT:
        """The config as resolved when the run began."""
        path = self.path / "config.yaml"
        if not path.exists():
            raise ConfigError(f"{self.path} is no run folder: it has no config.yaml")
        data = yaml.safe_load(path.read_text("utf-8"))
        return validated(self.spec_type, as_it_ran(data), source=str(path))

    def manifest(self) -> Manifest:
        """Where the run's numbers come from."""
        path = self.path / "manifest.json"
        if not path.exists():
            raise ConfigError(f"{self.path} is no run folder: it has no manifest.json")
        return Manifest.model_validate_json(path.read_text("utf-8"))

    def write_text(self, name: str, text: str) -> Path:
        """Write one file of the folder as UTF-8."""
        path = self.path / name
        path.write_text(text, "utf-8")
        return path

    def write_json(self, name: str, value: Any) -> Path:
        """Write one JSON file, sorted and without ASCII escapes."""
        return self.write_text(
            name, json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        )


class RunFolder(Folder[RunSpec, ItemRecord]):
    """The folder of one arm's run over scenarios."""

    spec_type = RunSpec
    record_type = ItemRecord

    def done(self) -> set[str]:
        """The uids that have a record."""
        return {item.uid for item in self.items()}


def dump_spec(spec: BaseModel) -> str:
    """The spec as the YAML that reads back as it."""
    return yaml.safe_dump(spec.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def new_manifest(
    *,
    data_name: str,
    data_sha256: str,
    frozen_sha256: str | None,
    scenarios: int,
    backend: str,
    inherited: Inherited | None = None,
) -> Manifest:
    """A manifest for a run that begins now."""
    return Manifest(
        run_id=uuid4().hex,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        git=git_hash(),
        data_name=data_name,
        data_sha256=data_sha256,
        frozen_sha256=frozen_sha256,
        scenarios=scenarios,
        backend=backend,
        versions=package_versions(),
        inherited=inherited,
    )


def package_versions() -> dict[str, str]:
    """The versions of what shapes a result, as far as installed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # an extra that is not installed
    return found


def git_hash() -> str | None:
    """The commit of the code that runs, with ``+dirty`` where it has changes.

    None where the code is installed and no checkout: the repository that happens to be
    the current directory, or to hold the environment, tells nothing of it.
    """
    here = Path(__file__).resolve()
    try:
        _git(here.parent, "ls-files", "--error-unmatch", here.name)  # fails where git ignores it
        commit = _git(here.parent, "rev-parse", "HEAD")
        return f"{commit}+dirty" if _git(here.parent, "status", "--porcelain") else commit
    except (OSError, subprocess.SubprocessError):
        return None  # not a checkout, or no git


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True, text=True, check=True, timeout=10,
    )  # fmt: skip
    return done.stdout.strip()
