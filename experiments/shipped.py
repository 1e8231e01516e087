"""Backend files by name: the shipped ones, and what a config or ``--backend`` may name."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from stateauditor.program.backends.config import OFFLINE
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
