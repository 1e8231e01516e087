"""The data of the item browser: tags, lines within a budget, hostile text."""

from __future__ import annotations

import json

from stateauditor.experiments.reports.payload import cited, dumps, payload, tags
from tests.experiments.builders import (
    EMOJI,
    HOSTILE,
    audited,
    scenario,
)

JUDGES = ("first", "second", "third")


def test_tags_say_what_happened_to_a_probe() -> None:
    repaired = scenario("u", "T1", ("SR",), judges=("a", "b"))
    assert tags(repaired, "SR") == [
        "conflict",
        "repaired",
        "verified",
        "rejected",
        "true_change",
        "judge:a:benchmark:pass",
        "judge:b:benchmark:fail",
        "judge:a:grounded:pass",
        "judge:b:grounded:fail",
    ]
    broken = scenario("u", "T1", broken=True)
    assert tags(broken, "PR") == [
        "conflict",
        "untouched",
        "failed_open",
        "rejected",
        "missed_change",
    ]
    control = scenario("u", "T1", ("IPA",), control=True)
    assert "false_invalidation" in tags(control, "IPA")
    assert "true_change" not in tags(control, "IPA")
    assert "judge:majority:benchmark:pass" in tags(
        scenario("u", "T1", ("PR",), judges=JUDGES), "PR"
    )


def test_a_judge_that_knows_one_rubric_has_no_tag_under_the_other() -> None:
    item = scenario("u", "T1", ("PR",), judges=("a",))
    word = item.judgments["a"].probes["PR"].model_copy(update={"grounded": None})
    judgment = item.judgments["a"].model_copy(update={"probes": {"PR": word}})
    found = tags(item.model_copy(update={"judgments": {"a": judgment}}), "PR")
    assert [tag for tag in found if tag.startswith("judge")] == ["judge:a:benchmark:pass"]


def test_an_off_target_repair_on_a_conflict_is_no_false_invalidation() -> None:
    item = scenario("u", "T1", ("SR",))
    key = item.probes["SR"].key
    assert key is not None
    probe = item.probes["SR"].model_copy(
        update={"key": key.model_copy(update={"false_invalidation": True})}
    )
    found = tags(item.model_copy(update={"probes": {"SR": probe}}), "SR")
    assert "off_target" in found
    assert "false_invalidation" not in found


def test_lines_of_a_scenario_are_kept_once_and_in_full_within_the_budget() -> None:
    found = json.loads(payload([scenario("u", "T1", ("SR",))]).json)[0]
    assert len(found["lines"]) == 14
    assert [len(probe["readout"]) for probe in found["probes"]] == [14, 14, 14]
    assert all("left_out" not in probe for probe in found["probes"])


def test_beyond_the_budget_only_cited_lines_are_kept_and_counted() -> None:
    items = [scenario(uid, "T1", ("SR",)) for uid in ("u2", "u1")]
    size = len(json.dumps(json.loads(payload(items[:1]).json)[0], ensure_ascii=False))
    found = payload(items, budget=size)
    first, second = json.loads(found.json)
    assert (first["uid"], second["uid"]) == ("u1", "u2")
    assert (found.scenarios, found.full) == (2, 1)
    assert len(first["probes"][0]["readout"]) == 14
    kept = second["probes"][0]
    assert [line[0] for line in kept["readout"]] == ["E03", "E11"]
    assert kept["left_out"] == 12
    assert len(second["lines"]) == 2


def test_cited_lines_are_those_that_a_finding_names() -> None:
    assert cited(audited("Denver", repaired=True)) == {"E03", "E11"}


def test_spans_are_kept_as_code_points() -> None:
    found = json.loads(payload([scenario("u", "T1", ("SR",))]).json)[0]
    line = found["lines"][10][1]
    assert line.startswith(EMOJI)
    new = found["probes"][0]["transitions"][0]["new"]
    assert line[new["start"] : new["end"]] == new["quote"] == "My flat in Milwaukee has a garage"


def test_hostile_text_survives_as_data_and_ends_no_script() -> None:
    text = dumps({"a": HOSTILE + "\u2029<!--"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text)["a"] == HOSTILE + "\u2029<!--"
