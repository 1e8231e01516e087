"""Comparing two runs: what pairs, what is refused, and what is only warned about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.reports.tables import comparison_text
from stateauditor.experiments.results.compare import compare_runs
from stateauditor.experiments.runs.folder import RunFolder
from stateauditor.experiments.runs.records import ItemRecord, JudgedProbe, Judgment
from stateauditor.metrics import KEY_JUDGE_LABEL, ItemScore, item_scores
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.judge import Rubric
from tests.experiments.builders import folder, records, scenario
from tests.metrics.builders import published_arms

JUDGES = ("first", "second", "third")
Make = Callable[..., RunFolder]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A run's folder in its own place."""
    made = iter(range(100))

    def build(items: list[ItemRecord], **settings: Any) -> RunFolder:
        return folder(tmp_path / str(next(made)), items, **settings)

    return build


def worse(judges: tuple[str, ...] = JUDGES) -> list[ItemRecord]:
    """The records with fewer passes on u01 and a pass more on u02."""
    return [
        scenario("u01", "T1", ("SR",), judges=judges),
        scenario("u02", "T1", ("SR", "PR"), judges=judges),
        *records(judges)[2:],
    ]


def test_runs_are_paired_by_probe_on_common_verdicts(make: Make) -> None:
    found = compare_runs(make(records(("first",))), make(worse(("first",))), draws=200)
    assert found.accuracies is not None
    comparison = found.accuracies.comparison
    assert [(c.fixed, c.broken) for c in comparison.cells[:3]] == [(0, 0), (1, 1), (1, 0)]
    assert (comparison.scenarios.wins, comparison.scenarios.losses) == (1, 1)
    assert comparison.unpaired_cells == 6
    assert [w.name for w in found.accuracies.wins] == ["all probes", "SR", "PR", "IPA", "T1", "T2"]
    assert found.accuracies.first.n == found.accuracies.second.n == 15


def test_several_shared_judges_are_compared_by_their_majority(make: Make) -> None:
    a, b = make(records(JUDGES)), make(worse())
    found = compare_runs(a, b, draws=200)
    assert found.accuracies is not None
    assert found.accuracies.judge == "majority"
    named = compare_runs(a, b, judge="second", rubric=Rubric.GROUNDED, draws=200)
    assert named.accuracies is not None
    assert (named.accuracies.judge, named.accuracies.rubric) == ("second", Rubric.GROUNDED)
    assert named.key is None


def test_the_paper_s_strict_run_comes_out_as_published(make: Make) -> None:
    arms = published_arms()
    a, b = (make([judged(item) for item in item_scores(cells)]) for cells in arms)
    text = comparison_text(compare_runs(a, b, draws=2000))
    rows = {
        line.split("|")[1].strip(): line.split("|")[2:-1]
        for line in text.splitlines()
        if "|" in line
    }
    assert [cell.strip() for cell in rows["all probes"]] == ["84", "37", "279", "2.3e-05"]
    assert [cell.strip() for cell in rows["IPA"][:2]] == ["53", "6"]
    assert [cell.strip() for cell in rows["PR"][:2]] == ["31", "10"]
    assert [cell.strip() for cell in rows["SR"][:2]] == ["24", "32"]
    assert rows["A trial"][-1].strip() == ".736"
    assert rows["B trial"][-1].strip() == ".686"
    assert rows["A - B"][-1].strip() == "+.050"
    assert rows["A only : B only"][1].strip() == "12:21"


def judged(item: ItemScore) -> ItemRecord:
    """A record that holds nothing but one judge's verdicts."""
    verdicts = {c.dimension: JudgedProbe(passed=bool(c.passed)) for c in item.cells}
    return ItemRecord(
        uid=item.uid, type=item.type, judgments={"gpt-5.5": Judgment(probes=verdicts)}
    )


def test_two_shared_judges_are_no_panel_unless_asked(make: Make) -> None:
    two = ("first", "second")
    a, b = make(records(two)), make(worse(two))
    found = compare_runs(a, b, draws=200)
    assert found.accuracies is not None
    assert found.accuracies.judge == "first"
    asked = compare_runs(a, b, judge="majority", draws=200)
    assert asked.accuracies is not None
    assert asked.accuracies.judge == "majority"


def test_only_judges_that_scored_both_runs_count(make: Make) -> None:
    a, b = make(records(("first", "second"))), make(worse(("second",)))
    found = compare_runs(a, b, draws=200)
    assert found.accuracies is not None
    assert found.accuracies.judge == "second"
    with pytest.raises(ConfigError, match="judge 'first' did not score both runs; in both: second"):
        compare_runs(a, b, judge="first")


def test_runs_with_keys_only_are_compared_by_the_key_judge(make: Make) -> None:
    items = worse(())
    false = scenario("u08", "T1", ("SR", "PR", "IPA"), control=True)
    found = compare_runs(make(records(())), make([*items[:-2], false, items[-1]]))
    assert found.accuracies is None
    assert found.key is not None
    assert found.key.label == KEY_JUDGE_LABEL
    change = found.key.true_change
    assert (change.only_first, change.only_second, change.p) == (2, 1, 1.0)
    assert (change.scenarios.wins, change.scenarios.losses) == (1, 1)
    invalidated = found.key.false_invalidation
    assert (invalidated.first.hits, invalidated.second.hits, invalidated.first.n) == (1, 3, 6)
    assert (invalidated.only_first, invalidated.only_second) == (0, 2)
    assert f"> - {KEY_JUDGE_LABEL}" in comparison_text(found)


def test_key_can_be_asked_for_by_name(make: Make) -> None:
    found = compare_runs(make(records()), make(records()), judge="key")
    assert found.accuracies is None
    assert found.key is not None


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"sha256": "1" * 64}, "the data's checksum (000000000000 and 111111111111)"),
        ({"data": {"path": "slice", "part": "conflicts"}}, "data.part (both and conflicts)"),
        ({"data": {"path": "slice", "part": "both", "limit": 3}}, "data.limit (none and 3)"),
    ],
)
def test_other_data_are_refused_by_what_differs(
    make: Make, settings: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        compare_runs(make(records()), make(records(), **settings))
    assert named in str(raised.value)


def test_runs_that_no_judge_shares_are_refused(make: Make) -> None:
    def keyless(judge: str) -> list[ItemRecord]:
        item = scenario("u01", "T1", judges=(judge,))
        probes = {d: p.model_copy(update={"key": None}) for d, p in item.probes.items()}
        return [item.model_copy(update={"probes": probes})]

    with pytest.raises(ConfigError, match=r"first: one; second: two.*rejudge"):
        compare_runs(make(keyless("one")), make(keyless("two")))
    with pytest.raises(ConfigError, match="both runs need the key judge's findings"):
        compare_runs(make(keyless("one")), make(keyless("two")), judge="key")


def test_what_else_differs_is_a_warning(make: Make) -> None:
    other = worse()
    probes = dict(other[0].probes)
    probes["SR"] = probes["SR"].model_copy(update={"draft": "Another draft."})
    other[0] = other[0].model_copy(update={"probes": probes})
    found = compare_runs(
        make(records(JUDGES)), make(other[:-1], policy="full", memory="oracle"), draws=200
    )
    assert (found.common_probes, found.same_drafts, found.frozen_drafts) == (20, 19, False)
    assert found.warnings == (
        "drafts differ on 1 of 20 common probes: this is no comparison on frozen drafts",
        "1 scenario(s) stand in one run only and are left out",
        "the runs differ in memory: full and oracle",
        "the runs differ in policy: repair_only and full",
        "each run has base audits of its own: a difference may be a new draw of them",
    )
    text = comparison_text(found)
    assert "Not paired on frozen drafts: 19 of 20 common probes" in text
    assert "> - oracle memory: development only" in text


def test_every_setting_of_a_run_is_compared_but_those_that_change_no_answer(make: Make) -> None:
    """A setting is compared because the spec has it: nobody has to list it."""
    said = (
        compare_runs(
            make(records(JUDGES)),
            make(
                records(JUDGES),
                audit={"coverage_threshold": 0.9, "retrieval": {"budget_tokens": 2_000}},
                seed=7,
                concurrency=2,
                max_cost=1.0,
            ),
            draws=200,
        )
    ).warnings
    assert "the runs differ in coverage_threshold: 0.8 and 0.9" in said
    assert "the runs differ in retrieval.budget_tokens: 5700 and 2000" in said
    assert "the runs differ in seed: 42 and 7" in said
    assert not any("concurrency" in line or "max_cost" in line for line in said)


def test_what_only_one_arm_reads_is_no_difference(make: Make) -> None:
    first = make(records(JUDGES), arm="lean")
    second = make(records(JUDGES), arm="predecessor", audit={"skeptic": True})
    said = compare_runs(first, second, draws=200).warnings
    assert not any("expand_evidence" in line or "baseline" in line for line in said)


def test_base_audits_that_are_not_shared_are_said(make: Make) -> None:
    base = make(records(JUDGES), arm="predecessor")
    own = make(records(JUDGES), arm="strict_vta")
    shared = make(records(JUDGES), arm="strict_vta", base_audit_from=str(base.path))
    warned = "each run has base audits of its own: a difference may be a new draw of them"
    assert warned in compare_runs(base, own, draws=200).warnings
    assert warned not in compare_runs(base, shared, draws=200).warnings


def test_a_comparison_is_the_same_for_any_order_of_records(make: Make) -> None:
    one = compare_runs(make(records(JUDGES)), make(worse()), draws=200)
    two = compare_runs(make(records(JUDGES)[::-1]), make(worse()[::-1]), draws=200)
    assert one == two
    assert type(one).model_validate_json(one.model_dump_json()) == one
