"""The annotators' form in a real browser: keys, kept progress, a download that reads back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stateauditor.experiments.annotation.package import Key
from stateauditor.experiments.annotation.rules import Label
from stateauditor.experiments.annotation.unblind import import_labels
from tests.browser.conftest import Browser
from tests.experiments.annotation.packages import export, make_run, write_data
from tests.experiments.builders import EMOJI, HOSTILE

ESCAPE, RIGHT, LEFT = "\ue00c", "\ue014", "\ue012"
LONG = "\n\n".join(f"{n}. Walk to the market and back, and take your time." for n in range(1, 30))


@pytest.fixture
def package(tmp_path: Path) -> tuple[Path, Key]:
    """Eight cells whose replies are hostile and long; drafts and replies all differ."""
    run = make_run(
        tmp_path / "run",
        write_data(tmp_path / "data.json", 4, M_new=f"{EMOJI} {HOSTILE}"),
        reply=lambda uid, d: f"{HOSTILE} {EMOJI} {LONG if d == 'IPA' else 'Go there.'} {uid[1:]}",
    )
    _, key = export(run, tmp_path / "out", cells=8)
    return tmp_path / "out", key


@pytest.fixture
def form(_browser: Browser, package: tuple[Path, Key], tmp_path: Path) -> Browser:
    """The first annotator's form, open; downloads go to the test's folder."""
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path / "down")}
    _browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    _browser.open(page_of(package))
    _browser.js("localStorage.clear()")
    _browser.driver.refresh()
    return _browser


def page_of(package: tuple[Path, Key]) -> Path:
    return package[0] / "sheet_annotator1.html"


def text(form: Browser, name: str) -> str:
    found: str = form.js("return document.getElementById(arguments[0]).textContent", name)
    return found


def chosen(form: Browser) -> str | None:
    found: str | None = form.js(
        "const c = document.querySelector('input[name=label]:checked'); return c && c.value"
    )
    return found


def downloaded(form: Browser, folder: Path) -> Path:
    form.driver.find_element("id", "download").click()
    file = folder / "labels_annotator1.csv"
    deadline = time.monotonic() + 10
    while not file.exists():
        assert time.monotonic() < deadline, "nothing was downloaded"
        time.sleep(0.05)
    return file


def test_items_are_labelled_by_keyboard_alone(form: Browser) -> None:
    assert text(form, "count") == "0 of 16 labelled"
    assert text(form, "place") == "Item 1 of 16"
    form.press("p")
    assert chosen(form) == "pass"
    form.press("f", "j")
    assert (text(form, "place"), chosen(form)) == ("Item 2 of 16", None)
    form.press("u", RIGHT, "k", LEFT, LEFT)
    assert (text(form, "place"), chosen(form)) == ("Item 1 of 16", "fail")
    assert text(form, "count") == "2 of 16 labelled"
    form.press("n")
    assert text(form, "place") == "Item 3 of 16"
    form.press("p", "x")
    assert chosen(form) is None
    assert text(form, "count") == "2 of 16 labelled"
    assert form.js("return document.getElementById('bar').value") == 2


def test_keys_in_a_comment_are_text(form: Browser) -> None:
    form.press("c", "puff, a joke", ESCAPE)
    assert form.js("return document.getElementById('comment').value") == "puff, a joke"
    assert (chosen(form), text(form, "place")) == (None, "Item 1 of 16")
    form.press("j")
    assert form.js("return document.getElementById('comment').value") == ""
    form.press("k")
    assert form.js("return document.getElementById('comment').value") == "puff, a joke"


def test_labels_can_be_clicked_and_moved_by_arrows(form: Browser) -> None:
    form.driver.find_elements("css selector", ".choice")[1].click()
    assert chosen(form) == "fail"
    form.press(RIGHT)
    assert (chosen(form), text(form, "place")) == ("unsure", "Item 1 of 16")
    form.driver.find_element("id", "next").click()
    assert (chosen(form), text(form, "place")) == (None, "Item 2 of 16")
    form.driver.find_element("id", "previous").click()
    assert chosen(form) == "unsure"
    form.driver.find_element("id", "clear").click()
    assert chosen(form) is None


def test_progress_survives_a_reload(form: Browser) -> None:
    form.press("p", "c", "why not", ESCAPE, "j", "u")
    form.driver.refresh()
    assert text(form, "count") == "2 of 16 labelled"
    assert text(form, "place") == "Item 3 of 16", "where the first label is missing"
    form.press("k", "k")
    assert chosen(form) == "pass"
    assert form.js("return document.getElementById('comment').value") == "why not"


def test_forms_of_two_annotators_do_not_mix(form: Browser, package: tuple[Path, Key]) -> None:
    form.press("p")
    form.open(package[0] / "sheet_annotator2.html")
    assert text(form, "count") == "0 of 16 labelled"


def test_a_browser_that_keeps_nothing_says_so(form: Browser) -> None:
    form.js("Storage.prototype.setItem = () => { throw new Error('full'); }")
    assert not form.driver.find_element("id", "trouble").is_displayed()
    form.press("p")
    assert "download them before you close the page" in text(form, "trouble")
    assert form.driver.find_element("id", "trouble").is_displayed()
    assert text(form, "count") == "1 of 16 labelled"
    form.js("delete Storage.prototype.setItem; unsaved = false;")


def test_the_download_reads_back(form: Browser, package: tuple[Path, Key], tmp_path: Path) -> None:
    words = ["pass", "fail", "unsure", ""]
    ids = form.js("return JSON.parse(document.getElementById('items').textContent).map(i => i.id)")
    for n in range(len(ids)):
        form.press({"pass": "p", "fail": "f", "unsure": "u", "": "x"}[words[n % 4]])
        if n == 0:
            form.js("document.getElementById('comment').value = arguments[0]", '=1 "für", 東京\nja')
            form.press("c", "!", ESCAPE)
        form.press("j")
    file = downloaded(form, tmp_path / "down")
    assert file.read_bytes().startswith(b'\xef\xbb\xbf"item","label","comment"\r\n')
    assert '"\'=1 ""für"", 東京\nja!"' in file.read_text("utf-8").replace("\r\n", "\n")
    done = import_labels(package[0], [str(file)], draws=50)
    (who,) = done.results.annotators
    assert (who.name, who.labelled, who.unsure, who.missing) == ("annotator1", 8, 4, 4)
    by_id = package[1].by_id("annotator1")
    passes = dict.fromkeys(("reply", "draft"), 0)
    for n, blind in enumerate(ids):
        for system in by_id[blind].systems:
            passes[system] += words[n % 4] == Label.PASS
    assert {r.system: r.passed.hits for r in who.systems} == passes


def test_hostile_text_is_text(form: Browser) -> None:
    seen = []
    for _ in range(16):
        seen.append(text(form, "answer") + text(form, "new_state"))
        form.press("j")
    assert any(HOSTILE in answer and EMOJI in answer for answer in seen)
    assert form.js("return window.owned === undefined")
    assert form.js("return document.images.length === 0 && document.scripts.length === 2")


@pytest.mark.parametrize("width", [1366, 390])
def test_nothing_is_fetched_and_nothing_is_complained_about(
    form: Browser, package: tuple[Path, Key], tmp_path: Path, width: int
) -> None:
    form.driver.get_log("browser")
    form.open(page_of(package), width=width)
    form.press("p", "j", "f")
    downloaded(form, tmp_path / "down")
    assert form.js("return performance.getEntriesByType('resource').length") == 0
    assert all(url.startswith(("file:", "data:", "blob:")) for url in form.requests())
    assert form.driver.get_log("browser") == []


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_labels_are_in_reach_and_nothing_scrolls_sideways(
    form: Browser, package: tuple[Path, Key], width: int, height: int
) -> None:
    form.open(page_of(package), width=width, height=height)
    for _ in range(16):
        assert form.js("return document.documentElement.scrollWidth") <= width
        assert form.js(
            "const r = document.querySelector('.verdict').getBoundingClientRect();"
            "return r.bottom <= innerHeight + 1 && r.height < innerHeight / 3"
        )
        form.press("j")


def test_light_and_dark_follow_the_system(form: Browser, package: tuple[Path, Key]) -> None:
    for dark in (False, True):
        form.open(page_of(package), dark=dark)
        ink, paper = form.js(
            "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
        )
        levels = [sum(map(int, c.strip("rgb()").split(","))) for c in (ink, paper)]
        assert (levels[0] > levels[1]) is dark
        assert abs(levels[0] - levels[1]) > 400


def test_every_control_has_a_name(form: Browser) -> None:
    assert form.js(
        "return [...document.querySelectorAll('input, textarea')].every(e => e.labels.length === 1)"
    )
    assert form.js(
        "return [...document.querySelectorAll('button')].every(e => e.textContent.trim())"
    )
