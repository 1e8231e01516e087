"""The same sheet as one self-contained page: no network, progress kept in the browser."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from stateauditor.experiments.annotation.rules import INSTRUCTIONS, Label
from stateauditor.experiments.annotation.sheets import FILLED, TEXTS, Entry
from stateauditor.experiments.reports.page import digest, environment, part, safe
from stateauditor.experiments.reports.payload import dumps

_PACKAGE: Final = "stateauditor.experiments.annotation"


def form_html(annotator: str, entries: Sequence[Entry]) -> str:
    """The form of one annotator. Raises :class:`ConfigError` where jinja2 is not installed.

    The browser keeps labels under a name of this very sheet, so that two forms on one
    machine never mix.
    """
    data = dumps([{name: getattr(entry, name) for name in ("id", *TEXTS)} for entry in entries])
    sheet = hashlib.sha256(f"{annotator}\n{data}".encode("utf-8", "replace")).hexdigest()[:16]
    css = part("report.css") + part("form.css", _PACKAGE)
    script = part("elements.js") + part("form.js", _PACKAGE)
    page: str = (
        environment(_PACKAGE)
        .get_template("form.html.j2")
        .render(
            annotator=annotator,
            instructions=INSTRUCTIONS,
            choices=[(label.value, label.value[0]) for label in Label],
            columns=dumps(FILLED),
            sheet=sheet,
            total=len(entries),
            data=safe(data),
            css=safe(css),
            script=safe(script),
            css_hash=digest(css),
            script_hash=digest(script),
        )
    )
    return page
