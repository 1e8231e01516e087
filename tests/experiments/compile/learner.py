"""A model that is only as good as its prompt, and small configs to compile with it.

``student`` finds the gold change of a bundled scenario only where its prompt holds a
demonstration, or the sentence :data:`LESSON`; otherwise it finds nothing. ``teacher``
always finds it. ``writer`` writes the lesson into any instruction. Nobody finds a
change in a control.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from stateauditor.data.frozen import load_frozen
from stateauditor.data.slices import load_slice
from tests.support.loopback import Loopback, Reply, json_reply

LESSON = "Ask of every later line which earlier line it silently ends."
KEY = "sk-learner-secret-0123456789"
PRICE = {"input_per_million": 1.0, "output_per_million": 4.0}
BOOTSTRAP = {"name": "bootstrap_few_shot", "max_bootstrapped_demos": 1}
GEPA = {"name": "gepa", "max_metric_calls": 14, "reflection_minibatch_size": 2}
IDS = load_frozen("stale_mini_dev").ids


@cache
def golds() -> tuple[tuple[tuple[str, ...], str, dict[str, Any]], ...]:
    """For each conflict its questions, the newer statement, and the right transition."""
    found = load_slice("stale_mini")
    items = {item.uid: item for item in found.conflicts}
    return tuple(
        (
            tuple(question for _, question in items[uid].scenario.probes.items()),
            items[uid].judge.m_new.reveal(),
            {
                "attribute": key.attribute.reveal(),
                "old_value": key.old_value.reveal(),
                "new_value": key.new_value.reveal(),
                "old_quote": items[uid].judge.m_old.reveal(),
                "new_quote": items[uid].judge.m_new.reveal(),
                "causal_path": [node.reveal() for node in key.causal_path],
                "applies_to": ["P1"],
                "material": True,
            },
        )
        for uid, key in found.keys.items()
    )


def change_in(asked: str) -> dict[str, Any] | None:
    """The gold change of the question that a prompt asks, if its newer statement is there."""
    for questions, new, transition in golds():
        if any(_shown(question, asked) for question in questions) and _shown(new, asked):
            return transition
    return None


def _shown(text: str, asked: str) -> bool:
    return json.dumps(text, ensure_ascii=False)[1:-1][:60] in asked.replace("\\\\", "\\")


def learned(body: dict[str, Any]) -> bool:
    """Whether the prompt teaches anything: a demonstration or the lesson."""
    messages = body["messages"]
    demonstrated = any(message["role"] == "assistant" for message in messages)
    return demonstrated or LESSON in str(messages[0]["content"])


def answer(body: dict[str, Any], number: int) -> Reply:
    """What each of the three models says."""
    name = body["model"].rpartition("/")[2]
    if name == "writer":
        return json_reply(written(body))
    asked = str(body["messages"][-1]["content"])
    # Under sampling (SIMBA) even the unprepared student is right every second time.
    lucky = body.get("temperature") == 1.0 and number % 2 == 1
    change = change_in(asked) if name == "teacher" or lucky or learned(body) else None
    role = body["response_format"]["json_schema"]["name"]
    if role == "ResponseAdaptation":
        return json_reply({"reasoning": "r", "response": "A reply that fits."})
    premises = [] if change is None else [premise(change)]
    return json_reply(
        {
            "reasoning": "r",
            "premises": premises,
            "timeline": [],
            "transitions": [] if change is None else [change],
        }
    )


def premise(change: dict[str, Any]) -> dict[str, Any]:
    return {
        "text": f"The user: {change['old_value']}",
        "origin": "draft",
        "attribute": change["attribute"],
        "verdict": "STALE",
        "current_value": change["new_value"],
        "material": True,
    }


def written(body: dict[str, Any]) -> dict[str, Any]:
    """The prompt LM's answer to whatever it is asked for."""
    fields = body["response_format"]["json_schema"]["schema"]["properties"]
    said: dict[str, Any] = dict.fromkeys(fields, f"Audit the draft. {LESSON}")
    if "module_advice" in fields:
        said["module_advice"] = {"auditor.roles.lean_audit.audit": LESSON}
    return said


def backend_file(path: Path, server: Loopback, **roles: str) -> Path:
    """A backend file with the three models; ``roles`` as in its role map."""
    lms = {
        name: {
            "model": f"openai/{name}",
            "api_base": server.base,
            "api_key_env": "LEARNER_API_KEY",
            "retries": 0,
            "temperature": 0,
            "price": PRICE,
        }
        for name in ("student", "teacher", "writer")
    }
    config = {"name": "learner", "lms": lms, "roles": {"default": "student", **roles}}
    path.write_text(yaml.safe_dump(config), "utf-8")
    return path


def config(path: Path, backend: Path | str, optimizer: dict[str, Any], **settings: Any) -> Path:
    """A compile config over the first two scenarios of the bundled list, lean arm."""
    whole = {
        "data": {"set": "stale_mini", "frozen": "stale_mini_dev", "limit": 2, "controls": False},
        "arm": "lean",
        "policy": "observe",
        "backend": str(backend),
        "optimizer": optimizer,
        "draws": 200,
        "concurrency": 4,
        "tracking": False,
        **settings,
    }
    path.write_text(yaml.safe_dump(whole), "utf-8")
    return path
