"""What the tables say, to the byte, and that no figure stands without its judge and caveats."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateauditor.experiments.reports.markdown import (
    DASH_NOTE,
    Grid,
    difference,
    dollars,
    p_text,
    share,
    table,
)
from stateauditor.experiments.reports.published import Published, PublishedRow, published
from stateauditor.experiments.reports.tables import comparison_text, judge_models, run_table, table1
from stateauditor.experiments.results.compare import compare_runs
from stateauditor.experiments.results.summary import labels, summarise
from stateauditor.experiments.runs.spec import Arm
from stateauditor.metrics import KEY_JUDGE_LABEL
from tests.experiments.builders import folder, records, scenario, spec, summary


def judged(path: Path, *judges: str) -> str:
    made = folder(path, records(judges))
    return run_table(summary(made), judge_models(made.items()))


def test_a_run_s_table_starts_with_the_paper_s_layout(tmp_path: Path) -> None:
    text = judged(tmp_path / "run", "first")
    assert text[: text.index("## Key judge")] == (
        """\
# trial

Arm strict_vta, backend test, policy repair_only, data slice. 7 scenarios with a conflict, \
2 controls, 24 probes. 2 error(s), counted apart and in no rate. \
Audits in which a role failed open: .130 [.045, .321] (3/23).

## Accuracy on Stale

| Run               | Judge (model)      | Rubric    | SR T1 | SR T2 | PR T1 | PR T2 | IPA T1 | \
IPA T2 |    Macro [95% CI] |   n | Errors |
| ----------------- | ------------------ | --------- | ----: | ----: | ----: | ----: | -----: | \
-----: | ----------------: | --: | -----: |
| trial: strict_vta | first (test/first) | benchmark |  .667 |  .000 |  .333 |  .500 |   .333 | \
 1.000 | .472 [.167, .722] |  15 |      6 |
| trial: strict_vta | first (test/first) | grounded  |  .667 |  .000 |  .000 |  .000 |   .333 | \
 1.000 | .333 [.167, .444] |  15 |      6 |

n: probes with a verdict. Intervals: bootstrap over scenarios, stratified by type.

"""
    )
    assert text.endswith(f"{DASH_NOTE}\n")


def test_every_judge_and_rubric_has_a_row_and_the_panel_its_agreement(tmp_path: Path) -> None:
    text = judged(tmp_path / "run", "first", "second", "third")
    for name in ("first (test/first)", "second (test/second)", "third (test/third)", "majority"):
        assert text.count(f"| trial: strict_vta | {name:<20} |") == 2
    assert "| all 3 judges (Fleiss)    | benchmark |      .667 | 0.555 |     15 |" in text


def test_a_split_panel_has_no_macro_and_says_why(tmp_path: Path) -> None:
    text = judged(tmp_path / "run", "first", "second")
    assert "| trial: strict_vta | majority             | benchmark |     – |" in text
    assert "Without a verdict because judges split evenly: 7." in text
    assert "there is no macro; the mean of the scored cells is .542." in text


def test_a_run_without_an_lm_judge_says_that_it_has_no_accuracy(tmp_path: Path) -> None:
    text = judged(tmp_path / "run")
    assert "No LM judge has scored this run: it has no Stale accuracy." in text
    assert f"| {KEY_JUDGE_LABEL} | Probes    | Rate [95% CI]" in text
    assert "| stale-premise recall, IPA                     | conflicts | .500" in text


def test_caveats_stand_above_every_table_and_in_the_row(tmp_path: Path) -> None:
    made = folder(tmp_path / "run", records(("first",)), memory="oracle")
    found = summarise(made.spec(), made.items(), data="slice", backend="offline (lexical rules)")
    text = run_table(found)
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    caveats = [block for block in text.split("\n\n") if block.startswith("> - offline")]
    assert len(tables) == len(caveats) == 5
    assert all("> - oracle memory: development only" in block for block in caveats)
    assert "trial: strict_vta [offline lexical rules; oracle memory] | first" in text


def test_a_privileged_arm_says_so_in_its_row(tmp_path: Path) -> None:
    settings = {"arm": "joint_vta", "protocol": "scenario_joint"}
    made = folder(tmp_path / "run", records(("first",)), **settings)
    assert "trial: joint_vta (privileged upper bound) [scenario-joint]" in run_table(summary(made))


def test_a_slice_without_keys_or_audits_has_only_the_tables_that_it_can_have() -> None:
    plain = scenario("u01", "T1", judges=("first",))
    probes = {
        d: p.model_copy(update={"result": None, "key": None, "recall": None})
        for d, p in plain.probes.items()
    }
    bare = plain.model_copy(update={"probes": probes})
    text = run_table(summarise(spec(arm="generator_only"), [bare], data="d", backend="b"))
    assert "Key judge" not in text
    assert "Retrieval recall" not in text
    assert "| any directive               |         – |" not in text
    assert "| any directive               | –         |" in text


def test_tables_are_the_same_for_any_order_of_work(tmp_path: Path) -> None:
    items = records(("first", "second"))
    one = summary(folder(tmp_path / "a", items))
    other = summary(folder(tmp_path / "b", reversed(items)))
    assert run_table(one) == run_table(other)
    assert table1([one]) == table1([other])


def test_models_come_from_the_records_unless_they_contradict_each_other() -> None:
    items = records(("first", "second"))
    assert judge_models(items) == {"first": "test/first", "second": "test/second"}
    calls = items[0].calls
    swapped = items[0].model_copy(update={"calls": calls[::-1]})
    assert judge_models([swapped, *items[1:]]) == {}
    retried = items[0].model_copy(update={"calls": (calls[0], *calls)})
    assert judge_models([retried]) == {}


def test_table_1_puts_the_published_rows_below_ours_each_with_its_judge(tmp_path: Path) -> None:
    text = table1([summary(folder(tmp_path / "run", records(("first",))))])
    assert text.index("| trial: strict_vta") < text.index("## Published")
    assert (
        "| strict single-query VTA                | gpt-5.5 | benchmark |  .800 |  .630 |  .805 |"
        "  .620 |   .805 |   .755 | .736 [.707, .767] | [paper] |" in text
    )
    assert "scenario-joint VTA (privileged upper bound) | released Gemini judge" in text
    assert "Figures of different judges are not comparable." in text
    for header in [line for line in text.splitlines() if "SR T1" in line]:
        assert "| Judge" in header


def test_published_cells_average_to_their_published_macro() -> None:
    for block in published().blocks:
        for row in block.rows:
            cells = [cell for cell in row.cells if cell is not None]
            assert len(cells) in (0, 6)
            if cells:
                assert sum(cells) / 6 == pytest.approx(row.macro, abs=0.0006)


def test_a_published_row_needs_a_source() -> None:
    row = PublishedRow(system="x", judge="y", source="hearsay", macro=0.5)
    block = {"title": "t", "rows": [row.model_dump()]}
    with pytest.raises(ValueError, match="no source 'hearsay'"):
        Published.model_validate({"sources": {}, "blocks": [block]})


def test_the_paired_table_shows_the_difference_with_its_interval(tmp_path: Path) -> None:
    items = records(("first",))
    a = folder(tmp_path / "a", items)
    b = folder(tmp_path / "b", [scenario("u01", "T1", ("SR",), judges=("first",)), *items[1:]])
    text = comparison_text(compare_runs(a, b, draws=200), summary(a), summary(b))
    assert "Paired on frozen drafts: every common probe started from the same draft." in text
    assert "## Accuracy on Stale, judge first, rubric benchmark" in text
    row = next(line for line in text.splitlines() if line.startswith("| A - B"))
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [
        "+.000",
        "+.000",
        "+.333",
        "+.000",
        "+.333",
        "+.000",
        "+.111",
    ]
    assert "| all probes |      1 |      0 |    4 |       1.000 |" in text
    assert "| true-change recall (conflicts)" in text
    assert "| A trial    |  5.67 |" in text  # (23 audits of 2 calls and 5 judgments) / 9


def test_hostile_text_changes_no_table() -> None:
    made = table(Grid(("a", "b|c"), (("x|y\nz", "<b>`"),)))
    assert made.splitlines() == [
        "| a      |    b\\|c |",
        "| ------ | ------: |",
        "| x\\|y z | &lt;b>' |",
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (share(0.0), ".000"),
        (share(0.9996), "1.000"),
        (share(None), "–"),
        (difference(-0.0001), "+.000"),
        (difference(-1.0), "-1.000"),
        (difference(None), "–"),
        (p_text(0.043), ".043"),
        (p_text(7e-6), "7.0e-06"),
        (dollars(None), "–"),
        (dollars(1234.5), "$1,234.5000"),
    ],
)
def test_numbers_have_fixed_decimals(written: str, expected: str) -> None:
    assert written == expected


def test_wide_characters_keep_a_table_in_line() -> None:
    made = table(Grid(("name", "n"), (("東京", "1"), ("abcdef", "2"))))
    assert made.splitlines()[2:] == ["| 東京   |   1 |", "| abcdef |   2 |"]


def test_labels_of_the_bundled_slice_reach_the_table() -> None:
    bundled = spec(data={"set": "stale_mini"})
    assert labels(bundled, "test") == ("bundled slice: no Stale result",)


def test_a_baseline_has_no_directives_to_show(tmp_path: Path) -> None:
    found = summary(folder(tmp_path / "run", records(("first",))))
    assert "## Directives" in run_table(found)
    assert "## Directives" not in run_table(found.model_copy(update={"arm": Arm.COVE}))
