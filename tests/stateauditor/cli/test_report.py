"""The text view of an audit, on a result written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from stateauditor.cli.console import stdout
from stateauditor.cli.report import show_result, usage_line
from stateauditor.signatures.models import AuditResult

ENTRIES = [
    {"id": "E01", "entry_id": "home", "timestamp": "2024-01-05", "text": "I live in Seattle."},
    {
        "id": "E02",
        "entry_id": "chat.0",
        "timestamp": "2024-06-02T10:00Z",
        "text": "I am setting up the utilities in my new Austin flat.",
        "session": "chat",
        "turn": 0,
    },
]
VERIFIED = {
    "id": "T1",
    "status": "verified",
    "attribute": "home city",
    "old_value": "Seattle",
    "new_value": "Austin",
    "causal_path": ["utilities in Austin", "home in Austin"],
    "old": {
        "entry_id": "E01",
        "timestamp": "2024-01-05",
        "quote": "I live in Seattle",
        "coverage": 1.0,
        "start": 0,
        "end": 17,
    },
    "new": {
        "entry_id": "E02",
        "timestamp": "2024-06-02T10:00Z",
        "quote": "my new Austin flat",
        "coverage": 1.0,
        "start": 33,
        "end": 51,
    },
}
REJECTED = {
    "id": "T2",
    "status": "rejected",
    "reasons": ["ungrounded_new", "short_path"],
    "attribute": "job",
    "old_value": "nurse",
    "new_value": "pilot",
    "old": {"entry_id": "E01", "timestamp": None, "quote": "I live in Seattle"},
    "new": {"quote": "I fly planes"},
}
RESULT: dict[str, Any] = {
    "response": "Walk along the lake in Austin.",
    "draft": "Walk along the ferry in Seattle.",
    "changed": True,
    "backend": "openai",
    "policy": "repair_only",
    "variant": "strict_vta",
    "directives": [
        {
            "kind": kind,
            "attribute": "home city",
            "old_value": "Seattle",
            "current_value": "Austin",
            "authority": "transition:T1",
        }
        for kind in ("repair", "correct_and_inform")
    ],
    "premises": [
        {
            "text": "the user lives in Seattle",
            "verdict": "STALE",
            "current_value": "Austin",
            "material": True,
            "origin": "draft",
            "evidence": ["E02"],
        }
    ],
    "timeline": [
        {
            "attribute": "home city",
            "previous_value": "Seattle",
            "current_value": "Austin",
            "status": "changed",
        }
    ],
    "transitions": [VERIFIED, REJECTED],
    "readout": ENTRIES,
    "usage": {
        "paid": {
            "calls": 6,
            "input_tokens": 12_345,
            "output_tokens": 678,
            "cost": 0.0123,
            "seconds": 4.25,
        },
        "cached": {"calls": 1, "cost": None},
    },
}

PLAIN = """\
Reply (repaired)
Walk along the lake in Austin.

What changed
Walk along the [-ferry-]{+lake+} in [-Seattle-]{+Austin+}.

Why
  repair + correct_and_inform  home city: Seattle → Austin  (transition:T1)
    was 2024-01-05        “I live in Seattle” (E01)
    now 2024-06-02T10:00Z “my new Austin flat” (E02)

openai · repair_only · strict_vta · 6 paid calls and 1 cached, $0.0123 · checked: quotations and \
their order, never meaning
"""

DETAILS = """
Rejected transitions (1)
  job: nurse → pilot
    was unknown time      “I live in Seattle” (E01)
    now unknown time      “I fly planes” (no entry)
    ungrounded_new: the new quotation stands in no entry
    short_path: the causal path has fewer than two steps

Premises (1)
  STALE    the user lives in Seattle → Austin (draft)

Timeline (1)
  changed    home city: Seattle → Austin

readout: 2 entries
calls: 6 paid, 12,345 tokens in, 678 out, $0.0123, 4.2 s / 1 cached, 0 tokens in, 0 out, \
cost unknown, 0.0 s
What is verified is provenance and chronology (where a quotation stands, and which one is \
newer), never meaning.
"""


def view(capsys: pytest.CaptureFixture[str], *, verbose: bool = False, **changes: Any) -> str:
    result = AuditResult.model_validate(RESULT | changes)
    show_result(stdout(), result, verbose=verbose)
    return capsys.readouterr().out


def test_a_repaired_reply_shows_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert view(capsys) == PLAIN


def test_verbose_adds_what_was_rejected_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert DETAILS in view(capsys, verbose=True)


def test_an_untouched_reply_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    out = view(capsys, response=RESULT["draft"], changed=False, directives=[])
    assert out.startswith("Reply (unchanged, byte for byte the draft)\nWalk along the ferry")
    assert "What changed" not in out
    assert "Why" not in out


def test_a_finding_that_is_only_reported_says_how_to_have_it_repaired(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = view(capsys, response=RESULT["draft"], changed=False, policy="observe")
    assert out.startswith("Reply (the draft, unchanged; --policy repair_only repairs it)\n")


def test_failed_roles_are_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    failures = [{"role": "transition_proposal", "reason": "timed out"}]
    assert "Failed open\n  transition_proposal: timed out\n" in view(capsys, failed_open=failures)


def test_a_base_audit_directive_shows_the_entries_it_rests_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    premise = RESULT["premises"][0] | {"attribute": "home city"}
    directive = RESULT["directives"][0] | {"authority": "base_audit:draft"}
    out = view(capsys, premises=[premise], directives=[directive], transitions=[])
    assert "see 2024-06-02T10:00Z “I am setting up the utilities" in out


def test_offline_results_are_labelled(capsys: pytest.CaptureFixture[str]) -> None:
    backend = "offline (lexical rules)"
    assert "\noffline (lexical rules) · repair_only" in view(capsys, backend=backend)
    out = view(capsys, backend=backend, verbose=True)
    assert "These findings come from lexical rules, not from a model" in out
    assert "calls: no LM; lexical rules answered 6 roles" in out


def test_hostile_text_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    out = view(capsys, response="\x1b[2Jcleared", failed_open=[{"role": "r", "reason": "\x07"}])
    assert "\x1b" not in out
    assert "\x07" not in out


def test_usage_keeps_paid_and_cached_apart() -> None:
    usage = {"paid": {"calls": 0}, "cached": {"calls": 2, "cost": 0.5}}
    line = usage_line(AuditResult.model_validate(RESULT | {"usage": usage}))
    assert line == "calls: 0 paid / 2 cached, 0 tokens in, 0 out, $0.5000, 0.0 s"
