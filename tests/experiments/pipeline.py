"""Small scenarios, and a model that answers every role of the pipeline about them.

The answers depend on the prompt alone, so that runs in any order, interrupted or
not, are told the same. Everybody in these scenarios moves from one town to another.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tests.support.loopback import Loopback, Reply

SEALED = ("SEALED-OLD", "SEALED-NEW", "SEALED-WHY")
_MOVE = re.compile(r"I rent a flat in (?P<old>\w+)\.|I unpacked the last box in (?P<new>\w+)\.")
PRICE = {"input_per_million": 1.0, "output_per_million": 4.0}


def scenario(number: int) -> dict[str, Any]:
    """A record in Stale's layout; its judge-only texts stand nowhere else."""
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


def write_scenarios(path: Path, count: int) -> Path:
    """A file of ``count`` scenarios."""
    path.write_text(json.dumps([scenario(n) for n in range(1, count + 1)]), "utf-8")
    return path


def role_of(body: dict[str, Any]) -> str:
    """The Signature that a request asks for."""
    name: str = body["response_format"]["json_schema"]["name"]
    return name


def text_of(body: dict[str, Any]) -> str:
    """All that a request says."""
    return "\n".join(str(message["content"]) for message in body["messages"])


def chance(text: str, share: float) -> bool:
    """True for about ``share`` of all texts, and always the same for one."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 0x1_0000_0000 < share


def answer(body: dict[str, Any], **settings: Any) -> Reply:
    """What the model says to one request."""
    asked = body["messages"][-1]["content"]
    value = _ANSWERS[role_of(body)](asked, body.get("model", ""))
    text = json.dumps(value, ensure_ascii=False)
    usage = (len(text_of(body)) // 4, len(text) // 4)
    return Reply(text, usage=usage, **settings)


def pipeline(body: dict[str, Any], number: int) -> Reply:
    """The script of a loopback server that answers at once."""
    return answer(body)


def _towns(asked: str) -> tuple[str, str]:
    found: dict[str, str] = {}
    for match in _MOVE.finditer(asked):
        for name, town in match.groupdict().items():
            if town:
                found.setdefault(name, town)
    return found.get("old", "nowhere"), found.get("new", "nowhere")


def _generated(asked: str, model: str) -> dict[str, Any]:
    return {"reasoning": "r", "response": f"Walk around {_towns(asked)[0]} and enjoy the shops."}


def _extracted(asked: str, model: str) -> dict[str, Any]:
    return {"reasoning": "r", "premises": [{"text": "The user lives where they did."}]}


def _nothing_presupposed(asked: str, model: str) -> dict[str, Any]:
    return {"reasoning": "r", "premises": []}


def _judged_premise(asked: str, model: str) -> dict[str, Any]:
    verdict = {"number": 1, "verdict": "STALE", "attribute": "home", "material": True}
    return {"reasoning": "r", "verdicts": [verdict | {"current_value": _towns(asked)[1]}]}


def _timeline(asked: str, model: str) -> dict[str, Any]:
    old, new = _towns(asked)
    item = {"attribute": "home", "previous_value": old, "current_value": new, "status": "changed"}
    return {"reasoning": "r", "timeline": [item]}


def _findings(asked: str, model: str) -> dict[str, Any]:
    finding = {"number": 1, "verdict": "STALE", "dependency": "the town", "material": True}
    return {"reasoning": "r", "findings": [finding]}


def _transition(asked: str) -> dict[str, Any]:
    old, new = _towns(asked)
    return {
        "attribute": "home",
        "old_value": old,
        "new_value": new,
        "old_quote": f"I rent a flat in {old}.",
        "new_quote": f"I unpacked the last box in {new}.",
        "causal_path": ["unpacked", "lives in the new town", "no longer in the old one"],
        "applies_to": sorted(set(re.findall(r"\bP[1-3]\b", asked))),
        "material": True,
    }


def _proposed(asked: str, model: str) -> dict[str, Any]:
    return {"reasoning": "r", "transitions": [_transition(asked)]}


def _premise(asked: str) -> dict[str, Any]:
    return {
        "text": "The user lives where they did.",
        "origin": "draft",
        "attribute": "home",
        "verdict": "STALE",
        "current_value": _towns(asked)[1],
        "material": True,
    }


def _reviewed(asked: str, model: str) -> dict[str, Any]:
    return {"reasoning": "r", "premises": [_premise(asked)]}


def _lean(asked: str, model: str) -> dict[str, Any]:
    return {"premises": [_premise(asked)], **_timeline(asked, model), **_proposed(asked, model)}


def _adapted(asked: str, model: str) -> dict[str, Any]:
    town = (re.findall(r"Newtown\d+", asked) or ["town"])[0]
    return {"reasoning": "r", "response": f"Walk around {town} and enjoy the shops there."}


def _scores(asked: str, model: str) -> dict[str, Any]:
    scores = {}
    for dimension in ("sr", "pr", "ipa"):
        passed = chance(f"{model} {dimension} {asked}", 0.7)
        scores[dimension] = {"reason": "It fits.", "passed": passed, "grounded": passed}
    return {"reasoning": "r", **scores}


_ANSWERS = {
    "ResponseGeneration": _generated,
    "PremiseExtraction": _extracted,
    "PresuppositionExtraction": _nothing_presupposed,
    "PremiseAdjudication": _judged_premise,
    "TimelineConstruction": _timeline,
    "DraftConsistency": _findings,
    "TransitionProposal": _proposed,
    "EvidenceReview": _reviewed,
    "LeanAudit": _lean,
    "ResponseAdaptation": _adapted,
    "StaleJudgment": _scores,
}


def write_backend(path: Path, server: Loopback, **settings: Any) -> Path:
    """A backend file, named like the file, whose one LM is the loopback server."""
    lm = {
        "model": f"openai/{path.stem}",
        "api_base": server.base,
        "temperature": 0,
        "retries": 0,
        "price": PRICE,
        **settings,
    }
    path.write_text(yaml.safe_dump({"name": path.stem, "lms": {"lm": lm}}), "utf-8")
    return path


def write_config(path: Path, **settings: Any) -> Path:
    """A run's config file; ``settings`` replace those of a strict VTA run."""
    config = {"arm": "strict_vta", "draws": 200, "tracking": False, "concurrency": 4, **settings}
    path.write_text(yaml.safe_dump(config), "utf-8")
    return path


def roles(requests: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How often each role was asked."""
    counts: dict[str, int] = {}
    for body in requests:
        counts[role_of(body)] = counts.get(role_of(body), 0) + 1
    return counts
