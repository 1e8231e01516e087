"""The bundled slice is whole, and a slice of one's own is held to the same rules."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.packing import pack_slice, packed
from stateauditor.data.scenario import Dimension
from stateauditor.data.slices import ControlKind, Slice, load_slice
from stateauditor.signatures.errors import InputError
from tests.data.records import record, write_json

DRAFTS = {"dim1": "Yes, Denver.", "dim2": "In Denver.", "dim3": "Go to the foothills."}


def key(**changes: Any) -> dict[str, Any]:
    return {
        "control_uid": "k1",
        "attribute": "home city",
        "domain": "housing",
        "old_value": "lives in Denver",
        "new_value": "lives in Milwaukee",
        "causal_path": ["keys", "home"],
        "stale_drafts": DRAFTS,
        "good_responses": {name: f"good {name}" for name in DRAFTS},
        "control_kind": "past",
        "control_quote": "the quote",
        **changes,
    }


def write_slice(folder: Path, **parts: Any) -> Path:
    contents = {"conflicts": [record("u1")], "controls": [record("k1")], "keys": {"u1": key()}}
    folder.mkdir(exist_ok=True)
    for part, content in {**contents, **parts}.items():
        if content is not None:
            write_json(folder / f"{part}.json", content)
    return folder


@pytest.fixture(scope="module")
def mini() -> Slice:
    return load_slice("stale_mini")


# --- the bundled slice ----------------------------------------------------------


def test_the_bundled_slice_is_whole(mini: Slice) -> None:
    assert len(mini.conflicts) == len(mini.controls) == len(mini.keys) == 28
    assert {item.uid for item in mini} == set(mini.drafts)
    assert {k.control_kind for k in mini.keys.values()} == set(ControlKind)
    for items in (mini.conflicts, mini.controls):
        assert [item.type.value for item in items].count("T1") == 14
        assert all(len(item.scenario.sessions) == 50 for item in items)


def test_its_gold_statements_stand_word_for_word_in_their_sessions(mini: Slice) -> None:
    for item in mini:
        for index, text in (
            (item.oracle.old, item.judge.m_old),
            (item.oracle.new, item.judge.m_new),
        ):
            turns = item.scenario.sessions[index].turns
            said = [turn.content for turn in turns if turn.role == "user"]
            assert sum(text.reveal() in content for content in said) == 1


def test_its_controls_hold_the_old_state_of_their_conflict(mini: Slice) -> None:
    controls = {item.uid: item for item in mini.controls}
    for conflict in mini.conflicts:
        k = mini.keys[conflict.uid]
        control = controls[k.control_uid]
        assert control.judge.m_old == conflict.judge.m_old
        assert control.judge.m_new == k.control_quote
        assert control.scenario.probes == conflict.scenario.probes
        assert mini.drafts[control.uid] == mini.drafts[conflict.uid]
        assert mini.is_control(control.uid)
        assert not mini.is_control(conflict.uid)


def test_it_ships_with_its_notice_and_licence_and_stays_small() -> None:
    folder = files("stateauditor.data") / "slices/stale_mini"
    assert "geniesinc/Memora" in (folder / "NOTICE").read_text("utf-8")
    assert "Apache License" in (folder / "LICENSE-MEMORA").read_text("utf-8")
    sizes = [len(entry.read_bytes()) for entry in folder.iterdir() if entry.name.endswith(".gz")]
    assert sum(sizes) < 2_500_000


def test_its_compressed_files_hold_no_time_and_no_name() -> None:
    for part in ("conflicts", "controls", "keys"):
        content = (files("stateauditor.data") / f"slices/stale_mini/{part}.json.gz").read_bytes()
        assert content[3:8] == b"\0\0\0\0\0"


# --- packing ----------------------------------------------------------------------


def test_packing_is_deterministic_and_loses_nothing(tmp_path: Path) -> None:
    content = b'{"a": "b"}' * 1000
    assert packed(content) == packed(content)
    assert gzip.decompress(packed(content)) == content
    source = write_slice(tmp_path / "s")
    target = tmp_path / "packed" / "s"
    assert [path.name for path in pack_slice(source, target)] == [
        "conflicts.json.gz",
        "controls.json.gz",
        "keys.json.gz",
    ]
    assert load_slice(target) == load_slice(source)


# --- slices of one's own ----------------------------------------------------------


def test_a_folder_is_a_slice(tmp_path: Path) -> None:
    loaded = load_slice(write_slice(tmp_path / "mine"))
    assert loaded.name == "mine"
    assert [item.uid for item in loaded] == ["u1", "k1"]
    k = loaded.keys["u1"]
    assert k.new_value.reveal() == "lives in Milwaukee"
    assert [node.reveal() for node in k.causal_path] == ["keys", "home"]
    assert k.good_responses[Dimension.PR].reveal() == "good dim2"
    assert loaded.drafts["k1"][Dimension.IPA] == DRAFTS["dim3"]


def test_controls_and_keys_may_be_absent(tmp_path: Path) -> None:
    loaded = load_slice(write_slice(tmp_path / "s", controls=None, keys=None))
    assert len(loaded.conflicts) == 1
    assert loaded.controls == ()
    assert not loaded.keys
    assert not loaded.drafts


def test_the_checksum_is_over_the_unpacked_contents(tmp_path: Path) -> None:
    folder = write_slice(tmp_path / "s", controls=None, keys=None)
    content = (folder / "conflicts.json").read_bytes()
    expected = hashlib.sha256(f"conflicts {len(content)}\n".encode() + content).hexdigest()
    assert load_slice(folder).sha256 == expected


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"keys": {"zz": key()}}, "key of uid 'zz': no conflict has this uid"),
    ({"keys": {"u1": key(control_uid="zz")}}, "uid 'u1', field 'control_uid': no control"),
    ({"keys": {}}, "conflict with uid 'u1' has no key"),
    ({"keys": {"u1": key(control_kind="odd")}}, "field 'control_kind': must be one of hypo"),
    ({"keys": {"u1": key(note="x")}}, "field 'note': is unknown"),
    ({"keys": {"u1": key(stale_drafts={"dim1": "x"})}}, r"field 'stale_drafts.dim2': is missing"),
    ({"keys": {"u1": key(causal_path=[1])}}, r"field 'causal_path\[0\]': must be text"),
    ({"conflicts": [record("u1", type="T4")]}, r"conflicts.json: record 1 \(uid 'u1'\)"),
    ({"controls": [record("u1")]}, "uid 'u1', field 'uid': occurs twice"),
    ({"conflicts": {}}, "must be a list"),
]


@pytest.mark.parametrize(("parts", "problem"), BROKEN)
def test_a_broken_slice_names_uid_and_field(
    tmp_path: Path, parts: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        load_slice(write_slice(tmp_path / "s", **parts))


def corrupt(folder: Path) -> None:
    (folder / "keys.json.gz").write_bytes(packed(b"{}")[:-6])


def unparsable(folder: Path) -> None:
    (folder / "keys.json").write_text("{")


def without_conflicts(folder: Path) -> None:
    (folder / "conflicts.json").unlink()


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (corrupt, "damaged or cut off"),
        (unparsable, "keys.json: not valid JSON"),
        (without_conflicts, "holds no conflicts.json"),
    ],
)
def test_an_unreadable_slice_is_an_input_error(
    tmp_path: Path, spoil: Callable[[Path], None], problem: str
) -> None:
    folder = write_slice(tmp_path / "s")
    spoil(folder)
    with pytest.raises(InputError, match=problem):
        load_slice(folder)


def test_an_unknown_slice_lists_the_bundled_ones() -> None:
    with pytest.raises(InputError, match=r"bundled slice \(stale_mini\)"):
        load_slice("nothing")
