"""A backend in use: LMs built from a backend file, and the one that answers a role."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dspy
from anyio import CapacityLimiter
from dspy.utils.exceptions import LMConfigurationError

from stateauditor.program.backends.breaker import CircuitBreaker
from stateauditor.program.backends.config import (
    BackendConfig,
    BreakerConfig,
    LMConfig,
)
from stateauditor.program.backends.lm import BackendLM
from stateauditor.program.backends.named import named_config
from stateauditor.program.backends.pace import Pace
from stateauditor.program.backends.store import CacheMode, ResponseStore, default_folder
from stateauditor.program.backends.traffic import Traffic
from stateauditor.program.backends.typed_adapter import TypedAdapter
from stateauditor.program.offline.label import BACKEND_LABEL
from stateauditor.program.offline.offline_adapter import OfflineAdapter, offline_lm
from stateauditor.signatures.errors import ConfigError, MissingKeyError
from stateauditor.signatures.step import LMRole

KEYLESS = "none"  # what a local server without authentication is sent


class Backend:
    """Named LMs, one for each role; immutable after construction.

    ``label`` is what every output shows. Build one with :meth:`load` (a name, a
    file, a config, or your own :class:`dspy.LM`).
    """

    def __init__(self, config: BackendConfig, lms: Mapping[str, Any]) -> None:
        self.config = config
        self._lms = dict(lms)
        offline = all(lm.offline for lm in config.lms.values())
        self.label = BACKEND_LABEL if offline else config.name
        self._typed = TypedAdapter()
        self._rules = OfflineAdapter()

    def __deepcopy__(self, memo: dict[int, Any]) -> Backend:
        # Optimizers copy whole programs; connections and record folders are shared.
        return self

    @classmethod
    def load(
        cls, spec: str | Path | BackendConfig | Backend | dspy.LM, *, need_keys: bool = True
    ) -> Backend:
        """From a name, a YAML file, a config, a ready backend, or a DSPy LM for all roles.

        Names are ``"offline"``, those that ship (``"openai"``), and models (``"openai/..."``).

        Raises :class:`ConfigError` for a bad file and :class:`MissingKeyError`
        for an unset key, before any work is done; ``need_keys=False`` is for
        replays, which ask nobody.
        """
        if isinstance(spec, Backend):
            return spec
        if isinstance(spec, dspy.LM):
            return cls.from_lm(spec)
        if isinstance(spec, BackendConfig):
            return cls.from_config(spec, source=f"backend {spec.name!r}", need_keys=need_keys)
        if not isinstance(spec, str | Path):
            raise ConfigError(
                f"backend: expected a name, a .yaml file, a config or a dspy.LM, not {spec!r}; "
                "'offline' needs no model"
            )
        config, source = named_config(spec)
        return cls.from_config(config, source=source, need_keys=need_keys)

    @classmethod
    def from_config(cls, config: BackendConfig, *, source: str, need_keys: bool = True) -> Backend:
        """Build every LM of a config; ``source`` names the file in errors."""
        use_bundled_prices()
        keys = _keys(config, source) if need_keys else {}
        folder = (config.cache_folder or default_folder()) / config.name
        store = ResponseStore(folder, config.cache)
        breakers: dict[tuple[str, BreakerConfig], CircuitBreaker] = {}
        lms = {
            name: offline_lm()
            if lm.offline
            else _build(name, lm, store, keys.get(name), _traffic(lm, breakers))
            for name, lm in config.lms.items()
        }
        return cls(config, lms)

    @classmethod
    def from_lm(cls, lm: dspy.LM) -> Backend:
        """One DSPy LM for every role, unrecorded."""
        use_bundled_prices()
        config = BackendConfig(name="custom", lms={"lm": LMConfig(model=lm.model)})
        store = ResponseStore(default_folder(), CacheMode.OFF)
        wrapped = lm if isinstance(lm, BackendLM) else BackendLM.wrap(lm, store)
        return cls(config, {"lm": wrapped})

    def bound(self, folder: Path, mode: CacheMode, owner: str, limiter: CapacityLimiter) -> Backend:
        """This backend for one run: recording under ``folder``, calls in flight bounded."""
        store = ResponseStore(folder / self.config.name, mode, owner)
        lms = {
            name: lm.bound(store, limiter) if isinstance(lm, BackendLM) else lm
            for name, lm in self._lms.items()
        }
        return Backend(self.config, lms)

    def lm(self, role: LMRole) -> Any:
        """The LM that answers ``role``."""
        return self._lms[self.config.lm_for(role)]

    def offline(self, role: LMRole) -> bool:
        """Whether lexical rules answer ``role``."""
        return self.config.lms[self.config.lm_for(role)].offline

    @contextmanager
    def use(self, role: LMRole) -> Iterator[None]:
        """Let DSPy modules inside the block ask this role's LM."""
        adapter = self._rules if self.offline(role) else self._typed
        with dspy.context(lm=self.lm(role), adapter=adapter):
            yield


def _keys(config: BackendConfig, source: str) -> dict[str, str]:
    """API keys by LM name; every unset variable is reported at once."""
    keys: dict[str, str] = {}
    missing: dict[str, list[str]] = {}
    for name, lm in config.lms.items():
        variable = lm.key_variable
        if variable is None:
            continue
        value = os.environ.get(variable, "").strip()
        if value:
            keys[name] = value
        else:
            missing.setdefault(variable, []).append(name)
    if missing:
        listed = "; ".join(
            f"{variable} (for lms.{', lms.'.join(names)})" for variable, names in missing.items()
        )
        raise MissingKeyError(
            f"{source}: the environment variable {listed} is not set; export the API key in it, "
            "or use --backend offline, which needs none"
        )
    return keys


def use_bundled_prices() -> None:
    """Keep DSPy from fetching a price list from the internet at the first call.

    Costs must be the same tomorrow, and nobody asked for that request.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")


def _traffic(lm: LMConfig, breakers: dict[tuple[str, BreakerConfig], CircuitBreaker]) -> Traffic:
    """An LM's own pace, and the breaker that it shares with others of its address."""
    breaker = None
    if lm.breaker is not None:
        place = (lm.api_base or lm.address, lm.breaker)
        if place not in breakers:
            breakers[place] = CircuitBreaker(
                lm.address, failures=lm.breaker.failures, cooldown=lm.breaker.cooldown
            )
        breaker = breakers[place]
    return Traffic(Pace(lm.requests_per_minute, lm.tokens_per_minute), breaker)


def _build(
    name: str, lm: LMConfig, store: ResponseStore, key: str | None, traffic: Traffic
) -> BackendLM:
    settings: dict[str, Any] = {
        "model_type": lm.model_type,
        "temperature": lm.temperature,
        "max_tokens": lm.max_tokens,
        "num_retries": lm.retries,
        "timeout": lm.timeout,
        **lm.extra,
    }
    if lm.reasoning is not None:
        settings["reasoning_effort"] = lm.reasoning.effort.value
    if lm.api_base is not None:
        settings["api_base"] = lm.api_base
    if key is not None or lm.api_base is not None:
        settings["api_key"] = key or KEYLESS
    try:
        return BackendLM(
            lm.model,
            store=store,
            structured=lm.structured_output,
            price=lm.price,
            traffic=traffic,
            **settings,
        )
    except LMConfigurationError as error:
        raise ConfigError(
            f"lms.{name}: {lm.model} is a reasoning model: leave out temperature (or give 1.0), "
            "and leave out max_tokens or give at least 16000, since thinking counts too"
        ) from error
    except Exception as error:  # DSPy raises many kinds for a bad model or setting
        raise ConfigError(f"lms.{name}: {lm.model!r} cannot be built: {error}") from error
