"""Backend files: the shipped ones, and what ``--backend`` may name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from stateauditor.program.backends.config import OFFLINE, BackendConfig, load_backend_config
from stateauditor.signatures.errors import ConfigError

SUFFIXES = {".yaml", ".yml"}


def shipped_backends() -> dict[str, Path]:
    """The backend files that come with StateAuditor, by name."""
    folder = Path(str(files("stateauditor.experiments"))) / "configs" / "backends"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def resolve_backend(spec: str) -> str | Path:
    """``offline``, a YAML file, or the file that ships under the name ``spec``.

    Raises :class:`ConfigError` that names the choices.
    """
    if spec == OFFLINE.name:
        return spec
    path = Path(spec)
    if path.suffix in SUFFIXES:
        return path
    shipped = shipped_backends()
    if spec in shipped:
        return shipped[spec]
    hint = "".join(f" (did you mean {near!r}?)" for near in get_close_matches(spec, shipped, n=1))
    raise ConfigError(
        f"backend {spec!r}: neither a .yaml file nor one that ships{hint}; "
        f"there are {', '.join(shipped)}"
    )


def load_named(spec: str) -> tuple[BackendConfig, Path]:
    """The config behind a file or a shipped name, and where it stands."""
    found = resolve_backend(spec)
    path = found if isinstance(found, Path) else shipped_backends()[found]
    return load_backend_config(path), path


@dataclass(frozen=True, slots=True)
class KeyVariable:
    """An environment variable that an LM needs; its value is never looked at further."""

    name: str
    is_set: bool

    @property
    def state(self) -> str:
        """``set`` or ``not set``."""
        return "set" if self.is_set else "not set"


def key_variables(config: BackendConfig) -> list[KeyVariable]:
    """The variables that a backend needs, each once, in the order of its LMs."""
    return [KeyVariable(name, bool(os.environ.get(name, "").strip())) for name in _names(config)]


def _names(config: BackendConfig) -> Iterator[str]:
    seen = set()
    for lm in config.lms.values():
        name = lm.key_variable
        if name is not None and name not in seen:
            seen.add(name)
            yield name
