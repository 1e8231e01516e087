"""What self-contained pages are made with: templates, and the hashes of their own policy."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from stateauditor.data.extras import extra

REPORTS = "stateauditor.experiments.reports"


def part(name: str, package: str = REPORTS) -> str:
    """One file of a package's templates."""
    return (files(package) / "templates" / name).read_text("utf-8")


def environment(package: str = REPORTS) -> Any:
    """Jinja over a package's templates; everything is escaped unless it was made :func:`safe`.

    Raises :class:`ConfigError` where jinja2 is not installed.
    """
    jinja2 = extra("jinja2", "writing the page")
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: part(name, package)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def safe(text: str) -> Any:
    """Text that needs no escaping: this package's own, or JSON made safe for a script element."""
    return extra("markupsafe", "writing the page").Markup(text)


def digest(text: str) -> str:
    """A script's or style sheet's hash as a page's policy names it."""
    found = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(found).decode('ascii')}"
