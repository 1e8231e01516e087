"""The files that a run leaves: the page with its data, and all of them together."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.reports.figures import (
    figures_of,
)
from stateauditor.experiments.reports.html import report_html
from stateauditor.experiments.reports.tables import judge_models
from stateauditor.experiments.reports.write import write_reports
from stateauditor.experiments.results.compare import compare_runs
from stateauditor.experiments.runs.records import ItemRecord
from stateauditor.metrics import KEY_JUDGE_LABEL
from tests.experiments.builders import (
    HOSTILE,
    folder,
    records,
    summary,
)

JUDGES = ("first", "second", "third")


def data_of(page: str) -> Any:
    """What the browser's script will read."""
    found = re.search(r'<script type="application/json" id="items">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found[1])


def page_of(path: Path, items: Sequence[ItemRecord], **changes: Any) -> str:
    """The page of a run with these records; plots are not drawn."""
    made = folder(path / "run", items)
    found = summary(made).model_copy(update=changes)
    models = judge_models(made.items())
    figures = figures_of(found)
    return report_html(found, made.spec(), made.manifest(), made.items(), figures, models=models)


def test_everything_is_written_and_the_page_has_its_sections(tmp_path: Path) -> None:
    made = folder(tmp_path / "run", records(("first",)))
    base = folder(tmp_path / "base", records(("first",), extra=""), name="base")
    comparison = compare_runs(made, base, draws=200)
    paths = write_reports(made, summary(made), comparison, [summary(base)])
    page = paths.html.read_text("utf-8")
    assert paths.table.read_text("utf-8").startswith("# trial\n")
    assert json.loads(paths.summary.read_text("utf-8"))["name"] == "trial"
    assert all(path.stat().st_size for path in paths.plots)
    for name in ("accuracy", "charts", "comparison", "tables", "browser", "provenance"):
        assert f'<section id="{name}"' in page
    assert "first (test/first)" in page
    assert page.count('<svg role="img"') == len({p.stem for p in paths.plots})
    assert "Paired on frozen drafts" in page


def test_a_page_without_comparison_or_judges_still_stands(tmp_path: Path) -> None:
    page = page_of(tmp_path, records(()))
    assert '<section id="comparison"' not in page
    assert "No LM judge has scored this run" in page
    assert '<optgroup label="Judges">' not in page
    assert f'<optgroup label="{KEY_JUDGE_LABEL}">' in page


def test_the_page_refers_to_nothing_outside_itself(tmp_path: Path) -> None:
    page = page_of(tmp_path, records(JUDGES, extra=""))
    assert not re.search(r'(?:src|href|action|data)\s*=\s*"(?!#|data:,)', page)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_the_page_s_policy_allows_its_own_script_and_styles_only(tmp_path: Path) -> None:
    page = page_of(tmp_path, records(("first",)))
    for element, policy in (("style", "style-src"), ("script", "script-src")):
        content = re.findall(rf"<{element}>(.*?)</{element}>", page, re.S)
        assert len(content) == 1
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert f"{policy} 'sha256-{digest}'" in page
    assert " style=" not in page
    assert not re.search(r"\son\w+=", page.split("<script type=")[0])


def test_hostile_names_are_escaped_in_the_page(tmp_path: Path) -> None:
    page = page_of(tmp_path, records(("first",)), name=HOSTILE, data=HOSTILE)
    assert "<script>window.owned" not in page
    assert "<img" not in page


def test_the_page_s_data_hold_every_record(tmp_path: Path) -> None:
    items = records(JUDGES)
    found = data_of(page_of(tmp_path, items))
    assert [item["uid"] for item in found] == [item.uid for item in items]
    assert found[6]["probes"] == [{"dimension": "", "tags": ["conflict", "error"]}]
    assert found[5]["probes"][0]["error"] == "no draft"
    assert found[5]["judges"][0] == {"judge": "first", "error": "no reply for SR"}
    assert found[0]["probes"][0]["judged"][0]["reason"] == f"first on SR. {HOSTILE}"


def test_reports_are_the_same_bytes_for_any_order_of_records(tmp_path: Path) -> None:
    made = folder(tmp_path / "run", records(("first",)))
    one = write_reports(made, summary(made))
    before = {path: path.read_bytes() for path in (one.table, one.summary, one.html, *one.plots)}
    made.replace_items(records(("first",))[::-1])
    write_reports(made, summary(made))
    assert {path: path.read_bytes() for path in before} == before


def test_a_cut_page_says_how_much_it_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stateauditor.experiments.reports.html import report_html

    made = folder(tmp_path / "run", records(()))
    page = report_html(summary(made), made.spec(), made.manifest(), made.items(), (), budget=0)
    assert "Full readouts are kept for 1 of 9 scenarios" in page
