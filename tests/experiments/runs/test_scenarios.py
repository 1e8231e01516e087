"""Where scenarios come from: bundled slices, folders, files; chosen by part, list and limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stateauditor.data.frozen import load_frozen
from stateauditor.data.scenario import Dimension
from stateauditor.data.slices import load_slice
from stateauditor.experiments.runs.scenarios import file_sha256, open_source
from stateauditor.experiments.runs.spec import DataSpec, Part
from stateauditor.signatures.errors import InputError
from tests.experiments.pipeline import write_scenarios


def source(**settings: Any) -> Any:
    return open_source(DataSpec(**settings))


def test_a_file_is_streamed_in_its_order_up_to_the_limit(tmp_path: Path) -> None:
    path = write_scenarios(tmp_path / "data.json", 5)
    found = source(path=path, limit=3)
    assert found.uids == ("u001", "u002", "u003")
    assert [item.uid for item in found] == ["u001", "u002", "u003"]
    assert [item.uid for item in found] == ["u001", "u002", "u003"], "it can be read again"
    assert (found.name, found.sha256) == ("data.json", file_sha256(path))
    assert (found.controls, dict(found.gold), dict(found.drafts)) == (frozenset(), {}, {})


def test_the_bundled_slice_has_keys_drafts_and_controls() -> None:
    found = source(set="stale_mini", part="both")
    bundled = load_slice("stale_mini")
    assert len(found.uids) == len(bundled.conflicts) + len(bundled.controls)
    assert found.controls == {item.uid for item in bundled.controls}
    assert set(found.gold) == set(found.uids) == set(found.drafts)
    assert found.drafts[found.uids[0]][Dimension.SR]
    assert found.sha256 == bundled.sha256
    assert "gold" not in repr(found)


@pytest.mark.parametrize("part", list(Part))
def test_parts_choose_conflicts_controls_or_both(part: Part) -> None:
    found = source(set="stale_mini", part=part, limit=2)
    controls = [uid in found.controls for uid in found.uids]
    assert (
        controls
        == {
            Part.CONFLICTS: [False, False],
            Part.CONTROLS: [True, True],
            Part.BOTH: [False, False, True, True],
        }[part]
    )


def test_a_limited_slice_pairs_conflicts_with_their_own_controls() -> None:
    found = source(set="stale_mini", part="both", limit=2)
    keys = load_slice("stale_mini").keys
    conflicts = [uid for uid in found.uids if uid not in found.controls]
    assert [keys[uid].control_uid for uid in conflicts] == list(found.uids[2:])


def test_gold_marks_controls() -> None:
    found = source(set="stale_mini", part="both")
    assert {uid for uid, gold in found.gold.items() if gold.control} == found.controls


def test_a_folder_with_a_slice_is_a_source(tmp_path: Path) -> None:
    folder = tmp_path / "slice"
    folder.mkdir()
    write_scenarios(folder / "conflicts.json", 2)
    assert source(path=folder).uids == ("u001", "u002")


def test_a_frozen_list_restricts_and_is_on_record() -> None:
    frozen = load_frozen("stale_mini_dev")
    found = source(set="stale_mini", frozen="stale_mini_dev")
    assert set(found.uids) == set(frozen.ids)
    assert found.frozen.sha256 == frozen.sha256
    both = source(set="stale_mini", frozen="stale_mini_dev", part="both")
    assert len(both.uids) == 2 * len(frozen.ids), "the controls are those of the list's conflicts"


def test_a_frozen_id_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lacks \d+ id\(s\) of the frozen list"):
        source(path=write_scenarios(tmp_path / "data.json", 2), frozen="stale_mini_dev")


def test_a_missing_file_is_said_and_how_to_get_a_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        source(path=tmp_path / "gone.json")
    monkeypatch.setenv("STATEAUDITOR_DATA", str(tmp_path))
    with pytest.raises(InputError, match="run `stateauditor data fetch stale` first"):
        source(set="stale")


def test_a_broken_record_is_said_before_anything_runs(tmp_path: Path) -> None:
    path = write_scenarios(tmp_path / "data.json", 2)
    records = json.loads(path.read_text("utf-8"))
    records[1]["type"] = "T3"
    path.write_text(json.dumps(records), "utf-8")
    with pytest.raises(InputError, match="u002"):
        source(path=path)
