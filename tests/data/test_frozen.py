"""Development slices are small, drawn the same way everywhere, and cannot be edited."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateauditor.data.freezing import freeze
from stateauditor.data.frozen import (
    LIMIT,
    FrozenList,
    committed,
    draw_dev_slice,
    ids_sha256,
    load_frozen,
)
from stateauditor.data.slices import load_slice
from stateauditor.signatures.errors import InputError

IDS = {"T1": [f"a{i}" for i in range(200)], "T2": [f"b{i}" for i in range(200)]}


def test_the_draw_is_pinned() -> None:
    # By hand: printf '42\\na35\\n' | sha256sum, and so on for each id; then sort.
    assert draw_dev_slice(IDS, 6) == ("a35", "b198", "a30", "b175", "a168", "b145")


def test_the_draw_does_not_depend_on_the_order_of_the_input() -> None:
    shuffled = {name: random.Random(1).sample(ids, len(ids)) for name, ids in IDS.items()}
    assert draw_dev_slice(dict(reversed(shuffled.items()))) == draw_dev_slice(IDS)


def test_another_seed_draws_others() -> None:
    assert draw_dev_slice(IDS, seed=43) != draw_dev_slice(IDS)


def test_types_alternate_so_that_every_prefix_is_stratified() -> None:
    drawn = draw_dev_slice(IDS)
    assert len(drawn) == LIMIT
    for length in range(LIMIT + 1):
        assert abs(sum(1 if uid[0] == "a" else -1 for uid in drawn[:length])) <= 1


@given(
    st.dictionaries(st.sampled_from(["T1", "T2", "T3"]), st.integers(0, 60), min_size=1),
    st.integers(1, LIMIT),
)
def test_each_type_gets_its_share(sizes: dict[str, int], n: int) -> None:
    drawn = draw_dev_slice({k: [f"{k}-{i}" for i in range(v)] for k, v in sizes.items()}, n)
    total = sum(sizes.values())
    assert len(set(drawn)) == len(drawn) == min(n, total)
    for name, size in sizes.items():
        share = sum(uid.startswith(f"{name}-") for uid in drawn)
        assert abs(share - min(n, total) * size / (total or 1)) < 1


@pytest.mark.parametrize("n", [0, -1, 51])
def test_a_draw_of_a_wrong_size_is_refused(n: int) -> None:
    with pytest.raises(InputError, match="1 to 50 ids"):
        draw_dev_slice(IDS, n)


def test_repeated_ids_are_refused() -> None:
    with pytest.raises(InputError, match="twice"):
        draw_dev_slice({"T1": ["x"], "T2": ["x"]})


# --- committed lists ----------------------------------------------------------


@pytest.mark.parametrize("name", committed())
def test_every_committed_list_loads(name: str) -> None:
    assert load_frozen(name).name == name


def test_the_bundled_slices_list_is_its_draw() -> None:
    frozen = load_frozen("stale_mini_dev")
    assert frozen == freeze("stale_mini", "stale_mini_dev")
    assert frozen.revision == f"sha256:{load_slice('stale_mini').sha256}"
    train, validation = frozen.split(14)
    types = {item.uid: item.type.value for item in load_slice("stale_mini").conflicts}
    for part in (train, validation):
        assert sorted(types[uid] for uid in part) == ["T1"] * 7 + ["T2"] * 7


@pytest.mark.parametrize("train", [0, 28, 29])
def test_a_split_keeps_both_parts(train: int) -> None:
    with pytest.raises(InputError, match="keep some for validation"):
        load_frozen("stale_mini_dev").split(train)


# --- tampering ------------------------------------------------------------------


def written(tmp_path: Path, **changes: Any) -> Path:
    fields = json.loads(FrozenList("x", "stale", "r1", ("a", "b", "c")).to_json())
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**fields, **changes}))
    return path


def test_a_list_survives_a_round_trip(tmp_path: Path) -> None:
    assert load_frozen(written(tmp_path)) == FrozenList("x", "stale", "r1", ("a", "b", "c"))


MANY = [f"u{i}" for i in range(51)]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"ids": ["a", "b", "d"]}, "field 'sha256': does not fit the ids"),
        ({"ids": ["b", "a", "c"]}, "field 'sha256': does not fit the ids"),
        ({"ids": ["a", "b"]}, "field 'count': says 3, but there are 2"),
        ({"sha256": "0" * 64}, "field 'sha256': does not fit the ids"),
        ({"ids": MANY, "count": 51, "sha256": ids_sha256(MANY)}, "51 ids; .* at most 50"),
        ({"ids": ["a", "a"], "count": 2, "sha256": ids_sha256("aa")}, "holds an id twice"),
        ({"ids": [], "count": 0, "sha256": ids_sha256([])}, "holds no ids"),
        ({"seed": 7}, "drawn with seed 7"),
        ({"note": "x"}, "field 'note': is unknown"),
        ({"ids": [1]}, r"field 'ids\[0\]': must be text"),
        ({"seed": "42"}, "field 'seed': must be a whole number"),
    ],
)
def test_a_changed_list_is_refused(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        load_frozen(written(tmp_path, **changes))


def test_a_list_cannot_be_built_against_the_rules() -> None:
    with pytest.raises(InputError, match="51 ids"):
        FrozenList("x", "stale", "r1", tuple(MANY))
    with pytest.raises(InputError, match="seed 1"):
        FrozenList("x", "stale", "r1", ("a",), seed=1)


def test_unusable_files_and_names_are_input_errors(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        load_frozen(bad)
    with pytest.raises(InputError, match=r"neither a committed list \(stale_mini_dev"):
        load_frozen("nothing")
    with pytest.raises(InputError, match=r"stateauditor data freeze stale --out stale_dev.json"):
        load_frozen("stale_dev")
