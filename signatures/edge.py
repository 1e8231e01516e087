"""The edge: what configs and data files must look like, and one way to say what is wrong.

Everything that people write (YAML, JSON, keyword settings) is validated once, by a
:class:`Strict` model, through :func:`validated`: unknown keys are errors, and all
problems are reported at once, each with its path.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from rapidfuzz import fuzz, process

from stateauditor.signatures.errors import ConfigError

ModelT = TypeVar("ModelT", bound=BaseModel)


class Strict(BaseModel):
    """Base of all that is read from people: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def validated(model: type[ModelT], data: Any, *, source: str) -> ModelT:
    """``data`` as the model; :class:`ConfigError` lists every problem with its path."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = describe_validation(error, model)
        listed = "\n".join(f"  {line}" for line in lines)
        raise ConfigError(f"{source}: {len(lines)} problem(s)\n{listed}") from None


def describe_validation(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """One line a problem: path, what is wrong, and the nearest known key for a typo."""
    known = sorted(_field_names(model, set()))
    lines = []
    for detail in error.errors(include_url=False, include_input=False):
        path = ".".join(str(part) for part in detail["loc"]) or "(top level)"
        if detail["type"] == "extra_forbidden":
            guess = process.extractOne(
                str(detail["loc"][-1]), known, scorer=fuzz.ratio, score_cutoff=70
            )
            hint = f"; did you mean {guess[0]!r}?" if guess else ""
            lines.append(f"{path}: unknown key{hint}")
        else:
            lines.append(f"{path}: {detail['msg']}")
    return lines


def _field_names(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[str]:
    """All field names of a model and of the models inside it."""
    if model in seen:
        return set()
    seen.add(model)
    names = set(model.model_fields)
    for field in model.model_fields.values():
        for inner in _models_in(field.annotation):
            names |= _field_names(inner, seen)
    return names


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]
