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

from stateauditor.program.backends.asking import Accepted
from stateauditor.program.backends.breaker import CircuitBreaker
from stateauditor.program.backends.config import (
    BackendConfig,
    BreakerConfig,
    LMConfig,
    StructuredOutput,
)
from stateauditor.program.backends.lm import BackendLM
from stateauditor.program.backends.named import named_config
from stateauditor.program.backends.pace import Pace
from stateauditor.program.backends.prices import use_bundled_prices
from stateauditor.program.backends.saving import KEYLESS, SavedBreaker, SavedLM, saved_config
from stateauditor.program.backends.store import CacheMode, ResponseStore, default_folder
from stateauditor.program.backends.traffic import Traffic
from stateauditor.program.backends.typed_adapter import TypedAdapter
from stateauditor.program.offline.label import BACKEND_LABEL
from stateauditor.program.offline.offline_adapter import OfflineAdapter, offline_lm
from stateauditor.signatures.errors import ConfigError, MissingKeyError
from stateauditor.signatures.step import LMRole


class Backend:
    """Named LMs, one for each role; immutable after construction.

    ``label`` is what every output shows. Build one with :meth:`load` (a name, a
    file, a config, or your own :class:`dspy.LM`).
    """

    def __init__(self, config: BackendConfig, lms: Mapping[str, Any], *, own: bool = False) -> None:
        self.config = config
        self._own = own  # made of the caller's own LM, who may have given it a key by hand
        self._lms = dict(lms)
        offline = all(lm.offline for lm in config.lms.values())
        self.label = BACKEND_LABEL if offline else config.name
        self._typed = TypedAdapter()
        self._rules = OfflineAdapter()

    def __deepcopy__(self, memo: dict[int, Any]) -> Backend:
        # Optimizers copy whole programs; connections and record folders are shared.
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The settings, without keys and whatever belongs to this process (see ``saving``)."""
        lms = {
            name: SavedLM.of(lm, self.config.lms[name]) if isinstance(lm, BackendLM) else None
            for name, lm in self._lms.items()
        }
        return {"config": saved_config(self.config), "lms": lms, "own": self._own}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Build the LMs again; :class:`MissingKeyError` where the environment lacks a key.

        A key that the caller gave to an LM of their own by hand has to be given again.
        """
        use_bundled_prices()
        config, saved, own = state["config"], state["lms"], state["own"]
        variables = {
            name: lm.key_variable if own else config.lms[name].key_variable
            for name, lm in saved.items()
            if lm is not None and lm.keyed
        }
        keys = _keys(variables, f"the saved backend {config.name!r}")
        store = _store(config)
        breakers: dict[SavedBreaker, CircuitBreaker] = {}
        lms = {
            name: offline_lm() if lm is None else lm.restored(store, keys.get(name), breakers)
            for name, lm in saved.items()
        }
        self.__init__(config, lms, own=own)  # type: ignore[misc]

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
        variables = {name: lm.key_variable for name, lm in config.lms.items()}
        keys = _keys(variables, source) if need_keys else {}
        store = _store(config)
        breakers: dict[tuple[str, BreakerConfig], CircuitBreaker] = {}
        seen: dict[tuple[str | None, str, StructuredOutput], Accepted] = {}
        lms = {
            name: offline_lm()
            if lm.offline
            else _build(
                name, lm, store, keys.get(name), _traffic(lm, breakers), _accepted(lm, seen)
            )
            for name, lm in config.lms.items()
        }
        return cls(config, lms)

    @classmethod
    def from_lm(cls, lm: dspy.LM) -> Backend:
        """One DSPy LM for every role, unrecorded."""
        use_bundled_prices()
        config = BackendConfig(name="custom", lms={"lm": LMConfig(model=lm.model)})
        wrapped = lm if isinstance(lm, BackendLM) else BackendLM.wrap(lm, _store(config))
        return cls(config, {"lm": wrapped}, own=True)

    def bound(self, folder: Path, mode: CacheMode, owner: str, limiter: CapacityLimiter) -> Backend:
        """This backend for one run: recording under ``folder``, calls in flight bounded."""
        store = ResponseStore(folder / self.config.name, mode, owner)
        lms = {
            name: lm.bound(store, limiter) if isinstance(lm, BackendLM) else lm
            for name, lm in self._lms.items()
        }
        return Backend(self.config, lms, own=self._own)

    def lm(self, role: LMRole) -> Any:
        """The LM that answers ``role``."""
        return self._lms[self.config.lm_for(role)]

    def offline(self, role: LMRole) -> bool:
        """Whether lexical rules answer ``role``."""
        return self.config.lms[self.config.lm_for(role)].offline

    @property
    def rules_only(self) -> bool:
        """Whether lexical rules answer every role of an audit; a judge is none."""
        return all(self.offline(role) for role in LMRole if role is not LMRole.JUDGE)

    @contextmanager
    def use(self, role: LMRole) -> Iterator[None]:
        """Let DSPy modules inside the block ask this role's LM."""
        adapter = self._rules if self.offline(role) else self._typed
        with dspy.context(lm=self.lm(role), adapter=adapter):
            yield


def _store(config: BackendConfig) -> ResponseStore:
    """Where a backend records its responses, if its file says so."""
    return ResponseStore((config.cache_folder or default_folder()) / config.name, config.cache)


def _keys(variables: Mapping[str, str | None], source: str) -> dict[str, str]:
    """API keys by LM name; every unset variable is reported at once."""
    keys: dict[str, str] = {}
    missing: dict[str, list[str]] = {}
    for name, variable in variables.items():
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


def _accepted(
    lm: LMConfig, seen: dict[tuple[str | None, str, StructuredOutput], Accepted]
) -> Accepted:
    """What the LM's model accepts at its address: learnt once for all LMs that ask it."""
    place = (lm.api_base, lm.model, lm.structured_output)
    return seen.setdefault(place, Accepted(lm.structured_output))


def _build(
    name: str,
    lm: LMConfig,
    store: ResponseStore,
    key: str | None,
    traffic: Traffic,
    accepted: Accepted,
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
            accepted=accepted,
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
