"""A backend as a saved program holds it: its settings, and never a key.

What belongs to a process stays behind: connections, locks, the pace of the last minute,
a breaker's count, a run's record folder. Keys come from the environment again when the
program is loaded, as they did when the backend was first built.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from stateauditor.program.backends.breaker import CircuitBreaker
from stateauditor.program.backends.config import BackendConfig, LMConfig, Price, StructuredOutput
from stateauditor.program.backends.lm import BackendLM
from stateauditor.program.backends.pace import Pace
from stateauditor.program.backends.store import ResponseStore
from stateauditor.program.backends.traffic import Traffic

KEYLESS: Final = "none"  # what a local server without authentication is sent

# Names of settings that carry a secret; "max_tokens" and its like count tokens.
_SECRET: Final = re.compile(
    r"key|secret|password|credential|authorization|headers|(?<!s)_token$|^token$|cookie|bearer",
    re.IGNORECASE,
)
_ADDRESSES: Final = ("api_base", "base_url")


def without_secrets(value: Any) -> Any:
    """``value`` without settings whose names say that they are secret, at any depth."""
    if isinstance(value, Mapping):
        return {
            name: _without_login(part) if name in _ADDRESSES else without_secrets(part)
            for name, part in value.items()
            if not (isinstance(name, str) and _SECRET.search(name))
        }
    if isinstance(value, list | tuple):
        return type(value)(map(without_secrets, value))
    return value


def saved_config(config: BackendConfig) -> BackendConfig:
    """A backend file's settings, without what ``extra`` or an address holds of secrets."""
    lms = {
        name: lm.model_copy(
            update={"extra": without_secrets(lm.extra), "api_base": _without_login(lm.api_base)}
        )
        for name, lm in config.lms.items()
    }
    return config.model_copy(update={"lms": lms})


@dataclass(frozen=True, slots=True)
class SavedBreaker:
    """A breaker's settings; LMs of one address share one again."""

    name: str
    failures: int
    cooldown: float


@dataclass(frozen=True, slots=True)
class SavedTraffic:
    """How requests go out, without what has gone out."""

    requests_per_minute: int | None
    tokens_per_minute: int | None
    breaker: SavedBreaker | None
    patient: bool

    @classmethod
    def of(cls, traffic: Traffic) -> SavedTraffic:
        """The settings of an LM's traffic."""
        pace, breaker = traffic.pace, traffic.breaker
        kept = None
        if breaker is not None:
            kept = SavedBreaker(breaker.name, breaker.limit, breaker.cooldown)
        return cls(pace.requests, pace.tokens, kept, traffic.patient)

    def restored(self, breakers: dict[SavedBreaker, CircuitBreaker]) -> Traffic:
        """The traffic in this process; ``breakers`` are those of the backend so far."""
        kept = self.breaker
        if kept is not None and kept not in breakers:
            breakers[kept] = CircuitBreaker(
                kept.name, failures=kept.failures, cooldown=kept.cooldown
            )
        return Traffic(
            Pace(self.requests_per_minute, self.tokens_per_minute),
            None if kept is None else breakers[kept],
            self.patient,
        )


@dataclass(frozen=True, slots=True)
class SavedLM:
    """What is needed to build a :class:`BackendLM` again.

    ``keyed`` says whether it was sent a key, ``key_variable`` which environment variable
    held that key (None: the caller gave it by hand, and has to give it again).
    """

    model: str
    model_type: str
    settings: dict[str, Any]
    keyed: bool
    key_variable: str | None
    retries: int
    structured: StructuredOutput
    price: Price | None
    traffic: SavedTraffic
    engine: Any
    async_engine: Any

    @classmethod
    def of(cls, lm: BackendLM, config: LMConfig) -> SavedLM:
        """The settings of an LM; ``config`` is its part of the backend file."""
        return cls(
            model=lm.model,
            model_type=lm.model_type,
            settings=without_secrets(lm.kwargs),
            keyed=lm.kwargs.get("api_key") not in (None, KEYLESS),
            key_variable=_variable_of(lm.kwargs.get("api_key")),
            retries=lm.retries,
            structured=config.structured_output,
            price=lm.price,
            traffic=SavedTraffic.of(lm.traffic),
            engine=lm._engine_spec,
            async_engine=lm._async_engine_spec,
        )

    def restored(
        self, store: ResponseStore, key: str | None, breakers: dict[SavedBreaker, CircuitBreaker]
    ) -> BackendLM:
        """The LM in this process.

        Without a key no address but the provider's own is sent one: the provider's usual
        key, which DSPy would look up, is not meant for another server.
        """
        settings = dict(self.settings)
        if key or any(settings.get(name) for name in _ADDRESSES):
            settings["api_key"] = key or KEYLESS
        return BackendLM(
            self.model,
            store=store,
            structured=self.structured,
            price=self.price,
            traffic=self.traffic.restored(breakers),
            num_retries=self.retries,
            model_type=self.model_type,
            engine=self.engine,
            async_engine=self.async_engine,
            **settings,
        )


def _variable_of(key: str | None) -> str | None:
    """The environment variable that holds this very key."""
    names = (name for name, value in sorted(os.environ.items()) if key and value.strip() == key)
    return next(names, None)


def _without_login(address: Any) -> Any:
    """An address without the name and password that may stand before its host."""
    if not isinstance(address, str) or "@" not in address:
        return address
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
