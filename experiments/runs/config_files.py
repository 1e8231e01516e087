"""Config files: found by path or by the name under which they ship, read, and overridden."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from stateauditor.signatures.errors import ConfigError


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
