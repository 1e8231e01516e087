"""Backend files: which LM answers which role (DESIGN.md section 6).

A YAML file names LMs and gives each role one. Unknown keys are errors, all
errors are reported at once with their paths, and keys of APIs are named by the
environment variable that holds them, never written down.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

import yaml
from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from stateauditor.program.backends.store import CacheMode
from stateauditor.program.offline.label import OFFLINE_MODEL
from stateauditor.signatures.edge import Strict, describe_validation
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.step import LMRole

# The variables that providers document; a file may name another.
USUAL_KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
}


class StructuredOutput(StrEnum):
    """How typed output is asked for; ``auto`` starts strict and falls back once."""

    AUTO = "auto"
    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


class Price(Strict):
    """US dollars per million tokens, for models that report no cost."""

    input_per_million: float = Field(ge=0)
    output_per_million: float = Field(ge=0)


class Effort(StrEnum):
    """How long a reasoning model may think."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Reasoning(Strict):
    """Settings of a reasoning model."""

    effort: Effort


class BreakerConfig(Strict):
    """After ``failures`` in a row an address is left alone for ``cooldown`` seconds."""

    failures: int = Field(default=8, ge=1)
    cooldown: float = Field(default=20.0, gt=0)


def _off(value: Any) -> Any:
    # YAML 1.1 reads a bare `off` as false.
    return None if value is False else value


class LMConfig(Strict):
    """One LM.

    ``model`` is DSPy's ``provider/name``, or ``offline/lexical-rules``.
    ``timeout`` is in seconds per attempt; ``retries`` counts further attempts
    after rate limits, server errors and timeouts, with jittered exponential
    backoff or the server's Retry-After up to a minute. Calls wait for their turn
    under ``requests_per_minute`` and ``tokens_per_minute``. ``breaker`` makes
    calls fail at once while the address is down; ``off`` is possible. A reasoning
    model takes ``reasoning`` in place of ``temperature``. ``extra`` goes to the
    API as it is.
    """

    model: str = Field(min_length=1)
    api_base: str | None = None
    api_key_env: str | None = None
    model_type: str = Field(default="chat", pattern="^(chat|responses)$")
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=60.0, gt=0)
    retries: int = Field(default=3, ge=0, le=20)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    breaker: Annotated[BreakerConfig | None, BeforeValidator(_off)] = BreakerConfig()
    reasoning: Reasoning | None = None
    structured_output: StructuredOutput = StructuredOutput.AUTO
    price: Price | None = None
    extra: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _reasoning_has_no_temperature(self) -> Self:
        if self.reasoning is not None and self.temperature not in (None, 1):
            raise ValueError("reasoning models take no temperature: leave out one of the two")
        if self.reasoning is not None and "reasoning_effort" in self.extra:
            raise ValueError(
                "the effort stands in reasoning and in extra: leave out one of the two"
            )
        return self

    @property
    def offline(self) -> bool:
        """Whether lexical rules answer instead of a model."""
        return self.model == OFFLINE_MODEL

    @property
    def address(self) -> str:
        """What the LM is reached at, without credentials: a host, or a provider's name."""
        host = urlsplit(self.api_base or "").netloc.rpartition("@")[2]
        return host or self.model.split("/", 1)[0]

    @property
    def key_variable(self) -> str | None:
        """The environment variable that must hold the key, if this LM needs one."""
        if self.api_key_env is not None:
            return self.api_key_env
        if self.offline or self.api_base is not None:
            return None
        return USUAL_KEYS.get(self.model.split("/", 1)[0])


def _mode(value: Any) -> Any:
    # YAML 1.1 reads a bare `off` as false.
    return CacheMode.OFF if value is False else value


class RoleMap(Strict):
    """Which LM answers which role; a role that is left out gets ``default``.

    The last two serve ``stateauditor compile`` only: ``teacher`` makes
    demonstrations (left out: nobody but the LM under compilation does), ``prompt``
    writes instructions (left out: the auditor's LM does).
    """

    default: str | None = None
    generator: str | None = None
    auditor: str | None = None
    proposer: str | None = None
    adapter: str | None = None
    judge: str | None = None
    teacher: str | None = None
    prompt: str | None = None


class BackendConfig(Strict):
    """A backend file.

    ``cache`` records responses under ``cache_folder`` (default: the user's cache
    folder), one sub-folder a backend. It is off by default, because responses
    may quote the user's memory.
    """

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    lms: dict[str, LMConfig] = Field(min_length=1)
    roles: RoleMap = RoleMap()
    cache: Annotated[CacheMode, BeforeValidator(_mode)] = CacheMode.OFF
    cache_folder: Path | None = None

    def lm_for(self, role: LMRole) -> str:
        """The name of the LM that answers ``role``."""
        named: str | None = getattr(self.roles, role.value)
        return named or self.roles.default or next(iter(self.lms))


OFFLINE = BackendConfig(name="offline", lms={"rules": LMConfig(model=OFFLINE_MODEL)})


def load_backend_config(path: Path) -> BackendConfig:
    """Read and validate a backend file; :class:`ConfigError` lists everything wrong with it."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such backend file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a mapping with the keys name, lms and roles")
    data.setdefault("name", path.stem)
    return parse_backend_config(data, source=str(path))


def parse_backend_config(data: dict[str, Any], *, source: str) -> BackendConfig:
    """Validate a parsed backend file; every problem comes with its path in the file."""
    problems = _dangling_roles(data)
    config: BackendConfig | None = None
    try:
        config = BackendConfig.model_validate(data)
    except ValidationError as error:
        problems = describe_validation(error, BackendConfig) + problems
    if problems or config is None:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise ConfigError(f"{source}: {len(problems)} problem(s)\n{listed}")
    return config


def _dangling_roles(data: dict[str, Any]) -> list[str]:
    lms, roles = data.get("lms"), data.get("roles")
    if not isinstance(lms, dict) or not isinstance(roles, dict):
        return []
    return [
        f"roles.{role}: no LM is named {name!r}; there are {', '.join(map(str, lms))}"
        for role, name in roles.items()
        if isinstance(name, str) and name not in lms
    ]
