"""What a backend may be called: ``offline``, a shipped name, a file, or one model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from stateauditor.program.backends.config import (
    OFFLINE,
    USUAL_KEYS,
    BackendConfig,
    LMConfig,
    load_backend_config,
)
from stateauditor.signatures.errors import ConfigError

SUFFIXES = {".yaml", ".yml"}


def shipped_backends() -> dict[str, Path]:
    """The backend files that come with StateAuditor, by name."""
    folder = Path(str(files("stateauditor.program.backends"))) / "shipped"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def named_config(spec: str | Path) -> tuple[BackendConfig, str]:
    """The config behind a name, and where it comes from, for messages.

    ``spec`` is a YAML file, a name that ships (``openai``), or one model for all roles as
    DSPy writes it (``openai/gpt-5.5``), whose key stands in the provider's usual variable.
    Raises :class:`ConfigError` that names the choices.
    """
    if spec == OFFLINE.name:
        return OFFLINE, OFFLINE.name
    path = Path(spec)
    if path.suffix in SUFFIXES:
        return load_backend_config(path), str(path)
    shipped = shipped_backends()
    if str(spec) in shipped:
        return load_backend_config(shipped[str(spec)]), str(shipped[str(spec)])
    if isinstance(spec, str) and "/" in spec and not path.exists():
        return _one_model(spec), f"backend {spec!r}"
    raise ConfigError(
        f"backend {str(spec)!r}: neither a .yaml file nor one that ships"
        f"{_near(str(spec), shipped)}; there are {', '.join(shipped)}, "
        "or name one model as 'openai/<model>'"
    )


def _one_model(spec: str) -> BackendConfig:
    provider, _, model = spec.partition("/")
    known: Sequence[str] = tuple(USUAL_KEYS)
    if provider not in known:  # all others are in litellm's list, which takes seconds to load
        listed = import_module("litellm").provider_list
        known = [str(getattr(name, "value", name)) for name in listed]
    if provider not in known or not model:
        raise ConfigError(
            f"backend {spec!r}: {provider!r} is no provider{_near(provider, known)}; "
            "a model is named as 'openai/<model>', a file ends in .yaml"
        )
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", spec).strip("-")
    return BackendConfig(name=name, lms={"lm": LMConfig(model=spec)})


def _near(word: str, known: Iterable[str]) -> str:
    return "".join(f" (did you mean {near!r}?)" for near in get_close_matches(word, known, n=1))
