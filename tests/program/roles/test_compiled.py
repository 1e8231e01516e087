"""Compiled prompts load only into the Signatures that they were compiled for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from stateauditor import StateAuditor, audit
from stateauditor.program.roles.compiled import (
    difference,
    load_compiled,
    predictors_of,
    read_index,
    role_state,
    save_compiled,
    signature_print,
)
from stateauditor.program.roles.ensemble import Roles
from stateauditor.signatures.errors import ConfigError
from tests.support.worked import DRAFT, MEMORY, QUESTION

LESSON = "Look twice."
EXTRACTION = "roles/premise_extraction.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two roles with a lesson and a demonstration each."""
    roles = Roles()
    states = {}
    for role in ("premise_extraction", "transition_proposal"):
        for _, predictor in predictors_of(roles, role):
            instructions = f"{predictor.signature.instructions}\n{LESSON}"
            predictor.signature = predictor.signature.with_instructions(instructions)
            predictor.demos = [dspy.Example(augmented=True, question="q", reasoning="r")]
        states[role] = role_state(roles, role)
    save_compiled(tmp_path / "c", "mine", states, ["u1", "u2"])
    return tmp_path / "c"


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def test_the_roles_are_put_in_place_and_the_others_left_alone(folder: Path) -> None:
    roles = StateAuditor(compiled=folder).roles
    assert roles.premise_extraction.extract.signature.instructions.endswith(LESSON)
    assert roles.transition_proposal.propose.demos[0].question == "q"
    fresh = Roles().lean_audit.audit.signature.instructions
    assert roles.lean_audit.audit.signature.instructions == fresh
    assert read_index(folder).trained_on == ("u1", "u2")


def test_each_role_has_a_file_of_its_own_without_an_lm(folder: Path) -> None:
    files = sorted((folder / "roles").iterdir())
    assert [path.stem for path in files] == ["premise_extraction", "transition_proposal"]
    for path in files:
        state = json.loads(path.read_text("utf-8"))
        assert all(part["lm"] is None for name, part in state.items() if name != "metadata")


def test_dspy_itself_reads_the_files(folder: Path) -> None:
    role = Roles().premise_extraction
    role.load(folder / "roles" / "premise_extraction.json")
    assert role.extract.signature.instructions.endswith(LESSON)


def test_the_shortcut_takes_compiled_prompts_too(folder: Path) -> None:
    result = audit(MEMORY, QUESTION, DRAFT, compiled=folder)
    assert result.failed_open == ()


# --- what does not fit --------------------------------------------------------------------


def test_reordered_fields_are_refused_because_they_load_by_position(folder: Path) -> None:
    index = json.loads((folder / "compiled.json").read_text("utf-8"))
    fields = index["predictors"]["premise_extraction.extract"]["fields"]
    fields[0], fields[1] = fields[1], fields[0]
    edit(folder / "compiled.json", **index)
    with pytest.raises(ConfigError) as told:
        StateAuditor(compiled=folder)
    message = str(told.value)
    assert "was compiled for other Signatures; compile again (stateauditor compile" in message
    assert (
        "premise_extraction.extract: the order of its fields was draft, question, reasoning, "
        "premises and is now question, draft, reasoning, premises" in message
    )


def signature(*, desc: str = "d", kind: Any = str, name: str = "b", text: str = "Do it.") -> Any:
    fields = {
        "a": (str, dspy.InputField(desc=desc)),
        name: (kind, dspy.OutputField(desc=desc)),
    }
    return dspy.Signature(fields, text)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"name": "c"}, "its fields were a, b and are now a, c"),
        ({"kind": list[str]}, "the type of b has changed"),
        ({"text": "Do something else."}, "its own instructions have changed since"),
    ],
)
def test_the_message_says_how_they_differ(other: dict[str, Any], told: str) -> None:
    saved, now = signature_print(signature()), signature_print(signature(**other))
    assert saved != now
    assert difference(saved, now) == told


def test_descriptions_are_no_part_of_the_fingerprint_since_they_are_saved() -> None:
    assert signature_print(signature()) == signature_print(signature(desc="other"))


def test_a_type_that_gained_a_field_has_another_fingerprint() -> None:
    from pydantic import create_model

    one: Any = create_model("Item", text=(str, ...))
    two: Any = create_model("Item", text=(str, ...), more=(str, ""))
    assert signature_print(signature(kind=list[one])) != signature_print(signature(kind=list[two]))


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (lambda f: (f / "compiled.json").unlink(), "holds no compiled prompts"),
        (lambda f: (f / "compiled.json").write_text("{}", "utf-8"), "not an index"),
        (lambda f: edit(f / "compiled.json", format=99), "format 99 is not 1; compile again"),
        (
            lambda f: edit(f / "compiled.json", roles=["deepcopy"]),
            "no role deepcopy in this version",
        ),
        (lambda f: edit(f / "compiled.json", predictors={}), "was not compiled"),
        (lambda f: (f / EXTRACTION).unlink(), "there is no such file"),
        (
            lambda f: (f / EXTRACTION).write_text("{", "utf-8"),
            "not valid JSON",
        ),
        (lambda f: (f / EXTRACTION).write_text("[]", "utf-8"), "not a state"),
        (lambda f: edit(f / EXTRACTION, extract={}), "damaged"),
    ],
)
def test_a_damaged_folder_is_a_clear_error(folder: Path, break_it: Any, told: str) -> None:
    break_it(folder)
    with pytest.raises(ConfigError, match=told):
        StateAuditor(compiled=folder)


def test_nothing_is_half_loaded(folder: Path) -> None:
    edit(folder / "roles" / "transition_proposal.json", propose={})
    roles = Roles()
    with pytest.raises(ConfigError):
        load_compiled(folder, roles)
    assert not roles.premise_extraction.extract.signature.instructions.endswith(LESSON)
    assert roles.premise_extraction.extract.demos == []


def test_no_lm_is_ever_loaded_from_a_file(folder: Path) -> None:
    path = folder / "roles" / "premise_extraction.json"
    state = json.loads(path.read_text("utf-8"))
    state["extract"]["lm"] = {"model": "openai/x", "api_base": "http://evil.example"}
    path.write_text(json.dumps(state), "utf-8")
    assert StateAuditor(compiled=folder).roles.premise_extraction.extract.lm is None


def test_what_json_cannot_hold_is_made_plain_or_refused() -> None:
    from stateauditor.program.roles.compiled import plain_example
    from stateauditor.signatures.models import Readout

    assert plain_example(dspy.Example(a=1)) == {"a": 1}
    assert plain_example(Readout())["entries"] == []
    with pytest.raises(TypeError, match="object cannot be saved"):
        plain_example(object())
