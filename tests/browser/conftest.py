"""A headless Chromium, and a report for it to open; skipped where there is none."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stateauditor.experiments.reports.figures import figures_of
from stateauditor.experiments.reports.html import report_html
from stateauditor.experiments.reports.tables import judge_models
from stateauditor.experiments.results.compare import compare_runs
from stateauditor.experiments.runs.records import ItemRecord
from tests.experiments.builders import folder, records, summary

JUDGES = ("first", "second", "third")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _program(variable: str, default: str) -> str:
    path = os.environ.get(variable, default)
    if not Path(path).exists():
        pytest.skip(f"no browser: {path} is missing (Debian: apt-get install chromium-driver)")
    return path


@pytest.fixture(scope="session")
def items() -> list[ItemRecord]:
    return records(JUDGES)


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory, items: list[ItemRecord]) -> Path:
    """The page of a run with three judges, keys, failures, hostile text and a comparison."""
    place = tmp_path_factory.mktemp("report")
    made = folder(place / "run", items)
    base = folder(place / "base", records(JUDGES, extra=""), name="base")
    comparison = compare_runs(made, base, draws=200)
    page = report_html(
        summary(made),
        made.spec(),
        made.manifest(),
        made.items(),
        figures_of(summary(made), comparison, [summary(base)]),
        comparison,
        judge_models(made.items()),
    )
    return made.write_text("report.html", page)


class Browser:
    """The few things that the tests do with a page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, *, width: int = 1366, height: int = 768, dark: bool = False) -> None:
        """Load a page in a window of this size."""
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get_log("performance")
        self.driver.get(page.as_uri())

    def resize(self, width: int, height: int) -> None:
        """Give the page a window of exactly this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def js(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return its value."""
        return self.driver.execute_script(script, *arguments)

    def set(self, control: str, value: str) -> None:
        """Choose in a select or type into a field, as a user's change."""
        self.js(
            "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
            "if (e.value !== arguments[1]) throw new Error('no choice ' + arguments[1]);"
            "e.dispatchEvent(new Event('input', {bubbles: true}))",
            control,
            value,
        )

    def press(self, *keys: str) -> None:
        """Press keys on what has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def shown(self) -> list[tuple[str, str]]:
        """Uid and dimension of each visible row of the list."""
        names = self.js(
            "return [...document.querySelectorAll('#list li')].filter(r => r.offsetParent)"
            ".map(r => r.querySelector('.name').textContent)"
        )
        parts = [name.split(" · ") for name in names]
        return [(part[0], part[2] if len(part) > 2 else "") for part in parts]

    def chosen(self) -> str:
        """The name of the row that is chosen."""
        name: str = self.js(
            "return document.querySelector('#list [aria-selected=true] .name').textContent"
        )
        return name

    def detail(self) -> str:
        """The text of the chosen probe as it is seen."""
        text: str = self.js("return document.getElementById('detail').innerText")
        return text

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]


@pytest.fixture(scope="session")
def _browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium: pip install it")
    binary = _program("CHROMIUM", "/usr/bin/chromium")
    service = _program("CHROMEDRIVER", "/usr/bin/chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=service)
    )
    yield Browser(driver)
    driver.quit()


@pytest.fixture
def browser(_browser: Browser, report: Path) -> Browser:
    """The browser with the report open, on a laptop's screen."""
    _browser.open(report)
    return _browser
