"""How likely a sentence discloses the user's state, without any question.

Two scores, both linear in the features of a sentence (paper, section 4.1, step
ii). ``statement`` says how much a sentence reads like a lasting fact about the
user; ``disclosure`` adds what marks a fact as new. The weights are a readable
file, ``weights.yaml``, and nothing else decides the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import yaml
from pydantic import Field, ValidationError

from stateauditor.program.retrieval.features import Measured
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Frozen

Floats = npt.NDArray[np.float64]

_FILE: Final = "weights.yaml"


class Weights(Frozen):
    """The linear model: a bias and one number for each feature that counts.

    ``fact`` is for stored facts, which are short and speak of "User"; it has no part for
    changes, because a fact is as likely to begin a state as to hold one.
    """

    version: int = Field(ge=1, le=1)
    bias: float
    statement: dict[str, float]
    change: dict[str, float]
    fact_bias: float = 0.0
    fact: dict[str, float] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Disclosures:
    """Per sentence: log-odds of stating a lasting fact, and of announcing a new one."""

    statement: Floats
    disclosure: Floats


def score(measured: Measured, weights: Weights) -> Disclosures:
    """Score every sentence once; a memory's questions share the result.

    Rounded to nine decimals, so that equal sentences tie on every machine.
    """
    statement = weights.bias + measured.values @ _vector(weights.statement, measured.columns)
    change = measured.values @ _vector(weights.change, measured.columns)
    if weights.fact:
        stored = measured.stored
        facts = measured.values[stored] @ _vector(weights.fact, measured.columns)
        statement[stored] = weights.fact_bias + facts
        change[stored] = 0.0
    return Disclosures(np.round(statement, 9), np.round(statement + change, 9))


def _vector(by_name: dict[str, float], columns: tuple[str, ...]) -> Floats:
    unknown = sorted(set(by_name) - set(columns))
    if unknown:
        raise ConfigError(f"{_FILE} weighs unknown features: {', '.join(unknown)}")
    return np.array([by_name.get(name, 0.0) for name in columns])


@cache
def load_weights() -> Weights:
    """The weights that come with the package."""
    return parse_weights(
        resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8"), _FILE
    )


def parse_weights(text: str, name: str = "weights") -> Weights:
    """Read weights from YAML text; mistakes are reported with their paths."""
    try:
        raw: Any = yaml.safe_load(text)
        return Weights.model_validate(raw)
    except yaml.YAMLError as error:
        raise ConfigError(f"{name} is not readable YAML: {error}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or name}: {fault['msg']}"
            for fault in error.errors()
        )
        raise ConfigError(f"{name}: {faults}") from error
