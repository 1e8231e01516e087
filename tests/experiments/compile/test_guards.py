"""What may not be compiled on: ids outside a frozen list, and lists that are too long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.frozen import FrozenList, ids_sha256, load_frozen
from stateauditor.data.slices import load_slice
from stateauditor.experiments.compile.guards import load_list
from stateauditor.experiments.compile.parts import examples_of, load_parts, split_scenarios
from stateauditor.experiments.compile.spec import CompileSpec, parse_compile_spec
from stateauditor.signatures.errors import ConfigError, InputError
from tests.experiments.compile.learner import IDS
from tests.experiments.pipeline import write_scenarios


def spec(**data: Any) -> CompileSpec:
    whole = {"frozen": "stale_mini_dev", **data}
    whole.setdefault("set", None if "path" in data else "stale_mini")
    return parse_compile_spec(
        {"name": "t", "data": whole, "optimizer": {"name": "bootstrap_few_shot"}}, source="t"
    )


def frozen_file(path: Path, ids: tuple[str, ...]) -> str:
    path.write_text(
        json.dumps(
            {
                "name": path.stem,
                "dataset": "d",
                "revision": "r",
                "seed": 42,
                "count": len(ids),
                "ids": ids,
                "sha256": ids_sha256(ids),
            }
        ),
        "utf-8",
    )
    return str(path)


# --- compiling ------------------------------------------------------------------------


def test_an_id_outside_the_list_is_refused_by_name() -> None:
    with pytest.raises(InputError) as told:
        load_parts(spec(ids=[IDS[0], "stranger-1", "stranger-2"]))
    assert str(told.value) == (
        "data.ids touches 2 id(s) outside the frozen list 'stale_mini_dev': stranger-1, stranger-2"
    )


def test_a_control_is_no_id_of_the_list() -> None:
    control = load_slice("stale_mini").controls[0].uid
    with pytest.raises(InputError, match=f"outside the frozen list 'stale_mini_dev': {control}"):
        load_parts(spec(ids=[IDS[0], control]))


def test_a_list_of_more_than_fifty_is_refused_with_the_ids_named(tmp_path: Path) -> None:
    ids = tuple(f"id-{n:02d}" for n in range(53))
    with pytest.raises(InputError, match=r"at most 50; beyond the first 50: id-50, id-51, id-52$"):
        load_list(frozen_file(tmp_path / "long.json", ids))


@pytest.mark.parametrize("content", ["{", "[]", '{"ids": 3}'])
def test_a_list_that_cannot_be_read_is_told_as_such(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"odd\.json"):
        load_list(str(path))


def test_a_list_put_together_by_hand_is_refused(tmp_path: Path) -> None:
    own = frozen_file(tmp_path / "mine.json", (IDS[5], IDS[9]))
    with pytest.raises(InputError, match="is not the draw with seed 42"):
        load_parts(spec(frozen=own))
    swapped = frozen_file(tmp_path / "swapped.json", (IDS[1], IDS[0], *IDS[2:]))
    with pytest.raises(InputError, match="the order differs"):
        load_parts(spec(frozen=swapped))


def test_a_list_that_was_drawn_from_the_data_may_be_used(tmp_path: Path) -> None:
    drawn = frozen_file(tmp_path / "drawn.json", IDS)
    assert load_parts(spec(frozen=drawn, limit=4)).used


def test_one_scenario_cannot_be_split() -> None:
    with pytest.raises(InputError, match="1 scenario"):
        load_parts(spec(ids=[IDS[0]]))


def test_data_without_drafts_need_a_run_that_has_them(tmp_path: Path) -> None:
    path = write_scenarios(tmp_path / "s.json", 4)
    drawn = FrozenList("x", "d", "r", ("u001", "u002"))
    listed = frozen_file(tmp_path / "l.json", drawn.ids)
    with pytest.raises(InputError, match="not the draw"):
        load_parts(spec(path=path, frozen=listed, controls=False))
    from stateauditor.data.frozen import draw_dev_slice

    ids = draw_dev_slice({"T1": ["u001", "u003"], "T2": ["u002", "u004"]}, 4)
    listed = frozen_file(tmp_path / "l.json", ids)
    with pytest.raises(ConfigError, match="ships no drafts; set drafts_from"):
        load_parts(spec(path=path, frozen=listed))


# --- the split ------------------------------------------------------------------------


def test_both_parts_are_split_by_scenario_stratified_and_by_seed() -> None:
    types = {f"u{n}": "T1" if n < 8 else "T2" for n in range(12)}
    train = split_scenarios(types, 0.5, 7)
    assert sum(types[uid] == "T1" for uid in train) == 4
    assert sum(types[uid] == "T2" for uid in train) == 2
    assert split_scenarios(dict(reversed(types.items())), 0.5, 7) == train
    assert split_scenarios(types, 0.5, 8) != train


def test_neither_part_is_ever_empty() -> None:
    types = {"a": "T1", "b": "T2"}
    for share in (0.01, 0.5, 0.99):
        assert len(split_scenarios(types, share, 1)) == 1


def test_a_control_stands_on_the_side_of_its_conflict() -> None:
    parts = load_parts(spec(limit=6))
    assert len(parts.used) == 12
    assert len(parts.train) == 6
    sides = {case.group: set[bool]() for case in parts.cases.values()}
    for case in parts.cases.values():
        sides[case.group].add(case.train)
    assert all(len(side) == 1 for side in sides.values())
    assert set(sides) == set(IDS[:6])


def test_examples_hold_nothing_that_only_the_judge_may_see() -> None:
    parts = load_parts(spec(limit=4))
    examples = examples_of(parts, "train", 42)
    assert len(examples) == 3 * len(parts.train)
    assert set(examples[0].keys()) == {"scenario", "dimension", "question", "draft"}
    said = repr(examples)
    for case in parts.cases.values():
        assert case.gold.m_new not in said
        assert case.gold.m_new not in repr(case)


def test_the_seed_orders_the_examples() -> None:
    parts = load_parts(spec(limit=12, controls=False))
    orders = [[e.scenario for e in examples_of(parts, "train", seed)] for seed in (1, 1, 3)]
    assert orders[0] == orders[1] != orders[2]
    assert len(set(orders[0][:3])) == 3, "the first demonstrations come from different scenarios"


def test_the_committed_list_is_what_it_was() -> None:
    assert load_list("stale_mini_dev") == load_frozen("stale_mini_dev")
