"""Compiled prompts in a folder: each role's state in DSPy's JSON, beside a fingerprint.

One file a role, because DSPy leaves a compiled module out of its parent's file.
Fields load by position, so that a Signature whose fields were reordered since would
silently swap descriptions; and a saved instruction would hide a newer one of this
program. The fingerprint covers both, and a folder that does not fit is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dspy
from pydantic import BaseModel, TypeAdapter, ValidationError

from stateauditor.program.roles.base import Role
from stateauditor.program.roles.ensemble import Roles
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Frozen

FORMAT = 1
INDEX = "compiled.json"


class FieldPrint(Frozen):
    """One field of a Signature; ``type`` is a digest of the annotation and its schema."""

    name: str
    kind: str
    type: str


class SignaturePrint(Frozen):
    """What a saved state depends on: the fields in their order, and the instructions' version."""

    fields: tuple[FieldPrint, ...]
    instructions: str


class CompiledIndex(Frozen):
    """The index of a folder; ``predictors`` is by ``role.predictor``.

    ``trained_on`` are the scenario ids that the compile learned from or chose by.
    """

    format: int = FORMAT
    name: str
    roles: tuple[str, ...]
    predictors: dict[str, SignaturePrint]
    trained_on: tuple[str, ...] = ()


def signature_print(signature: Any) -> SignaturePrint:
    """The fingerprint of a Signature class."""
    outputs = signature.output_fields
    fields = tuple(
        FieldPrint(
            name=name,
            kind="output" if name in outputs else "input",
            type=_digest(_type_text(field.annotation)),
        )
        for name, field in signature.fields.items()
    )
    return SignaturePrint(fields=fields, instructions=_digest(signature.instructions))


def role_state(roles: Roles, role: str) -> dict[str, Any]:
    """One role's state as DSPy saves it; never with an LM in it."""
    state: dict[str, Any] = {}
    for name, predictor in predictors_of(roles, role):
        state[name] = {**predictor.dump_state(), "lm": None}
    return state


def predictors_of(roles: Roles, role: str) -> Iterator[tuple[str, Any]]:
    """The predictors of one role by their own names, whether or not the role is frozen."""
    yield from getattr(roles, role).named_predictors()


def save_compiled(
    folder: Path, name: str, states: Mapping[str, dict[str, Any]], trained_on: Iterable[str]
) -> None:
    """Write the states of some roles, and the index with the fingerprints of this program."""
    fresh = Roles()
    (folder / "roles").mkdir(parents=True, exist_ok=True)
    for role, state in states.items():
        whole = {**state, "metadata": {"dependency_versions": _versions()}}
        _write(folder / "roles" / f"{role}.json", whole)
    index = CompiledIndex(
        name=name,
        roles=tuple(states),
        predictors={
            f"{role}.{predictor}": signature_print(module.signature)
            for role in states
            for predictor, module in predictors_of(fresh, role)
        },
        trained_on=tuple(trained_on),
    )
    _write(folder / INDEX, index.model_dump(mode="json"))


def read_index(folder: Path) -> CompiledIndex:
    """The index of a compiled folder. Raises :class:`ConfigError`."""
    path = folder / INDEX
    try:
        return CompiledIndex.model_validate_json(path.read_bytes())
    except OSError:
        raise ConfigError(
            f"{folder} holds no compiled prompts: it has no {INDEX}; "
            "`stateauditor compile CONFIG.yaml --out FOLDER` makes one"
        ) from None
    except ValidationError as error:
        raise ConfigError(
            f"{path}: not an index of this version ({error.error_count()} problem(s)); "
            "compile again"
        ) from None


def load_compiled(folder: str | Path, roles: Roles) -> CompiledIndex:
    """Put the folder's states into ``roles``; nothing is changed if anything does not fit.

    Raises :class:`ConfigError` for a damaged folder, and for one that was compiled
    for other Signatures.
    """
    folder = Path(folder)
    index = read_index(folder)
    if index.format != FORMAT:
        raise ConfigError(f"{folder}: format {index.format} is not {FORMAT}; compile again")
    unknown = [role for role in index.roles if not isinstance(getattr(roles, role, None), Role)]
    if unknown:
        raise ConfigError(
            f"{folder}: there is no role {', '.join(unknown)} in this version; compile again"
        )
    _refuse_other_signatures(folder, index, roles)
    states = {role: _read_state(folder / "roles" / f"{role}.json") for role in index.roles}
    fresh = Roles()
    for target in (fresh, roles):  # a trial run first: a damaged state must leave no half
        for role, state in states.items():
            _apply(target, role, state, folder)
    return index


def _apply(roles: Roles, role: str, state: dict[str, Any], folder: Path) -> None:
    try:
        for name, predictor in predictors_of(roles, role):
            predictor.load_state({**state[name], "lm": None})
            predictor.demos = [dspy.Example(**demo) for demo in state[name]["demos"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{folder}/roles/{role}.json: damaged ({type(error).__name__}); compile again"
        ) from None


def _refuse_other_signatures(folder: Path, index: CompiledIndex, roles: Roles) -> None:
    problems = []
    for role in index.roles:
        for name, predictor in predictors_of(roles, role):
            place = f"{role}.{name}"
            saved = index.predictors.get(place)
            now = signature_print(predictor.signature)
            if saved is None:
                problems.append(f"{place}: was not compiled")
            elif saved != now:
                problems.append(f"{place}: {difference(saved, now)}")
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise ConfigError(
            f"{folder} was compiled for other Signatures; compile again "
            f"(stateauditor compile {folder / 'config.yaml'} --out NEW_FOLDER)\n{listed}"
        )


def difference(saved: SignaturePrint, now: SignaturePrint) -> str:
    """In words, how two fingerprints differ."""
    before, after = [f.name for f in saved.fields], [f.name for f in now.fields]
    if sorted(before) != sorted(after):
        return f"its fields were {', '.join(before)} and are now {', '.join(after)}"
    if before != after:
        return f"the order of its fields was {', '.join(before)} and is now {', '.join(after)}"
    changed = [a.name for b, a in zip(saved.fields, now.fields, strict=True) if b != a]
    if changed:
        return f"the type of {', '.join(changed)} has changed"
    return "its own instructions have changed since"


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_bytes())
    except OSError:
        raise ConfigError(f"{path}: there is no such file; compile again") from None
    except ValueError:
        raise ConfigError(f"{path}: not valid JSON; compile again") from None
    if not isinstance(state, dict):
        raise ConfigError(f"{path}: not a state of a role; compile again")
    return state


def _type_text(annotation: Any) -> str:
    """An annotation with the schema behind it: item models have fields and words of their own."""
    schema = TypeAdapter(annotation).json_schema()
    return f"{annotation!r}\n{json.dumps(schema)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _versions() -> dict[str, str]:
    from dspy.utils.saving import get_dependency_versions

    versions: dict[str, str] = get_dependency_versions()
    return versions


def plain_example(value: Any) -> Any:
    """What JSON cannot hold of a state: demonstrations and their typed values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dspy.Example):
        return value.toDict()
    raise TypeError(f"{type(value).__name__} cannot be saved as JSON")


def _write(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=plain_example)
    path.write_text(text + "\n", "utf-8")
