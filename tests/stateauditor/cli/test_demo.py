"""``stateauditor demo`` and the examples behind it."""

from __future__ import annotations

import pytest

from stateauditor.cli.demos import EXAMPLES, Example
from tests.stateauditor.cli.conftest import Run


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_example_is_a_whole_input(example: Example) -> None:
    given = example.load()
    assert len(given.pairs) == 1
    assert len(given.memory) > 4


def test_the_demo_shows_before_and_after(run: Run) -> None:
    done = run("demo")
    assert done.status == 0
    assert done.err == ""
    for example in EXAMPLES:
        assert example.title in done.out
    assert done.out.count("\nbefore    ") == 4
    assert done.out.count("\nafter     the same, byte for byte\n") == 2
    assert "repair + correct_and_inform" in done.out
    assert "lexical rules, not from a model" in done.out
    assert "never meaning" in done.out


def test_the_demo_as_json_repairs_what_it_should(run: Run) -> None:
    examples = run("demo", "--json").json()["examples"]
    changed = {example["name"]: example["result"]["changed"] for example in examples}
    assert changed == {example.name: example.repaired for example in EXAMPLES}
    assert all(e["result"]["backend"] == "offline (lexical rules)" for e in examples)
