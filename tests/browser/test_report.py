"""The report in a real browser: filters, keys, marks, and nothing from outside the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from stateauditor.experiments.reports.payload import judge_tag
from stateauditor.experiments.runs.records import ItemRecord, ProbeRecord
from stateauditor.signatures.judge import Rubric
from tests.browser.conftest import Browser
from tests.experiments.builders import EMOJI, HOSTILE

Items = list[ItemRecord]


def probes(items: Items) -> list[tuple[ItemRecord, str, ProbeRecord | None]]:
    """What the list must hold: each probe, and each scenario that came to none."""
    return [
        (item, dimension, probe)
        for item in items
        for dimension, probe in (item.probes.items() or [("", None)])
    ]


# --- filters ------------------------------------------------------------------------


def test_all_probes_are_listed_and_counted(browser: Browser, items: Items) -> None:
    assert browser.shown() == [(item.uid, d) for item, d, _ in probes(items)]
    status = browser.js("return document.getElementById('count').textContent")
    assert status == "25 entries of 25, from 9 scenarios"
    assert browser.js("return document.getElementById('count').getAttribute('aria-live')")


@pytest.mark.parametrize("kind", ["T1", "T2"])
def test_the_list_filters_by_type(browser: Browser, items: Items, kind: str) -> None:
    browser.set("f-type", kind)
    assert browser.shown() == [(i.uid, d) for i, d, _ in probes(items) if i.type == kind]


@pytest.mark.parametrize("dimension", ["SR", "PR", "IPA"])
def test_the_list_filters_by_dimension(browser: Browser, items: Items, dimension: str) -> None:
    browser.set("f-dimension", dimension)
    assert browser.shown() == [(i.uid, d) for i, d, _ in probes(items) if d == dimension]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("repaired", 8),
        ("untouched", 15),
        ("failed_open", 3),
        ("error", 2),
        ("verified", 8),
        ("rejected", 23),
        ("true_change", 7),
        ("missed_change", 10),
        ("off_target", 0),
        ("false_invalidation", 1),
    ],
)
def test_the_list_filters_by_outcome(
    browser: Browser, items: Items, outcome: str, expected: int
) -> None:
    browser.set("f-outcome", outcome)
    assert len(browser.shown()) == expected
    found = {(i.uid, d): (i, p) for i, d, p in probes(items)}
    for key in browser.shown():
        item, probe = found[key]
        result = probe.result if probe is not None else None
        if outcome == "repaired":
            assert result is not None
            assert result.changed
        elif outcome == "failed_open":
            assert result is not None
            assert result.failed_open
        elif outcome == "error":
            assert item.error or (probe is not None and probe.error)
        elif outcome == "false_invalidation":
            assert item.control


@pytest.mark.parametrize("passed", [True, False])
def test_the_list_filters_by_a_judge_s_verdict(
    browser: Browser, items: Items, passed: bool
) -> None:
    browser.set("f-outcome", judge_tag("second", Rubric.BENCHMARK, passed=passed))
    assert browser.shown() == [
        (item.uid, d)
        for item, d, _ in probes(items)
        if (judgment := item.judgments.get("second")) is not None
        and d in judgment.probes
        and judgment.probes[d].passed is passed
    ]


def test_filters_add_up_and_can_be_cleared(browser: Browser) -> None:
    browser.set("f-type", "T1")
    browser.set("f-kind", "control")
    browser.set("f-outcome", "repaired")
    assert browser.shown() == [("u08", "IPA")]
    browser.set("f-dimension", "SR")
    assert browser.shown() == []
    assert "No probe fits these filters." in browser.detail()
    browser.driver.find_element("css selector", "#filters button").click()
    browser.js("return new Promise(done => setTimeout(done, 50))")
    assert len(browser.shown()) == 25


def test_text_is_searched_whatever_its_case(browser: Browser) -> None:
    browser.set("f-text", "question pr of U0")
    assert Counter(d for _, d in browser.shown()) == {"PR": 8}
    browser.set("f-text", "window.owned")
    assert {uid for uid, _ in browser.shown()} == {"u01", "u07"}


# --- keyboard -------------------------------------------------------------------------


def test_the_list_works_by_keyboard(browser: Browser) -> None:
    browser.js("document.getElementById('list').focus()")
    walked = []
    for key in ("\ue015", "j", "k", "\ue013", "\ue013", "\ue010", "\ue015", "\ue011"):
        browser.press(key)
        walked.append(browser.chosen())
    assert walked == [
        "u01 · T1 · PR",
        "u01 · T1 · IPA",
        "u01 · T1 · PR",
        "u01 · T1 · SR",
        "u01 · T1 · SR",
        "u09 · T1 · IPA",
        "u09 · T1 · IPA",
        "u01 · T1 · SR",
    ]
    browser.press("j")
    assert "Question PR of u01?" in browser.detail()
    active = browser.js(
        "return document.getElementById('list').getAttribute('aria-activedescendant')"
    )
    assert browser.js("return document.getElementById(arguments[0]).ariaSelected", active) == "true"


def test_enter_opens_the_probe_and_escape_goes_back(browser: Browser) -> None:
    focused = "return document.activeElement.id"
    browser.js("document.getElementById('list').focus()")
    browser.press("\ue007")
    assert browser.js(focused) == "detail"
    browser.press("\ue00c")
    assert browser.js(focused) == "list"


def test_the_chosen_row_is_kept_in_view(browser: Browser) -> None:
    browser.js("document.getElementById('list').focus()")
    browser.press("\ue010")
    assert browser.js(
        "const l = document.getElementById('list').getBoundingClientRect();"
        "const r = document.querySelector('#list [aria-selected=true]').getBoundingClientRect();"
        "return r.top >= l.top - 1 && r.bottom <= l.bottom + 1"
    )


def test_focus_is_seen_and_the_first_stop_skips_to_the_browser(browser: Browser) -> None:
    browser.press("\ue004")
    assert browser.js("return document.activeElement.textContent") == "Skip to the item browser"
    assert browser.js("return document.activeElement.getBoundingClientRect().left >= 0")
    browser.press("\ue007")
    assert browser.js("return location.hash") == "#browser"
    browser.driver.find_element("id", "f-text").click()
    browser.press("\ue004")
    style = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.js(style) == "solid"


def test_landmarks_and_names_are_there(browser: Browser) -> None:
    for selector in ("header", "main", "nav[aria-label]", "main > section[aria-labelledby]"):
        assert browser.js("return document.querySelector(arguments[0]) !== null", selector)
    assert browser.js(
        "return [...document.querySelectorAll('select, input')].every(e => e.labels.length === 1)"
    )
    assert browser.js(
        "return [...document.querySelectorAll('figure svg')].every(s => s.getAttribute('role') === "
        "'img' && s.getAttribute('aria-labelledby').split(' ').every(id => "
        "document.getElementById(id).textContent))"
    )


# --- one probe ------------------------------------------------------------------------


def test_marks_are_the_quoted_spans(browser: Browser, items: Items) -> None:
    result = items[0].probes["SR"].result
    assert result is not None
    marks = browser.js(
        "const found = {};"
        "for (const mark of document.querySelectorAll('#detail mark'))"
        "  for (const id of mark.dataset.spans.split(' '))"
        "    found[id] = (found[id] || '') + mark.textContent;"
        "return found"
    )
    expected = {
        f"{check.id}-{side}": match.quote
        for check in result.transitions
        for side, match in (("old", check.old), ("new", check.new))
        if match.entry_id is not None
    }
    assert marks == expected
    assert len(expected) == 5


def test_old_and_new_marks_differ_without_colour(browser: Browser) -> None:
    lines = browser.js(
        "return ['old', 'new'].map(side => getComputedStyle(document.querySelector("
        "`#detail mark.${side}:not(.unproved)`)).textDecorationStyle)"
    )
    assert lines == ["dotted", "solid"]


def test_lines_are_shown_as_they_were_rendered(browser: Browser) -> None:
    line = browser.js(
        "const what = document.querySelector('[data-line=E11] .what').cloneNode(true);"
        "what.querySelectorAll('.tag').forEach(tag => tag.remove()); return what.textContent"
    )
    assert line == f"{EMOJI} My flat in Milwaukee has a garage now. {HOSTILE}"


def test_the_difference_of_draft_and_reply_is_complete(browser: Browser, items: Items) -> None:
    result = items[0].probes["SR"].result
    assert result is not None
    parts = browser.js(
        "return [...document.querySelector('#detail .diff').childNodes]"
        ".map(n => [n.nodeName, n.textContent])"
    )
    draft = "".join(text for kind, text in parts if kind != "INS")
    reply = "".join(text for kind, text in parts if kind != "DEL")
    assert (draft, reply) == (result.draft, result.response)
    assert ["DEL", "Denver"] in parts
    assert ["INS", "Milwaukee"] in parts


def test_reasons_paths_and_failures_are_shown(browser: Browser) -> None:
    text = browser.detail()
    path = browser.js(
        "return [...document.querySelectorAll('.path')[0].children].map(n => n.textContent)"
    )
    assert path == ["a flat in Milwaukee", "one home at a time", "no longer Denver"]
    assert "the new evidence is not later than the old (not_newer)" in text
    assert "the old quotation stands in no line (ungrounded_old)" in text
    assert "from the cache" in text
    browser.set("f-outcome", "failed_open")
    assert "draft_consistency failed open: timed out" in browser.detail()
    assert "The reply is the draft, byte for byte." in browser.detail()
    browser.set("f-outcome", "error")
    assert "judge first: no reply for SR" in browser.detail()


def test_a_cited_line_is_reached_from_the_time_strip(browser: Browser) -> None:
    buttons = browser.driver.find_elements("css selector", ".strip button")
    assert [button.text for button in buttons] == ["E03 old", "E11 new"]
    browser.js("arguments[0].click()", buttons[1])
    assert browser.js("return document.activeElement.dataset.line") == "E11"


# --- safety and layout ------------------------------------------------------------------


def test_hostile_text_is_text(browser: Browser, items: Items) -> None:
    for item, dimension, _ in probes(items):
        browser.set("f-text", item.uid)
        if dimension:
            browser.set("f-dimension", dimension)
    assert browser.js("return window.owned === undefined")
    assert browser.js("return document.images.length === 0 && document.scripts.length === 2")
    browser.set("f-dimension", "")
    browser.set("f-text", "u01")
    assert "<img src=x onerror=window.owned=1>" in browser.detail()


@pytest.mark.parametrize("width", [1366, 390])
def test_nothing_is_fetched_and_nothing_is_complained_about(
    browser: Browser, report: Path, width: int
) -> None:
    browser.open(report, width=width)
    browser.set("f-type", "T2")
    browser.set("f-text", "denver")
    assert browser.js("return performance.getEntriesByType('resource').length") == 0
    requests = browser.requests()
    assert requests
    assert all(url.startswith(("file:", "data:")) for url in requests)
    assert browser.driver.get_log("browser") == []


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_the_page_never_scrolls_sideways(
    browser: Browser, report: Path, items: Items, width: int, height: int
) -> None:
    browser.open(report, width=width, height=height)
    browser.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for item in items:
        browser.set("f-text", item.uid)
        assert browser.js("return document.documentElement.scrollWidth") <= width


def test_a_phone_shows_list_and_probe_one_below_the_other(browser: Browser, report: Path) -> None:
    browser.open(report, width=390, height=844)
    browser.driver.find_elements("css selector", "#list li")[1].click()
    assert browser.js("return document.activeElement.id") == "detail"
    back = browser.driver.find_element("id", "back")
    assert back.is_displayed()
    back.click()
    assert browser.js("return document.activeElement.id") == "list"


def test_light_and_dark_follow_the_system_and_can_be_read(browser: Browser, report: Path) -> None:
    for dark in (False, True):
        browser.open(report, dark=dark)
        ink, paper = browser.js(
            "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
        )
        levels = [sum(map(int, c.strip("rgb()").split(","))) for c in (ink, paper)]
        assert (levels[0] > levels[1]) is dark
        assert abs(levels[0] - levels[1]) > 400
