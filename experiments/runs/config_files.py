"""Config files: found by path or by the name under which they ship, read, and overridden."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from stateauditor.program.backends.config import OFFLINE
from stateauditor.signatures.errors import ConfigError

SUFFIXES = {".yaml", ".yml"}


def read_config(path: str | Path, overrides: Sequence[str] = ()) -> tuple[dict[str, Any], str]:
    """A run's config as data, a file or a shipped one by name, and its source for messages."""
    found = locate(path)
    return read_mapping(found, overrides), str(found)


def read_mapping(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """A YAML file with ``key=value`` overrides: dotted keys (``data.limit=5``), YAML values.

    ``name`` is the file's where it gives none. Raises :class:`ConfigError` where
    the file is no mapping.
    """
    try:
        data = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a mapping with the keys name and data")
    data.setdefault("name", path.stem)
    for override in overrides:
        override_setting(data, override)
    return data


def shipped(kind: str = "") -> dict[str, Path]:
    """The configs that ship with the package, by name; ``kind`` is a folder of theirs."""
    folder = Path(str(files("stateauditor.experiments"))) / "configs" / kind
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def locate(path: str | Path, kind: str = "") -> Path:
    """A config file by path, or a shipped one of that kind by its bare name."""
    given = Path(path)
    if given.is_file():
        return given
    known = shipped(kind)
    name = given.name.removesuffix(".yaml")
    if name in known:
        return known[name]
    raise ConfigError(f"{path}: there is no such config; shipped ones: {', '.join(known)}")


def override_setting(data: dict[str, Any], override: str) -> None:
    """Put one ``key=value`` into a parsed config. Raises :class:`ConfigError`."""
    key, separator, value = override.partition("=")
    if not separator or not key:
        raise ConfigError(f"--set {override!r}: expected key=value, e.g. data.limit=5")
    *parents, last = key.split(".")
    target = data
    for parent in parents:
        target = target.setdefault(parent, {})
        if not isinstance(target, dict):
            raise ConfigError(f"--set {override!r}: {parent!r} holds a value, not a mapping")
    try:
        target[last] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"--set {override!r}: the value is not valid YAML: {error}") from None
    if key == "data.path":
        data["data"].pop("set", None)
    elif key == "data.set":
        data["data"].pop("path", None)


def shipped_backends() -> dict[str, Path]:
    """The backend files that come with StateAuditor, by name."""
    return shipped("backends")


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
