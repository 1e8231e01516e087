"""Reads the suites' written content: YAML files under ``content``, checked against a model."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from stateauditor.signatures.errors import ConfigError

M = TypeVar("M", bound=BaseModel)

# Every scalar stays a string: "no", "on" and "yes" are words here, not booleans.
_Loader: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def load_content(path: str, model: type[M]) -> M:
    """The file at ``path`` under ``content``, such as ``safety/pet.yaml``; its scalars are text."""
    file = _folder().joinpath(path)
    if not file.is_file():
        raise ConfigError(f"there is no suite content {path!r}")
    return parse_content(file.read_text(encoding="utf-8"), model, path)


def content_files(folder: str) -> tuple[str, ...]:
    """The paths of the YAML files directly in a folder of ``content``, in order of name."""
    names = (file.name for file in _folder().joinpath(folder).iterdir() if file.is_file())
    return tuple(f"{folder}/{name}" for name in sorted(names) if name.endswith(".yaml"))


def parse_content(text: str, model: type[M], name: str) -> M:
    """Content from YAML text; every mistake is reported at once with its path."""
    try:
        raw: Any = yaml.load(text, Loader=_Loader)
        return model.model_validate(raw)
    except yaml.YAMLError as error:
        raise ConfigError(f"suite content {name} is not readable YAML: {error}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'file'}: {fault['msg']}"
            for fault in error.errors()
        )
        raise ConfigError(f"suite content {name}: {faults}") from error


def _folder() -> Traversable:
    return files(__package__).joinpath("content")
