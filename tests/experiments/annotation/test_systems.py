"""Which systems are compared, and which cells they have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateauditor.experiments.annotation.systems import cells_of
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.signatures.errors import ConfigError
from tests.experiments.annotation.packages import drafted, make_run, replied, write_data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data.json", 4)


def test_one_run_is_its_replies_against_its_drafts(tmp_path: Path, data: Path) -> None:
    run = make_run(tmp_path / "run", data, controls=["u002"], failed=["u003"])
    systems, cells = cells_of([run])
    assert [(s.name, s.phase) for s in systems] == [("reply", "reply"), ("draft", "draft")]
    assert [(c.uid, c.dimension) for c in cells] == [
        (uid, d) for uid in ("u001", "u004") for d in ("SR", "PR", "IPA")
    ]
    assert cells[0].answers == {"reply": replied("u001", "SR"), "draft": drafted("u001", "SR")}
    assert (cells[0].type, cells[-1].type) == ("T1", "T2")


def test_several_runs_are_their_replies_and_drafts_only_when_asked(
    tmp_path: Path, data: Path
) -> None:
    one = make_run(tmp_path / "a", data, name="one", judges={"j": lambda uid, d: d == "SR"})
    two = make_run(tmp_path / "b", data, name="two", reply=lambda uid, d: f"Two on {d}.")
    systems, cells = cells_of([one, two])
    assert [s.name for s in systems] == ["one", "two"]
    assert cells[1].verdicts == {"j": {"one": False}}
    systems, cells = cells_of([one, two], with_draft=True)
    assert [s.name for s in systems] == ["one", "two", "draft"]
    assert cells[0].answers["draft"] == drafted("u001", "SR")


def test_a_cell_needs_a_text_of_every_system(tmp_path: Path, data: Path) -> None:
    def silent(uid: str, dimension: str) -> str | None:
        return {"u001": None, "u002": "  \n"}.get(uid, replied(uid, dimension))

    one, two = make_run(tmp_path / "a", data), make_run(tmp_path / "b", data, reply=silent)
    assert {cell.uid for cell in cells_of([two])[1]} == {"u003", "u004"}
    with pytest.raises(ConfigError, match="the same text in all 6 cells"):
        cells_of([one, two])


def test_runs_of_one_name_go_by_their_folders(tmp_path: Path, data: Path) -> None:
    one, two = (
        make_run(tmp_path / n, data, reply=lambda uid, d, n=n: f"{n} says.") for n in ("a", "b")
    )
    assert [s.name for s in cells_of([one, two])[0]] == [
        f"Trial-Run ({tmp_path / 'a'})",
        f"Trial-Run ({tmp_path / 'b'})",
    ]


def test_runs_on_other_data_are_refused(tmp_path: Path, data: Path) -> None:
    one = make_run(tmp_path / "a", data)
    two = make_run(tmp_path / "b", write_data(tmp_path / "other.json", 5))
    with pytest.raises(ConfigError, match="not on the same scenarios"):
        cells_of([one, two])


def test_a_run_named_twice_is_refused(tmp_path: Path, data: Path) -> None:
    run = make_run(tmp_path / "a", data)
    with pytest.raises(ConfigError, match="are the same run"):
        cells_of([run, RunFolder(run.path)])


def test_drafts_that_differ_are_no_common_system(tmp_path: Path, data: Path) -> None:
    one = make_run(tmp_path / "a", data)
    two = make_run(
        tmp_path / "b",
        data,
        reply=lambda uid, d: f"Two on {d}.",
        draft=lambda uid, d: "Other." if (uid, d) == ("u001", "PR") else drafted(uid, d),
    )
    with pytest.raises(ConfigError, match="drafts differ in 1 of 12 cells"):
        cells_of([one, two], with_draft=True)


def test_a_run_without_any_common_text_is_refused(tmp_path: Path, data: Path) -> None:
    run = make_run(tmp_path / "a", data, draft=lambda uid, d: None)
    with pytest.raises(ConfigError, match=r"no probe with a change has a text of every system"):
        cells_of([run])
