"""The folder that a compile writes; ``compiled: FOLDER`` in a config uses it.

``compiled.json`` and ``roles/`` are what is loaded. ``result.json`` says what was
measured, ``config.yaml`` how, ``data.json`` on what, ``candidates.json`` what else was
tried. ``work/`` (LM responses, an optimizer's own log) serves to go on with an
interrupted compile, and may be deleted; like demonstrations it quotes memories.
No key and no address stands in any of them.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from stateauditor.experiments.compile.board import Board, Candidate
from stateauditor.experiments.compile.parts import Parts
from stateauditor.experiments.compile.spec import CompileSpec, parse_compile_spec
from stateauditor.experiments.runs.folder import git_hash, package_versions
from stateauditor.metrics import Interval
from stateauditor.program.roles.compiled import INDEX, save_compiled
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Frozen, Totals

_MAY_DIFFER = frozenset(("max_cost", "max_errors", "concurrency", "tracking", "out"))
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)\]]+", re.IGNORECASE)
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")


class Measured(Frozen):
    """The validation score of one state, with its interval; failed probes are apart."""

    score: Interval
    scenarios: int
    probes: int
    failed: int


class CompileResult(Frozen):
    """What a compile came to.

    ``after`` is None where the compile ended before the result could be measured;
    ``difference`` pairs both over the same scenarios. ``stopped`` says why a compile
    ended early. ``changed`` are the roles whose prompts differ from the built-in ones.
    """

    name: str
    optimizer: str
    roles: tuple[str, ...]
    changed: tuple[str, ...]
    backend: str
    before: Measured | None
    after: Measured | None
    difference: Interval | None
    candidates: int
    audits: int
    failed_audits: int
    first_failure: str | None
    total: Totals
    paid_cost: float | None
    stopped: str | None
    label: str
    git: str | None
    versions: dict[str, str]


class CompileFolder:
    """Reads and writes the files of one compile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path / "work"

    @property
    def responses(self) -> Path:
        """Where LM responses are recorded, so that going on pays for nothing twice."""
        return self.work / "responses"

    def begin(self, spec: CompileSpec, parts: Parts, *, resume: bool) -> None:
        """Write config and data, or check that an earlier beginning fits.

        Raises :class:`ConfigError` where the folder holds another compile, or this one
        and ``resume`` was not asked for.
        """
        config = self.path / "config.yaml"
        if not config.exists():
            if self.path.exists() and any(self.path.iterdir()):
                raise ConfigError(f"{self.path} is not empty and holds no compile")
            self.work.mkdir(parents=True, exist_ok=True)
            config.write_text(dump_spec(spec), "utf-8")
            self.write_json("data.json", _data(parts))
            return
        if not resume:
            raise ConfigError(
                f"{self.path} holds a compile already; add --resume to go on with it, "
                "or choose another --out"
            )
        self._refuse_other(spec, parts)

    def _refuse_other(self, spec: CompileSpec, parts: Parts) -> None:
        old, new = (s.model_dump(mode="json") for s in (self.spec(), spec))
        differing = [k for k in new if k not in _MAY_DIFFER and old.get(k) != new[k]]
        if differing:
            raise ConfigError(
                f"{self.path} holds a compile with other settings ({', '.join(differing)}); "
                "a resumed compile must have the config of its folder"
            )
        if json.loads((self.path / "data.json").read_text("utf-8")) != _data(parts):
            raise ConfigError(f"{self.path}: the data are not those that the compile began with")

    def spec(self) -> CompileSpec:
        """The config as resolved when the compile began."""
        path = self.path / "config.yaml"
        if not path.exists():
            raise ConfigError(f"{self.path} holds no compile: it has no config.yaml")
        return parse_compile_spec(yaml.safe_load(path.read_text("utf-8")), source=str(path))

    def result(self) -> CompileResult:
        """What was measured. Raises :class:`ConfigError` where there is no result (yet)."""
        path = self.path / "result.json"
        try:
            return CompileResult.model_validate_json(path.read_bytes())
        except OSError:
            raise ConfigError(f"{self.path} holds no result: it has no result.json") from None
        except ValidationError as error:
            raise ConfigError(
                f"{path}: not a result of this version ({error.error_count()} problem(s))"
            ) from None

    def finish(self, result: CompileResult, chosen: Candidate, board: Board, parts: Parts) -> None:
        """Write the prompts, the result and the list of candidates."""
        (self.path / INDEX).unlink(missing_ok=True)
        save_compiled(self.path, result.name, chosen.states, sorted(parts.used))
        self.write_json("candidates.json", [_listed(c, chosen, board) for c in board.candidates])
        self.write_json("result.json", result.model_dump(mode="json"))

    def write_json(self, name: str, value: Any) -> None:
        """Write one JSON file."""
        text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        (self.path / name).write_text(scrubbed(text), "utf-8")

    def log(self) -> ScrubbedLog:
        """The log of what an optimizer prints."""
        return ScrubbedLog(self.work / "optimizer.log")


def dump_spec(spec: CompileSpec) -> str:
    """The spec as the YAML that reads back as it."""
    return yaml.safe_dump(spec.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def origin() -> dict[str, Any]:
    """The commit and the versions behind a result."""
    return {"git": git_hash(), "versions": package_versions()}


class ScrubbedLog(io.TextIOBase):
    """A text file that keeps whole lines, without keys and addresses."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("a", encoding="utf-8", errors="replace")
        self._rest = ""

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Take text; whole lines reach the file."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._file.write(scrubbed(line.rpartition("\r")[2]) + "\n")
        return len(text)

    def flush(self) -> None:
        """Hand whole lines to the system."""
        if not self._file.closed:
            self._file.flush()

    def close(self) -> None:
        """Write the rest and close."""
        if not self._file.closed:
            self._file.write(scrubbed(self._rest))
            self._file.close()
        super().close()


def scrubbed(text: str) -> str:
    """``text`` without addresses, and without the values of secrets in the environment."""
    for value in _secrets(os.environ.items()):
        text = text.replace(value, "***")
    return _ADDRESS.sub("<address>", text)


def _secrets(variables: Iterable[tuple[str, str]]) -> list[str]:
    return [
        value
        for name, value in variables
        if len(value) >= 8 and any(word in name.upper() for word in _SECRET_NAMES)
    ]


def _data(parts: Parts) -> dict[str, Any]:
    return {
        "name": parts.source.name,
        "sha256": parts.source.sha256,
        "frozen": parts.frozen_name,
        "frozen_sha256": parts.frozen_sha256,
        "train": list(parts.train),
        "validation": list(parts.validation),
    }


def _listed(candidate: Candidate, chosen: Candidate, board: Board) -> dict[str, Any]:
    return {
        "number": candidate.number,
        "key": candidate.key,
        "baseline": candidate is board.baseline,
        "chosen": candidate is chosen,
        "train_score": candidate.mean("train"),
        "train_probes": len(candidate.train),
        "validation_score": candidate.mean("validation"),
        "validation_probes": len(candidate.validation),
        "demonstrations": {
            f"{role}.{name}": len(predictor["demos"])
            for role, state in candidate.states.items()
            for name, predictor in state.items()
        },
        "instructions": {
            f"{role}.{name}": predictor["signature"]["instructions"]
            for role, state in candidate.states.items()
            for name, predictor in state.items()
        },
    }
