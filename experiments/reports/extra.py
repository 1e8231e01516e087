"""Whether the packages that reports need are there."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from stateauditor.signatures.errors import ConfigError

_NEEDED: Final = ("scipy", "statsmodels", "matplotlib", "jinja2")


def require_extra() -> None:
    """Raise :class:`ConfigError` now, rather than after the run, where a package is missing."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"evaluating needs {', '.join(missing)}: pip install 'stateauditor[experiments]'"
        )
