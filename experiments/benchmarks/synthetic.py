"""Small scenarios, and what a model says about them, for benchmarks and tests.

Everybody in these scenarios moves from one town to another. The answers depend on
the prompt alone, so that runs in any order, interrupted or not, are told the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

SEALED = ("SEALED-OLD", "SEALED-NEW", "SEALED-WHY")
"""How the judge-only texts begin; they stand nowhere else."""

_MOVE = re.compile(r"I rent a flat in (?P<old>\w+)\.|I unpacked the last box in (?P<new>\w+)\.")


def scenario(number: int) -> dict[str, Any]:
    """A record in Stale's layout."""
    old, new = f"Oldtown{number}", f"Newtown{number}"
    return {
        "uid": f"u{number:03d}",
        "haystack_session": [
            [
                {"role": "user", "content": f"I rent a flat in {old}. The rent is fair."},
                {"role": "assistant", "content": "Good to know."},
            ],
            [{"role": "user", "content": "My sister sent me a book about birds."}],
            [{"role": "user", "content": f"I unpacked the last box in {new}. I am so tired."}],
        ],
        "timestamps": ["2025-01-01 09:00", "2025-02-01 09:00", "2025-03-01 09:00"],
        "probing_queries": {
            "dim1_query": f"Does the user still live in {old}?",
            "dim2_query": f"Where near {old} should the user shop, case {number}?",
            "dim3_query": f"What should I do on Saturday, case {number}?",
        },
        "M_old": f"{SEALED[0]}-{number}",
        "M_new": f"{SEALED[1]}-{number}",
        "explanation": f"{SEALED[2]}-{number}",
        "relevant_session_index": [0, 2],
        "type": "T1" if number % 2 else "T2",
    }


def answer(signature: str, prompt: str, model: str = "") -> dict[str, Any]:
    """What the model says where ``signature`` asks, given all of the prompt's text."""
    return {"reasoning": "r", **_ANSWERS[signature](prompt, model)}


def chance(text: str, share: float) -> bool:
    """True for about ``share`` of all texts, and always the same for one."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 0x1_0000_0000 < share


def _towns(prompt: str) -> tuple[str, str]:
    found: dict[str, str] = {}
    for match in _MOVE.finditer(prompt):
        for name, town in match.groupdict().items():
            if town:
                found.setdefault(name, town)
    return found.get("old", "nowhere"), found.get("new", "nowhere")


def _generated(prompt: str, model: str) -> dict[str, Any]:
    return {"response": f"Walk around {_towns(prompt)[0]} and enjoy the shops."}


def _extracted(prompt: str, model: str) -> dict[str, Any]:
    return {"premises": [{"text": "The user lives where they did."}]}


def _nothing_presupposed(prompt: str, model: str) -> dict[str, Any]:
    return {"premises": []}


def _adjudicated(prompt: str, model: str) -> dict[str, Any]:
    verdict = {"number": 1, "verdict": "STALE", "attribute": "home", "material": True}
    return {"verdicts": [verdict | {"current_value": _towns(prompt)[1]}]}


def _timeline(prompt: str, model: str) -> dict[str, Any]:
    old, new = _towns(prompt)
    item = {"attribute": "home", "previous_value": old, "current_value": new, "status": "changed"}
    return {"timeline": [item]}


def _findings(prompt: str, model: str) -> dict[str, Any]:
    finding = {"number": 1, "verdict": "STALE", "dependency": "the town", "material": True}
    return {"findings": [finding]}


def _proposed(prompt: str, model: str) -> dict[str, Any]:
    old, new = _towns(prompt)
    transition = {
        "attribute": "home",
        "old_value": old,
        "new_value": new,
        "old_quote": f"I rent a flat in {old}.",
        "new_quote": f"I unpacked the last box in {new}.",
        "causal_path": ["unpacked", "lives in the new town", "no longer in the old one"],
        "applies_to": sorted(set(re.findall(r"\bP[1-3]\b", prompt))),
        "material": True,
    }
    return {"transitions": [transition]}


def _reviewed(prompt: str, model: str) -> dict[str, Any]:
    premise = {
        "text": "The user lives where they did.",
        "origin": "draft",
        "attribute": "home",
        "verdict": "STALE",
        "current_value": _towns(prompt)[1],
        "material": True,
    }
    return {"premises": [premise]}


def _lean(prompt: str, model: str) -> dict[str, Any]:
    return {**_reviewed(prompt, model), **_timeline(prompt, model), **_proposed(prompt, model)}


def _adapted(prompt: str, model: str) -> dict[str, Any]:
    towns = re.findall(r"Newtown\d+", prompt) or ["town"]
    return {"response": f"Walk around {towns[0]} and enjoy the shops there."}


def _scores(prompt: str, model: str) -> dict[str, Any]:
    scores = {}
    for dimension in ("sr", "pr", "ipa"):
        passed = chance(f"{model} {dimension} {prompt}", 0.7)
        scores[dimension] = {"reason": "It fits.", "passed": passed, "grounded": passed}
    return scores


_ANSWERS: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    "ResponseGeneration": _generated,
    "PremiseExtraction": _extracted,
    "PresuppositionExtraction": _nothing_presupposed,
    "PremiseAdjudication": _adjudicated,
    "TimelineConstruction": _timeline,
    "DraftConsistency": _findings,
    "TransitionProposal": _proposed,
    "EvidenceReview": _reviewed,
    "LeanAudit": _lean,
    "ResponseAdaptation": _adapted,
    "StaleJudgment": _scores,
}
