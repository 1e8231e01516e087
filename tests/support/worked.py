"""A worked example with a scripted reply for every role: a move from Seattle to Austin."""

from __future__ import annotations

from typing import Any

MEMORY: list[dict[str, Any]] = [
    {"timestamp": "2024-01-05", "text": "I live in Seattle, near Green Lake."},
    {
        "id": "s7",
        "timestamp": "2024-06-02 10:00",
        "turns": [
            {"role": "user", "content": "Setting up utilities in my new Austin apartment at last."},
            {"role": "assistant", "content": "Congratulations on living in Dallas!"},
        ],
    },
    {"timestamp": "2024-06-03", "text": "I like tea."},
]
QUESTION = "What should I do outdoors this weekend?"
DRAFT = "Walk around Green Lake in the morning, then take the ferry to Bainbridge.\n"
REPLY = "Now that you are in Austin: swim at Barton Springs in the morning."

PREMISE = {"text": "The user lives in Seattle.", "stated": False}
VERDICT = {
    "number": 1,
    "verdict": "STALE",
    "current_value": "Austin",
    "material": True,
    "evidence": ["E01", "E02"],
    "attribute": "home city",
}
CHANGE = {
    "attribute": "home city",
    "previous_value": "Seattle",
    "current_value": "Austin",
    "status": "changed",
    "evidence": ["E01", "E02"],
}
TRANSITION = {
    "attribute": "home city",
    "old_value": "Seattle",
    "new_value": "Austin",
    "old_quote": "I live in Seattle",
    "new_quote": "utilities in my new Austin apartment",
    "causal_path": ["utilities in an own apartment in Austin", "home is Austin"],
    "applies_to": ["P1"],
    "material": True,
}


def script(**changes: Any) -> dict[str, Any]:
    """Replies for every role; ``changes`` replaces some of them."""
    return {
        "premise_extraction": {"reasoning": "r", "premises": [PREMISE]},
        "presupposition_extraction": {"reasoning": "r", "premises": []},
        "premise_adjudication": {"reasoning": "r", "verdicts": [VERDICT]},
        "timeline_construction": {"reasoning": "r", "timeline": [CHANGE]},
        "draft_consistency": {
            "reasoning": "r",
            "findings": [{"number": 1, "verdict": "STALE", "material": True}],
        },
        "transition_proposal": {"reasoning": "r", "transitions": [TRANSITION]},
        "lean_audit": {
            "reasoning": "r",
            "premises": [{**VERDICT, **PREMISE, "origin": "draft"}],
            "timeline": [CHANGE],
            "transitions": [TRANSITION],
        },
        "response_adaptation": {"reasoning": "r", "response": REPLY},
    } | changes
