"""The official scorer's files: answers out in its layout, results back in as a judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.results.official import export_answers, import_results
from stateauditor.experiments.results.summary import summary_of
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.judge import Rubric
from tests.experiments.records import run_folder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return run_folder(tmp_path / "run", 4, judges={"loop": True}, controls=1, failed=1)


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def scored(uid: str, **verdicts: Any) -> dict[str, Any]:
    return {"uid": uid, **({"dim1": True, "dim2": False, "dim3": True} | verdicts)}


def test_answers_are_in_the_scorers_layout(folder: RunFolder) -> None:
    answers = export_answers(folder)
    assert set(answers) == {"summary", "data"}
    first = answers["data"][0]
    assert first["uid"] == "u001"
    assert first["target_model_responses"] == {
        "dim1_response": "reply to u001 SR",
        "dim2_response": "reply to u001 PR",
        "dim3_response": "reply to u001 IPA",
    }
    assert first["target_model_meta"]["arm"] == "strict_vta"


def test_failed_scenarios_and_controls_are_no_answers(folder: RunFolder) -> None:
    answers = export_answers(folder)
    assert [entry["uid"] for entry in answers["data"]] == ["u001", "u002", "u003", "u004"]
    assert answers["summary"]["left_out"] == ["f001"]


@pytest.mark.parametrize(
    "layout",
    [
        lambda entries: entries,
        lambda entries: {"summary": {"n": 2}, "data": entries},
        lambda entries: {"results": entries},
        lambda entries: {entry["uid"]: entry for entry in entries},
        lambda entries: [
            {"uid": e["uid"], "evaluation": {k: v for k, v in e.items() if k != "uid"}}
            for e in entries
        ],
    ],
    ids=["list", "data", "results", "by uid", "nested"],
)
def test_results_become_a_judge_of_their_own(
    folder: RunFolder, tmp_path: Path, layout: Any
) -> None:
    results = layout([scored("u001"), scored("u002")])
    assert import_results(folder, write(tmp_path / "r.json", results)) == 2
    records = {item.uid: item for item in folder.items()}
    verdicts = {d: p.passed for d, p in records["u001"].judgments["official"].probes.items()}
    assert verdicts == {"SR": True, "PR": False, "IPA": True}
    assert records["u001"].judgments["loop"].probes["PR"].passed, "other judges stay"
    assert records["u003"].judgments["official"].error == "not among the imported results"
    assert "official" not in records["c001"].judgments


@pytest.mark.parametrize(
    ("verdict", "passed"),
    [
        (True, True),
        (0, False),
        ("Pass", True),
        ("incorrect", False),
        ({"passed": "yes", "reason": "because"}, True),
        ({"score": 0}, False),
    ],
)
def test_verdicts_are_read_in_every_documented_form(
    folder: RunFolder, tmp_path: Path, verdict: Any, passed: bool
) -> None:
    import_results(folder, write(tmp_path / "r.json", [scored("u001", dim1=verdict)]))
    judged = next(i for i in folder.items() if i.uid == "u001").judgments["official"].probes["SR"]
    assert judged.passed is passed
    assert judged.reason == ("because" if isinstance(verdict, dict) and passed else "")


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ("text", "expected one entry a scenario"),
        ([], "holds no scenario"),
        ([{"dim1": True}], "entry 1 has no uid"),
        ([{"uid": "u001", "dim1": True, "dim2": True}], "no verdict for IPA"),
        ([scored("u001", dim3="perhaps")], "cannot read the verdict 'perhaps'"),
        ([scored("u001", dim3=0.5)], "cannot read the verdict"),
        ([scored("u001"), scored("u001")], "occurs twice"),
        ([scored("elsewhere")], "not in"),
        ([scored("c001")], "not in"),
    ],
)
def test_another_layout_is_refused_and_changes_nothing(
    folder: RunFolder, tmp_path: Path, results: Any, message: str
) -> None:
    before = folder.items_path.read_bytes()
    with pytest.raises(InputError, match=message):
        import_results(folder, write(tmp_path / "r.json", results))
    assert folder.items_path.read_bytes() == before


def test_a_file_that_is_no_json_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("uid,dim1\n", "utf-8")
    with pytest.raises(InputError, match="not valid JSON"):
        import_results(folder, tmp_path / "r.json")
    with pytest.raises(InputError, match="cannot be read"):
        import_results(folder, tmp_path / "missing.json")


def test_imported_results_have_no_stricter_rubric(folder: RunFolder, tmp_path: Path) -> None:
    results = [scored(f"u00{n}") for n in range(1, 5)]
    import_results(folder, write(tmp_path / "r.json", results))
    rows = {(scores.judge, scores.rubric) for scores in summary_of(folder).scores}
    assert ("official", Rubric.BENCHMARK) in rows
    assert ("majority", Rubric.BENCHMARK) in rows
    assert ("official", Rubric.GROUNDED) not in rows
    assert ("majority", Rubric.GROUNDED) not in rows
