"""Backend files as the command line shows them: what they need, and whether it is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from stateauditor.program.backends.config import BackendConfig


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
