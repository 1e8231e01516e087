"""``stateauditor schema``: the schemas accept what the program reads and writes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from stateauditor.cli.demos import EXAMPLES
from stateauditor.cli.schema import SchemaName, json_schema
from stateauditor.program.backends.named import shipped_backends
from tests.stateauditor.cli.conftest import MEMORY, Run

INPUT = Draft202012Validator(json_schema(SchemaName.INPUT))
PAIR = {"question": "q?", "draft": "d"}
TURNS = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


@pytest.mark.parametrize("name", list(SchemaName))
def test_every_schema_is_one(run: Run, name: SchemaName) -> None:
    done = run("schema", name)
    assert done.status == 0
    Draft202012Validator.check_schema(done.json())


@pytest.mark.parametrize(
    "data",
    [
        {"memory": MEMORY, **PAIR},
        {"memory": MEMORY, "question": "q?"},
        {"memory": [], "pairs": [PAIR, PAIR]},
        {"memory": [{"id": 3, "timestamp": 1_700_000_000, "turns": TURNS}], **PAIR},
        {"memory": {"haystack_session": [], "timestamps": [], "uid": "u"}, **PAIR},
    ],
)
def test_right_inputs_fit(data: Any) -> None:
    assert INPUT.is_valid(data)


@pytest.mark.parametrize(
    "data",
    [
        [],
        PAIR,
        {"memory": MEMORY},
        {"memory": MEMORY, "question": " ", "draft": "d"},
        {"memory": MEMORY, "question": "q?", "drafts": "d"},
        {"memory": MEMORY, "pairs": [], "question": "q?"},
        {"memory": MEMORY, "pairs": [PAIR], "draft": "d"},
        {"memory": [{"text": "no time"}], **PAIR},
    ],
)
def test_wrong_inputs_do_not(data: Any) -> None:
    assert not INPUT.is_valid(data)


def test_results_fit(run: Run) -> None:
    schema = Draft202012Validator(json_schema(SchemaName.RESULT))
    for example in EXAMPLES:
        schema.validate(run("audit", example.path, "--json").json())


def test_shipped_backend_files_fit() -> None:
    schema = Draft202012Validator(json_schema(SchemaName.CONFIG))
    for path in shipped_backends().values():
        # YAML 1.2 reads `off` as text, as editors do; PyYAML reads YAML 1.1.
        text = path.read_text("utf-8").replace("cache: off", 'cache: "off"')
        schema.validate(yaml.safe_load(text))


def test_an_unknown_name_lists_the_known_ones(run: Run) -> None:
    done = run("schema", "output")
    assert done.status == 2
    assert "'input', 'result', 'config'" in done.err
