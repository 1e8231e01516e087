"""Config files: found by path or by the name under which they ship, read, and overridden."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from stateauditor.experiments.runs.audited import under_audit
from stateauditor.signatures.errors import ConfigError

_log = logging.getLogger(__name__)


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
    data = _placed(data, str(path))
    data.setdefault("name", path.stem)
    for override in overrides:
        data = overridden(data, override)
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


def overridden(data: Mapping[str, Any], override: str) -> dict[str, Any]:
    """A parsed config with one ``key=value`` put over it. Raises :class:`ConfigError`."""
    key, separator, value = override.partition("=")
    if not separator or not key:
        raise ConfigError(f"--set {override!r}: expected key=value, e.g. data.limit=5")
    *parents, last = key.split(".")
    try:
        change = {last: yaml.safe_load(value)}
    except yaml.YAMLError as error:
        raise ConfigError(f"--set {override!r}: the value is not valid YAML: {error}") from None
    for parent in reversed(parents):
        change = {parent: change}
    if data.get("kind") is None:
        change = _placed(change, f"--set {key}")
    _refuse_values_as_mappings(data, change, override)
    result = merged(data, change)
    if key == "data.path":
        result["data"].pop("set", None)
    elif key == "data.set":
        result["data"].pop("path", None)
    return result


def _refuse_values_as_mappings(
    data: Mapping[str, Any], change: Mapping[str, Any], override: str
) -> None:
    for name, value in change.items():
        if isinstance(value, dict) and data.get(name) is not None:
            if not isinstance(data[name], dict):
                raise ConfigError(f"--set {override!r}: {name!r} holds a value, not a mapping")
            _refuse_values_as_mappings(data[name], value, override)


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``changes`` put over it, mapping by mapping."""
    result = dict(base)
    for key, value in changes.items():
        below = result.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            result[key] = merged(below, value)
        else:
            result[key] = value
    return result


def _placed(data: dict[str, Any], source: str) -> dict[str, Any]:
    """A config, or a grid's base and cells, with the audit's settings in their one place."""
    if data.get("kind") is not None:
        return data  # a retrieval run has no audit
    data, moved = under_audit(data)
    if moved:
        _log.warning(
            "%s: %s now stand(s) under audit: write %s",
            source,
            ", ".join(moved),
            ", ".join(f"audit.{key}" for key in moved),
        )
    if isinstance(data.get("base"), dict):
        data["base"] = _placed(data["base"], f"{source}, base")
    if isinstance(data.get("cells"), dict):
        data["cells"] = {
            name: _placed(cell, f"{source}, cells.{name}") if isinstance(cell, dict) else cell
            for name, cell in data["cells"].items()
        }
    return data
