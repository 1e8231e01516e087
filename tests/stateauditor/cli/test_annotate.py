"""``stateauditor annotate``: a package out, labels back in, mistakes in one message."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from stateauditor.experiments.annotation.package import Key
from stateauditor.experiments.runs.folder import RunFolder
from tests.experiments.annotation.packages import fill, make_run, write_data
from tests.stateauditor.cli.conftest import Run


@pytest.fixture
def trial(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run", write_data(tmp_path / "data.json", 4))


def key_of(package: Path) -> Key:
    return Key.model_validate_json((package / "key.json").read_bytes())


def test_labels_go_out_blind_and_come_back_as_figures(
    run: Run, tmp_path: Path, trial: RunFolder
) -> None:
    out = tmp_path / "blind"
    done = run("annotate", "export", trial.path, "--out", out, "--annotators", "anna,ben")
    assert done.status == 0
    assert "12 cells of 4 scenarios; reply, draft" in done.out
    assert "20 answers to label on each sheet (4 more are the same as one of them)" in done.out
    assert "anna: sheet_anna.html or sheet_anna.csv" in done.out
    assert hashlib.sha256((out / "manifest.json").read_bytes()).hexdigest() in done.out
    assert "key.json unblinds, and must not reach them" in done.err
    assert "only 12 cells have a text of every system; 100 were asked for" in done.err
    files = [
        fill(
            out,
            key_of(out),
            name,
            lambda item: "pass" if "reply" in item.systems else "fail",
            tmp_path / f"{name}.csv",
        )
        for name in ("anna", "ben")
    ]
    back = run("annotate", "import", out, files[0], f"ben={files[1]}")
    assert back.status == 0
    assert "reply against draft" in back.out
    assert "8:0" in back.out
    assert f"written: {out / 'annotation.json'}, {out / 'annotation.md'}" in back.out
    assert (out / "annotation.md").read_text("utf-8") in back.out
    found = run("annotate", "import", out, *files, "--json").json()
    assert [a["pairs"][0]["fixed"] for a in found["annotators"]] == [8, 8]
    assert found["between"][0]["kappa"]["estimate"] == 1.0


def test_several_runs_are_compared_by_their_replies(
    run: Run, tmp_path: Path, trial: RunFolder
) -> None:
    other = make_run(
        tmp_path / "other", tmp_path / "data.json", name="other", reply=lambda u, d: f"Go {d}."
    )
    out = tmp_path / "blind"
    command = ("annotate", "export", trial.path, other.path, "--out", out, "--json")
    found = run(*command, "--with-draft", "--cells", "6", "--seed", "7").json()
    assert [system["name"] for system in found["systems"]] == ["Trial-Run", "other", "draft"]
    assert (found["cells"], found["seed"], found["wanted"]) == (6, 7, 6)
    assert run(*command).status == 2
    assert run(*command, "--force").json()["cells"] == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--annotators", "anna,anna"), "annotator 'anna' is named twice"),
        (("--annotators", "a/b"), "a name has up to 40 letters"),
        (("--cells", "0"), "Invalid value for '--cells'"),
    ],
)
def test_wrong_options_are_one_message(
    run: Run, tmp_path: Path, trial: RunFolder, arguments: tuple[str, ...], message: str
) -> None:
    done = run("annotate", "export", trial.path, "--out", tmp_path / "blind", *arguments)
    assert done.status == 2
    assert message in " ".join(done.err.split())
    assert not (tmp_path / "blind").exists()


def test_a_wrong_label_ends_with_its_line_and_writes_nothing(
    run: Run, tmp_path: Path, trial: RunFolder
) -> None:
    out = tmp_path / "blind"
    assert run("annotate", "export", trial.path, "--out", out).status == 0
    path = fill(out, key_of(out), "annotator1", lambda item: "ok", tmp_path / "a.csv")
    done = run("annotate", "import", out, path)
    assert done.status == 2
    assert "line 2 (row 2 of a spreadsheet): the label 'ok' of item" in done.err
    assert "is none of pass, fail, unsure" in done.err
    assert not (out / "annotation.json").exists()


def test_what_is_no_package_or_no_run_is_said(run: Run, tmp_path: Path) -> None:
    done = run("annotate", "import", tmp_path, tmp_path / "a.csv")
    assert done.status == 2
    assert "holds no package of sheets" in done.err
    done = run("annotate", "export", tmp_path, "--out", tmp_path / "blind")
    assert done.status == 2
    assert "is no run folder" in done.err
