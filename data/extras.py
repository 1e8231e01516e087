"""Packages that only the experiments need, imported when they are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stateauditor.signatures.errors import ConfigError


def extra(module: str, purpose: str) -> Any:
    """Import `module`, or say how to install what `purpose` needs."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ConfigError(
            f"{purpose} needs the package {package}: pip install 'stateauditor[experiments]'"
        ) from error
