"""From labels to figures: paired tests, what is counted apart, agreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stateauditor.experiments.annotation.findings import AnnotationResults, Labeller
from stateauditor.experiments.annotation.labels import Filled
from stateauditor.experiments.annotation.package import Item, Key, Manifest, Verdicts, strata
from stateauditor.experiments.annotation.results import results
from stateauditor.experiments.annotation.rules import Label
from stateauditor.experiments.annotation.systems import System
from stateauditor.experiments.annotation.tables import annotation_text
from stateauditor.experiments.annotation.unblind import import_labels
from stateauditor.metrics import DIMENSIONS, cohen_kappa, fleiss_kappa
from tests.experiments.annotation.packages import (
    export,
    fill,
    make_run,
    rows,
    write_data,
    write_rows,
)

P, F, U = Label.PASS, Label.FAIL, Label.UNSURE
Pair = tuple[Label | None, Label | None]
SYSTEMS = ("vta", "predecessor")


def package(
    cells: int, annotators: Sequence[str], *, per_scenario: int = 1
) -> tuple[Key, Manifest]:
    """Two systems that differ in each cell; ``per_scenario`` cells share a scenario."""
    systems = tuple(System(name=n, run=n, run_id=n, phase="reply") for n in SYSTEMS)
    items = tuple(
        Item(
            uid=f"u{n // per_scenario:03d}",
            type="T1",
            dimension=DIMENSIONS[n % per_scenario],
            systems=(system,),
            ids={a: f"{a}-{system}-{n}" for a in annotators},
        )
        for n in range(cells)
        for system in SYSTEMS
    )
    manifest = Manifest(
        exported="2026-03-01T12:30:00+00:00",
        seed=42,
        wanted=cells,
        cells=cells,
        scenarios=len({item.uid for item in items}),
        answers=2 * cells,
        items=2 * cells,
        strata=strata([]),
        systems=systems,
        data_name="data",
        data_sha256="0" * 64,
        annotators=tuple(annotators),
        files={},
    )
    return Key(secret="00", systems=systems, items=items), manifest


def labelled(annotator: str, pairs: Sequence[Pair]) -> Filled:
    labels = {
        f"{annotator}-{system}-{n}": pair[place]
        for n, pair in enumerate(pairs)
        for place, system in enumerate(SYSTEMS)
    }
    return Filled(annotator, labels)


def compute(
    said: dict[str, Sequence[Pair]], *, per_scenario: int = 1, verdicts: tuple[Verdicts, ...] = ()
) -> AnnotationResults:
    count = len(next(iter(said.values())))
    key, manifest = package(count, list(said), per_scenario=per_scenario)
    key = key.model_copy(update={"verdicts": verdicts})
    filled = [labelled(name, pairs) for name, pairs in said.items()]
    return results(key, manifest, filled, manifest_sha256="f" * 64, draws=200)


def counted(fixed: int, broken: int, both: int, neither: int) -> list[Pair]:
    return [(P, F)] * fixed + [(F, P)] * broken + [(P, P)] * both + [(F, F)] * neither


def test_the_paper_s_human_result_comes_out_as_published() -> None:
    found = compute({"one": counted(18, 5, 60, 17), "two": counted(21, 1, 60, 18)})
    pairs = [who.pairs[0] for who in found.annotators]
    assert [(pair.n, pair.fixed, pair.broken) for pair in pairs] == [(100, 18, 5), (100, 21, 1)]
    # 2 * sum of C(23, k) for k up to 5, over 2**23; and 2 * (1 + 22) / 2**22.
    assert pairs[0].p == pytest.approx(89104 / 2**23)
    assert pairs[1].p == pytest.approx(46 / 2**22)
    assert (pairs[0].first_passes.hits, pairs[0].second_passes.hits) == (78, 65)
    text = annotation_text(found)
    assert "18:5 " in text
    assert "21:1 " in text
    assert "1.1e-05" in text


def test_unsure_and_missing_labels_leave_the_pair_and_are_counted_apart() -> None:
    found = compute({"one": [(P, F), (U, P), (None, F), (P, U), (F, F)]})
    (who,) = found.annotators
    assert (who.items, who.labelled, who.unsure, who.missing) == (10, 7, 2, 1)
    rates = [(r.passed.hits, r.passed.n, r.unsure, r.missing) for r in who.systems]
    assert rates == [(2, 3, 1, 1), (1, 4, 1, 0)]
    pair = who.pairs[0]
    assert (pair.n, pair.left_out, pair.fixed, pair.broken) == (2, 3, 1, 0)
    assert found.between == ()


def test_without_labels_there_are_dashes_and_no_zeros() -> None:
    found = compute({"one": [(None, None)] * 3})
    pair = found.annotators[0].pairs[0]
    assert (pair.n, pair.p, pair.first_passes.value) == (0, 1.0, None)
    assert "0 of 6 answers passed or failed, 0 unsure, 6 without a label" in annotation_text(found)


def test_cells_of_a_scenario_count_once_in_the_sign_test() -> None:
    pairs = [(P, F)] * 3 + [(P, F), (F, P), (P, P)] + [(F, P), (F, F), (F, F)]
    (pair,) = compute({"one": pairs}, per_scenario=3).annotators[0].pairs
    assert (pair.fixed, pair.broken) == (4, 2)
    clusters = pair.clustered.clusters
    assert (clusters.wins, clusters.losses, clusters.ties) == (1, 1, 1)


def test_two_annotators_agree_by_cohens_kappa_on_what_both_decided() -> None:
    # The textbook table: 20 both yes, 5 only one, 10 only the other, 15 both no.
    one = [P] * 25 + [F] * 25 + [U, P]
    two = [P] * 20 + [F] * 5 + [P] * 10 + [F] * 15 + [P, None]
    found = compute(
        {
            "one": list(zip(one[::2], one[1::2], strict=True)),
            "two": list(zip(two[::2], two[1::2], strict=True)),
        }
    )
    (row,) = found.between
    assert (row.labellers, row.items, row.left_out) == (("one", "two"), 50, 2)
    assert (row.agreement.hits, row.agreement.n) == (35, 50)
    assert row.kappa.estimate == pytest.approx(0.4)
    assert row.kappa.low is not None
    assert row.kappa.high is not None
    assert row.kappa.low < 0.4 < row.kappa.high
    assert row.kappa.estimate == pytest.approx(
        cohen_kappa([x is P for x in one[:50]], [x is P for x in two[:50]])
    )


def test_three_annotators_have_fleiss_kappa_and_each_pair_its_own() -> None:
    votes = [(P, P, P), (P, P, F), (P, F, F), (F, F, F)]
    said = {
        name: [(row[n], row[n]) for row in votes] for n, name in enumerate(("one", "two", "three"))
    }
    found = compute(said)
    assert [row.labellers for row in found.between] == [
        ("one", "two", "three"),
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
    ]
    rows = [[label is P for label in row] for row in votes for _ in range(2)]
    assert found.between[0].kappa.estimate == pytest.approx(fleiss_kappa(rows))
    assert found.between[0].kappa.estimate == pytest.approx(1 / 3)


def test_one_label_throughout_has_no_kappa_but_an_agreement() -> None:
    found = compute({"one": [(P, P)] * 4, "two": [(P, P)] * 4})
    (row,) = found.between
    assert row.kappa.estimate is None
    assert (row.agreement.hits, row.agreement.n) == (8, 8)
    assert "| one and two | 1.000 [.676, 1.000] (8/8) |" in annotation_text(found)


def test_judges_stand_beside_annotators_on_the_same_cells() -> None:
    passed = tuple(
        (f"u{n:03d}", "SR", system, system == "vta") for n in range(4) for system in SYSTEMS
    )
    judge = Verdicts.model_validate({"judge": "robot", "passed": passed})
    found = compute({"one": [(P, F), (P, F), (P, P), (F, F)]}, verdicts=(judge,))
    (robot,) = found.judges
    assert (robot.kind, robot.pairs[0].fixed, robot.pairs[0].broken) == ("judge", 4, 0)
    (row,) = found.with_judges
    assert (row.labellers, row.items, row.agreement.hits) == (("one", "robot"), 8, 6)
    assert row.kappa.estimate == pytest.approx(0.5)
    assert "judge robot" in annotation_text(found)


# --- from runs to figures -----------------------------------------------------------------


def by_system(good: str) -> Callable[[Item], str]:
    return lambda item: "pass" if good in item.systems else "fail"


def labeller(found: AnnotationResults, name: str) -> Labeller:
    return next(who for who in (*found.annotators, *found.judges) if who.name == name)


def test_labels_of_a_run_come_back_to_their_systems(tmp_path: Path) -> None:
    run = make_run(
        tmp_path / "run",
        write_data(tmp_path / "data.json", 8),
        judges={"robot": lambda uid, d: d == "SR"},
    )
    manifest, key = export(run, tmp_path / "out", cells=24, annotators=("anna", "ben"))
    files = [
        fill(tmp_path / "out", key, name, by_system("reply"), tmp_path / f"{name}.csv")
        for name in ("anna", "ben")
    ]
    done = import_labels(tmp_path / "out", [str(path) for path in files], draws=200)
    pair = labeller(done.results, "anna").pairs[0]
    assert (pair.first, pair.second, pair.n, pair.same) == ("reply", "draft", 24, 8)
    # The eight IPA replies are the drafts: one label counts for both, so they cannot differ.
    assert (pair.fixed, pair.broken) == (16, 0)
    assert pair.second_passes.hits == 8
    assert labeller(done.results, "robot").pairs == ()
    (row,) = (r for r in done.results.with_judges if "anna" in r.labellers)
    assert (row.items, row.agreement.hits) == (24, 8)
    assert manifest.items == 40
    answers = done.results.answers
    assert len(answers) == 40
    assert all(
        answer.labels[name] is (P if "reply" in answer.systems else F)
        for answer in answers
        for name in ("anna", "ben")
    )
    again = import_labels(tmp_path / "out", [str(path) for path in files], draws=200)
    assert again == done
    assert done.json_path.read_text("utf-8") == again.results.model_dump_json(indent=2) + "\n"
    assert AnnotationResults.model_validate_json(done.json_path.read_bytes()) == done.results
    assert done.text_path.read_text("utf-8") == done.text


def test_sheets_may_come_one_after_another_and_partly_filled(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", write_data(tmp_path / "data.json", 4))
    _, key = export(run, tmp_path / "out", annotators=("anna", "ben"))
    path = fill(
        tmp_path / "out",
        key,
        "anna",
        lambda item: "pass" if item.dimension == "SR" else "",
        tmp_path / "anna.csv",
    )
    found = import_labels(tmp_path / "out", [str(path)], draws=200).results
    assert found.without_labels == ("ben",)
    assert (found.annotators[0].labelled, found.annotators[0].missing) == (8, 12)
    assert "No sheet yet from ben." in annotation_text(found)


def test_comments_stand_with_the_answer_that_they_are_about(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", write_data(tmp_path / "data.json", 4))
    _, key = export(run, tmp_path / "out", annotators=("anna",))
    content = rows(fill(tmp_path / "out", key, "anna", lambda item: "fail", tmp_path / "a.csv"))
    content[3]["comment"] = "names the old town"
    path = write_rows(tmp_path / "a.csv", content)
    found = import_labels(tmp_path / "out", [str(path)], draws=50).results
    (answer,) = (answer for answer in found.answers if answer.comments)
    item = key.by_id("anna")[content[3]["item"]]
    assert (answer.uid, answer.dimension, answer.systems) == (
        item.uid,
        item.dimension,
        item.systems,
    )
    assert answer.comments == {"anna": "names the old town"}


def test_figures_carry_the_caveats_of_their_runs(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", write_data(tmp_path / "data.json", 4), memory="oracle")
    _, key = export(run, tmp_path / "out")
    path = fill(tmp_path / "out", key, "annotator1", by_system("reply"), tmp_path / "a.csv")
    text = import_labels(tmp_path / "out", [str(path)], draws=200).text
    assert text.count("> - oracle memory: development only") == 3
