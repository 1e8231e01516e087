"""A package is blind, frozen, and the same for the same runs and seed."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.annotation.rules import RULES
from stateauditor.experiments.benchmarks.synthetic import SEALED
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.signatures.errors import ConfigError, InputError
from tests.experiments.annotation.packages import (
    NOW,
    drafted,
    export,
    make_run,
    replied,
    rows,
    sheet,
    write_data,
)

HOSTILE = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1> ' \" & \u2028"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    place = tmp_path_factory.mktemp("run")
    return make_run(
        place / "Trial-Run",
        write_data(place / "data.json", 8),
        judges={"Zeta-Judge": lambda uid, d: d == "SR"},
        controls=["u008"],
    )


class Page(HTMLParser):
    """The texts of a form's elements, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tags: list[str] = []
        self._script: dict[str, str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._script = dict(attrs) if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts.append((self._script, data))
            self._script = None

    def items(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(self.scripts[0][1])
        return found


def form(package: Path, annotator: str = "annotator1") -> Page:
    return Page((package / f"sheet_{annotator}.html").read_text("utf-8"))


# --- blindness --------------------------------------------------------------------


def test_no_sheet_says_whose_answer_it_is(tmp_path: Path, run: RunFolder) -> None:
    manifest, key = export(run, tmp_path)
    sheets = [name for name in manifest.files if name.startswith("sheet_")]
    assert len(sheets) == 4
    secrets = [key.secret, run.manifest().run_id, run.manifest().data_sha256]
    names = ["Trial-Run", "Zeta-Judge", "T1", "T2", "strict_vta", "passed", SEALED[2]]
    for name in sheets:
        text = (tmp_path / name).read_text("utf-8")
        for word in (*secrets, *names, *(f"u{n:03d}" for n in range(1, 9))):
            assert word not in text, f"{name} holds {word}"
        assert not re.search(r"\b(draft|reply|SR|PR|IPA)\b", text), name


def test_both_forms_of_a_sheet_hold_the_same_items(tmp_path: Path, run: RunFolder) -> None:
    export(run, tmp_path)
    table = rows(tmp_path / sheet("annotator1"))
    items = form(tmp_path).items()
    assert [row["item"] for row in table] == [item["id"] for item in items]
    for row, item in zip(table, items, strict=True):
        assert all(row[name] == item[name] for name in item if name != "id")


def test_a_sheet_shows_states_rule_and_answer_of_its_cell(tmp_path: Path, run: RunFolder) -> None:
    _, key = export(run, tmp_path)
    table = rows(tmp_path / sheet("annotator2"))
    for row in table:
        item = key.by_id("annotator2")[row["item"]]
        number = int(item.uid[1:])
        answer = drafted if "draft" in item.systems else replied
        assert row["answer"] == answer(item.uid, item.dimension)
        assert row["old_state"] == f"{SEALED[0]}-{number}"
        assert row["new_state"] == f"{SEALED[1]}-{number}"
        assert row["rule"] == RULES[item.dimension]
        assert (row["label"], row["comment"]) == ("", "")
    assert {item.uid for item in key.items} <= {f"u{n:03d}" for n in range(1, 8)}, "no control"


def test_annotators_have_the_same_answers_in_another_order_under_other_ids(
    tmp_path: Path, run: RunFolder
) -> None:
    _, key = export(run, tmp_path, annotators=("anna", "ben"))
    anna, ben = (rows(tmp_path / sheet(name)) for name in ("anna", "ben"))
    assert not {row["item"] for row in anna} & {row["item"] for row in ben}
    order = [[key.by_id(a)[r["item"]] for r in s] for a, s in (("anna", anna), ("ben", ben))]
    assert order[0] != order[1]
    assert all(item in key.items for item in (*order[0], *order[1]))
    assert sorted(r["answer"] for r in anna) == sorted(r["answer"] for r in ben)


def test_the_place_on_a_sheet_says_nothing_about_the_system(tmp_path: Path, run: RunFolder) -> None:
    """Over seeds, drafts come before the reply of their cell about as often as after it."""
    first: list[bool] = []
    for seed in range(30):
        _, key = export(run, tmp_path / str(seed), seed=seed, cells=21)
        ids = [row["item"] for row in rows(tmp_path / str(seed) / sheet("annotator1"))]
        assert ids == sorted(ids), "the order is that of the ids, and those are keyed hashes"
        places: dict[tuple[str, str], dict[str, int]] = {}
        for place, blind in enumerate(ids):
            item = key.by_id("annotator1")[blind]
            for system in item.systems:
                places.setdefault((item.uid, item.dimension), {})[system] = place
        first += [p["draft"] < p["reply"] for p in places.values() if p["draft"] != p["reply"]]
    assert len(first) == 30 * 14
    assert 0.4 < sum(first) / len(first) < 0.6


# --- the same bytes ----------------------------------------------------------------


def test_the_same_runs_and_seed_give_the_same_bytes(tmp_path: Path, run: RunFolder) -> None:
    one, _ = export(run, tmp_path / "one")
    two, _ = export(run, tmp_path / "two")
    assert one == two
    for name in ("manifest.json", *one.files):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    later, _ = export(run, tmp_path / "later", now=NOW + timedelta(days=1))
    assert later.files == one.files
    other, _ = export(run, tmp_path / "other", seed=43)
    assert not set(one.files.values()) & set(other.files.values())


def test_the_manifest_says_what_was_frozen(tmp_path: Path, run: RunFolder) -> None:
    manifest, key = export(run, tmp_path, cells=18)
    assert manifest.exported == "2026-03-01T12:30:00+00:00"
    assert (manifest.seed, manifest.wanted, manifest.cells) == (42, 18, 18)
    assert [s.cells for s in manifest.strata] == [3] * 6
    assert (manifest.data_name, manifest.data_sha256) == (
        "data.json",
        run.manifest().data_sha256,
    )
    assert [(s.name, s.run, s.run_id) for s in manifest.systems] == [
        (name, "Trial-Run", run.manifest().run_id) for name in ("reply", "draft")
    ]
    assert set(manifest.files) == {
        "key.json",
        *(f"sheet_annotator{n}.{end}" for n in (1, 2) for end in ("csv", "html")),
    }
    for name, digest in manifest.files.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert [v.judge for v in key.verdicts] == ["Zeta-Judge"]


def test_identical_answers_of_a_cell_are_shown_once(tmp_path: Path, run: RunFolder) -> None:
    manifest, key = export(run, tmp_path, cells=18)
    assert (manifest.answers, manifest.items) == (36, 30)
    assert len(rows(tmp_path / sheet("annotator1"))) == 30
    both = [item for item in key.items if item.systems == ("reply", "draft")]
    assert {item.dimension for item in both} == {"IPA"}
    assert len(both) == 6


# --- hostile and foreign text -----------------------------------------------------------


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data.json", 2, M_old=f"=cmd|x {HOSTILE}")
    run = make_run(
        tmp_path / "run", data, reply=lambda uid, d: f"=1+1 {HOSTILE} 東京 Straße 🏠 {uid[1:]} {d}"
    )
    export(run, tmp_path / "out")
    page = form(tmp_path / "out")
    assert len(page.scripts) == 2
    assert "img" not in page.tags
    assert any(HOSTILE in item["answer"] and "東京" in item["answer"] for item in page.items())
    table = rows(tmp_path / "out" / sheet("annotator1"))
    assert {row["answer"][:5] for row in table} == {"'=1+1", "Walk "}
    assert any(row["old_state"].startswith("'=cmd|x </script>") for row in table)


def test_a_form_loads_nothing_and_runs_only_its_own_script(tmp_path: Path, run: RunFolder) -> None:
    export(run, tmp_path)
    text = (tmp_path / "sheet_annotator1.html").read_text("utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", text)


# --- what is refused ----------------------------------------------------------------------


def test_a_package_is_not_replaced_unless_asked(tmp_path: Path, run: RunFolder) -> None:
    export(run, tmp_path, annotators=("anna",))
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(ConfigError, match=r"holds a package already.*--force"):
        export(run, tmp_path)
    manifest, _ = export(run, tmp_path, force=True)
    assert {p.name for p in tmp_path.iterdir()} == {"manifest.json", "notes.txt", *manifest.files}


def test_a_package_with_results_is_never_replaced(tmp_path: Path, run: RunFolder) -> None:
    export(run, tmp_path)
    (tmp_path / "annotation.json").write_text("{}", "utf-8")
    with pytest.raises(ConfigError, match=r"labels were read back \(annotation.json\)"):
        export(run, tmp_path, force=True)


def test_a_broken_off_export_is_no_package(
    tmp_path: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def full(path: Path, content: Any) -> int:
        if path.suffix == ".html":
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        export(run, tmp_path)
    assert not (tmp_path / "manifest.json").exists()


def test_data_that_changed_after_the_run_are_refused(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data.json", 2)
    run = make_run(tmp_path / "run", data)
    write_data(data, 2, M_old="Something else.")
    with pytest.raises(InputError, match="an annotator needs the same scenarios"):
        export(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()
