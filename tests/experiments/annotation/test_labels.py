"""Filled sheets are read only where they are the frozen ones with nothing but labels added."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from stateauditor.experiments.annotation.labels import read_filled
from stateauditor.experiments.annotation.package import Key, Manifest
from stateauditor.experiments.annotation.rules import Label
from stateauditor.experiments.annotation.unblind import import_labels
from stateauditor.experiments.annotation.verify import load_package
from stateauditor.signatures.errors import InputError
from tests.experiments.annotation.packages import (
    export,
    fill,
    make_run,
    rows,
    sheet,
    write_data,
    write_rows,
)


@dataclass(frozen=True)
class Package:
    """A folder with what it holds."""

    path: Path
    manifest: Manifest
    key: Key

    def read(self, *files: str | Path) -> dict[str, dict[str, Label | None]]:
        found = read_filled(self.path, self.manifest, self.key, [str(f) for f in files])
        return {f.annotator: dict(f.labels) for f in found}


@pytest.fixture
def package(tmp_path: Path) -> Package:
    run = make_run(tmp_path / "run", write_data(tmp_path / "data.json", 4))
    return Package(tmp_path / "out", *export(run, tmp_path / "out", annotators=("anna", "ben")))


def passed(package: Package, to: Path, annotator: str = "anna") -> Path:
    return fill(package.path, package.key, annotator, lambda item: "pass", to)


# --- whose they are ------------------------------------------------------------------


def test_ids_tell_whose_sheet_it_is_whatever_its_name_and_order(
    tmp_path: Path, package: Package
) -> None:
    content = rows(passed(package, tmp_path / "x.csv", "ben"))
    shuffled = write_rows(tmp_path / "sheet_anna.csv", content[::-1], delimiter=";")
    found = package.read(shuffled)
    assert set(found) == {"ben"}
    assert set(found["ben"].values()) == {Label.PASS}


def test_a_named_file_must_be_of_that_annotator(tmp_path: Path, package: Package) -> None:
    path = passed(package, tmp_path / "x.csv", "ben")
    assert set(package.read(f"ben={path}")) == {"ben"}
    with pytest.raises(InputError, match="this is the sheet of ben, not of anna"):
        package.read(f"anna={path}")
    with pytest.raises(InputError, match="'carl' is no annotator of this package; it has anna"):
        package.read(f"carl={path}")


def test_two_files_of_one_annotator_are_refused(tmp_path: Path, package: Package) -> None:
    one, two = (passed(package, tmp_path / name) for name in ("1.csv", "2.csv"))
    with pytest.raises(InputError, match=r"1\.csv and .*2\.csv are both the sheet of anna"):
        package.read(one, two)


def test_a_sheet_of_another_package_is_refused(tmp_path: Path, package: Package) -> None:
    run = make_run(tmp_path / "other", write_data(tmp_path / "other.json", 4))
    other = Package(
        tmp_path / "b", *export(run, tmp_path / "b", annotators=("anna", "ben"), seed=7)
    )
    path = passed(other, tmp_path / "x.csv")
    with pytest.raises(InputError, match="none of its 20 items is of this package"):
        package.read(path)
    mixed = rows(passed(package, tmp_path / "y.csv"))
    mixed[0] = rows(passed(package, tmp_path / "z.csv", "ben"))[0]
    with pytest.raises(InputError, match="holds items of anna and ben"):
        package.read(write_rows(tmp_path / "mixed.csv", mixed))


# --- labels ---------------------------------------------------------------------------


def test_labels_are_read_in_any_case_and_may_be_missing(tmp_path: Path, package: Package) -> None:
    content = rows(passed(package, tmp_path / "x.csv"))
    for row, label in zip(content, (" PASS ", "Fail", "unsure", "", "  "), strict=False):
        row["label"] = label
    content[0]["comment"] = "'=well, ja"
    path = write_rows(tmp_path / "x.csv", content)
    labels = package.read(path)["anna"]
    assert [labels[row["item"]] for row in content[:6]] == [
        Label.PASS,
        Label.FAIL,
        Label.UNSURE,
        None,
        None,
        Label.PASS,
    ]
    (filled,) = read_filled(package.path, package.manifest, package.key, [str(path)])
    assert filled.comments == {content[0]["item"]: "=well, ja"}


def test_another_label_is_refused_with_its_line(tmp_path: Path, package: Package) -> None:
    content = rows(passed(package, tmp_path / "x.csv"))
    content[0]["comment"] = "two\nlines"
    content[1]["label"] = "maybe"
    with pytest.raises(InputError) as raised:
        package.read(write_rows(tmp_path / "x.csv", content))
    lines = (tmp_path / "x.csv").read_text("utf-8").splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if content[1]["item"] in line)
    assert (
        f"line {number} (row 3 of a spreadsheet): the label 'maybe' of item "
        f"{content[1]['item']!r} is none of pass, fail, unsure"
    ) in str(raised.value)


def test_problems_are_listed_together_but_not_without_end(tmp_path: Path, package: Package) -> None:
    path = fill(package.path, package.key, "anna", lambda item: "yes", tmp_path / "x.csv")
    with pytest.raises(InputError) as raised:
        package.read(path)
    assert str(raised.value).count("is none of") == 5
    assert str(raised.value).endswith("and 15 more")


# --- nothing else may differ ------------------------------------------------------------


@pytest.mark.parametrize("column", ["question", "old_state", "new_state", "rule", "answer"])
def test_an_altered_text_is_refused(tmp_path: Path, package: Package, column: str) -> None:
    content = rows(passed(package, tmp_path / "x.csv"))
    content[2][column] += " Really."
    words = column.replace("_", " ")
    with pytest.raises(InputError, match=f"row 4 .*the {words} of item .* was altered; only"):
        package.read(write_rows(tmp_path / "x.csv", content))


def test_missing_repeated_and_foreign_rows_are_refused(tmp_path: Path, package: Package) -> None:
    content = rows(passed(package, tmp_path / "x.csv"))
    with pytest.raises(InputError, match=r"1 item\(s\) of the blank sheet are missing, first"):
        package.read(write_rows(tmp_path / "x.csv", content[1:]))
    with pytest.raises(InputError, match=r"stands in line 2 \(row 2 of a spreadsheet\) too"):
        package.read(write_rows(tmp_path / "x.csv", [content[0], *content]))
    foreign = [content[0] | {"item": "zzzz"}, *content]
    with pytest.raises(InputError, match="the item 'zzzz' is not on the blank sheet"):
        package.read(write_rows(tmp_path / "x.csv", foreign))


def test_a_form_s_download_needs_no_texts(tmp_path: Path, package: Package) -> None:
    (package.path / sheet("anna")).unlink()
    content = rows(passed(package, tmp_path / "x.csv", "ben"))
    ids = list(package.key.by_id("anna"))
    short = [{"item": i, "label": "fail", "comment": ""} for i in ids]
    assert set(package.read(write_rows(tmp_path / "s.csv", short))["anna"].values()) == {Label.FAIL}
    (package.path / sheet("ben")).unlink()
    with pytest.raises(InputError, match="cannot be compared with its blank sheet, which is gone"):
        package.read(write_rows(tmp_path / "x.csv", content))


# --- what was frozen ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["key.json", "sheet_anna.csv", "sheet_ben.html"])
def test_a_changed_file_is_refused_by_its_name(tmp_path: Path, package: Package, name: str) -> None:
    path = passed(package, tmp_path / "x.csv")
    changed = package.path / name
    changed.write_bytes(changed.read_bytes() + b"\n")
    with pytest.raises(InputError, match=f"{re.escape(name)} changed after the export"):
        import_labels(package.path, [str(path)])
    assert not (package.path / "annotation.json").exists()


def test_a_sheet_filled_in_place_is_explained(package: Package) -> None:
    passed(package, package.path / sheet("anna"))
    with pytest.raises(InputError, match=r"sheet_anna\.csv changed.*filled in place: move it out"):
        load_package(package.path)


def test_sheets_that_were_handed_out_are_not_missed_but_the_key_is(package: Package) -> None:
    (package.path / "sheet_anna.html").unlink()
    assert load_package(package.path) == (package.manifest, package.key)
    (package.path / "key.json").unlink()
    with pytest.raises(InputError, match=r"key\.json: there is no such file"):
        load_package(package.path)


def test_a_folder_without_a_package_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no package of sheets"):
        load_package(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 1}', "utf-8")
    with pytest.raises(
        InputError, match=r"no manifest\.json of format 1: exported: Field required"
    ):
        load_package(tmp_path)
