"""A result as a person sees it in a notebook or a terminal: pure functions to text and HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stateauditor.signatures.models import AuditResult


def line(result: AuditResult) -> str:
    """What became of the draft, in one line with no text of a memory: it may go to a log."""
    state = "repaired" if result.changed else "unchanged"
    parts = [state, f"directives: {len(result.directives)}"]
    if result.failed_open:
        parts.append(f"failed open: {len(result.failed_open)}")
    parts += [result.backend, result.policy.value, result.variant.value]
    return f"<AuditResult {', '.join(parts)}>"


def html(result: AuditResult) -> str:
    """The reply and what changed it, as a table; every text is escaped."""
    state = "repaired" if result.changed else "unchanged"
    rows = [(f"reply ({state})", result.response)]
    changes = {(d.attribute, d.old_value, d.current_value): d.kind.value for d in result.directives}
    rows += [
        (kind, f"{attribute or 'state'}: {old or 'unknown'} → {new or 'unknown'}")
        for (attribute, old, new), kind in changes.items()
    ]
    rows += [(f"failed open: {failure.role}", failure.reason) for failure in result.failed_open]
    rows.append(("answered by", f"{result.backend}, {result.policy}, {result.variant}"))
    cells = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{escape(name)}</th>"
        f"<td style='text-align:left;white-space:pre-wrap'>{escape(text)}</td></tr>"
        for name, text in rows
    )
    return f"<table>{cells}</table>"
