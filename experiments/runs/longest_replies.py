"""The longest answers that a role may give, such that every later role is asked.

Stand-ins for replies in estimates: as many items as the instructions allow, of
usual length, pointing at lines of the readout in the prompt.
"""

from __future__ import annotations

import json
import re
from typing import Any

PREMISES, PRESUPPOSITIONS, TRANSITIONS, CHANGES = 12, 6, 6, 8
QUESTIONS, PERSONA = 6, 10
"""What the instructions of the roles allow, and about as many changes as a readout holds."""

_LINE = re.compile(r'^(E\d+) \[[^\]]*\] (".*")$', re.MULTILINE)
_NUMBER = re.compile(r'"number": *(\d+)')
_REASONING = "One of the lines speaks of it, and a later one may have ended it. " * 8
_SENTENCE = "The user has an arrangement that this reply silently relies on, as said before."
_PHRASE = "an arrangement as it is now"
_ANSWER = "Advice of the usual length, in plain words, about what was asked for today. " * 12


def maximal_reply(role: str, prompt: str) -> dict[str, Any]:
    """The answer of a role, as JSON, to a prompt of its own."""
    lines = [(name, json.loads(text)) for name, text in _LINE.findall(prompt)]
    return {"reasoning": _REASONING, **_ANSWERS[role](lines, prompt)}


def _premises(count: int) -> dict[str, Any]:
    return {"premises": [{"text": f"{_SENTENCE} ({n})", "stated": False} for n in range(count)]}


def _judged(lines: list[tuple[str, str]], count: int) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "text": f"{_SENTENCE} ({number})",
            "evidence": _ends(lines),
            "attribute": f"arrangement {number}",
            "verdict": "STALE",
            "current_value": _PHRASE,
            "material": True,
            "origin": "draft",
        }
        for number in range(1, count + 1)
    ]


def _timeline(lines: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {
            "attribute": f"arrangement {number}",
            "previous_value": f"{_PHRASE}, before {number}",
            "current_value": f"{_PHRASE}, after {number}",
            "status": "changed",
            "evidence": _ends(lines),
        }
        for number in range(CHANGES)
    ]


def _transitions(lines: list[tuple[str, str]], prompt: str) -> list[dict[str, Any]]:
    if not lines:
        return []
    pairs = [pair for pair in ("P1", "P2", "P3") if f'"{pair}"' in prompt]
    return [
        {
            "attribute": f"arrangement {number}",
            "old_quote": lines[0][1],
            "new_quote": lines[-1][1],
            "causal_path": [f"{_PHRASE}, step {step}" for step in range(1, 4)],
            "old_value": f"before {number}",
            "new_value": f"after {number}",
            "applies_to": pairs,
            "material": True,
        }
        for number in range(TRANSITIONS)
    ]


def _ends(lines: list[tuple[str, str]]) -> list[str]:
    return [lines[0][0], lines[-1][0]] if lines else []


def _numbered(prompt: str) -> range:
    """The numbers of the items in the prompt."""
    return range(1, max((int(number) for number in _NUMBER.findall(prompt)), default=0) + 1)


def _questions() -> list[dict[str, str]]:
    return [{"text": f"{_SENTENCE} Is that so? ({number})"} for number in range(QUESTIONS)]


def _score() -> dict[str, Any]:
    return {"reason": _SENTENCE, "passed": True, "grounded": True}


_ANSWERS: dict[str, Any] = {
    "response_generation": lambda lines, prompt: {"response": _ANSWER},
    "premise_extraction": lambda lines, prompt: _premises(PREMISES),
    "presupposition_extraction": lambda lines, prompt: _premises(PRESUPPOSITIONS),
    "premise_adjudication": lambda lines, prompt: {
        "verdicts": _judged(lines, len(_numbered(prompt)))
    },
    "timeline_construction": lambda lines, prompt: {"timeline": _timeline(lines)},
    "draft_consistency": lambda lines, prompt: {
        "findings": [
            {"number": n, "dependency": _SENTENCE, "verdict": "STALE", "material": True}
            for n in _numbered(prompt)
        ]
    },
    "transition_proposal": lambda lines, prompt: {"transitions": _transitions(lines, prompt)},
    "evidence_review": lambda lines, prompt: {"premises": _judged(lines, PREMISES)},
    "lean_audit": lambda lines, prompt: {
        "premises": _judged(lines, PREMISES),
        "timeline": _timeline(lines),
        "transitions": _transitions(lines, prompt),
    },
    "skeptic": lambda lines, prompt: {
        "challenges": [
            {"number": n, "reason": _SENTENCE, "upheld": True} for n in _numbered(prompt)
        ]
    },
    "semantic_gate": lambda lines, prompt: {
        "rulings": [
            {"number": n, "reason": _SENTENCE, "supersedes": True} for n in _numbered(prompt)
        ]
    },
    "response_adaptation": lambda lines, prompt: {"response": _ANSWER},
    "self_critique": lambda lines, prompt: {
        "faults": [
            {"passage": _PHRASE, "problem": _SENTENCE, "evidence": _ends(lines)}
            for _ in range(QUESTIONS)
        ]
    },
    "critique_revision": lambda lines, prompt: {"response": _ANSWER},
    "verification_planning": lambda lines, prompt: {"checks": _questions()},
    "verification_answering": lambda lines, prompt: {"answer": _SENTENCE * 2},
    "verified_revision": lambda lines, prompt: {"response": _ANSWER},
    "query_generation": lambda lines, prompt: {"queries": _questions()},
    "agreement_gate": lambda lines, prompt: {
        "ruling": {"by_draft": _SENTENCE, "by_evidence": _SENTENCE, "agreement": "disagrees"}
    },
    "evidence_editing": lambda lines, prompt: {"response": _ANSWER},
    "state_summary": lambda lines, prompt: {
        "states": [
            {
                "attribute": f"arrangement {number}",
                "evidence": _ends(lines),
                "superseded": [f"{_PHRASE}, before {number}"],
                "current_value": f"{_PHRASE}, after {number}",
            }
            for number in range(CHANGES)
        ]
    },
    "summary_generation": lambda lines, prompt: {"response": _ANSWER},
    "timeline_regeneration": lambda lines, prompt: {"response": _ANSWER},
    "persona_selection": lambda lines, prompt: {
        "persona": [{"text": _SENTENCE, "evidence": _ends(lines)} for _ in range(PERSONA)]
    },
    "persona_alignment": lambda lines, prompt: {"response": _ANSWER},
    "stale_judgment": lambda lines, prompt: {"sr": _score(), "pr": _score(), "ipa": _score()},
}
