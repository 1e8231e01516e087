"""What a notebook and a terminal show of a result."""

from __future__ import annotations

from stateauditor.signatures.models import (
    AuditResult,
    Directive,
    DirectiveKind,
    Failure,
    Policy,
    Variant,
)

RESULT = AuditResult(
    response="Now <b>Austin</b>.",
    draft="Seattle.",
    changed=True,
    backend="offline",
    policy=Policy.FULL,
    variant=Variant.LEAN,
    directives=(
        Directive(
            kind=DirectiveKind.REPAIR,
            attribute="home",
            old_value="Seattle",
            current_value="Austin",
            authority="transition:T01",
        ),
    ),
    failed_open=(Failure(role="proposer", reason="timed out"),),
)


def test_a_notebook_shows_the_reply_what_changed_and_what_failed() -> None:
    shown = RESULT._repr_html_()
    assert "reply (repaired)" in shown
    assert "home: Seattle → Austin" in shown
    assert "failed open: proposer" in shown
    assert len(shown) < 2_000


def test_text_of_a_memory_is_no_markup() -> None:
    assert "<b>" not in RESULT._repr_html_()
    assert "&lt;b&gt;Austin" in RESULT._repr_html_()


def test_a_terminal_shows_one_line_without_any_text_of_a_memory() -> None:
    shown = "<AuditResult repaired, directives: 1, failed open: 1, offline, full, lean>"
    assert repr(RESULT) == str(RESULT) == f"{RESULT}" == shown
