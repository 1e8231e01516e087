"""The synthetic scenarios behind a loopback server, and files that name them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from stateauditor.experiments.benchmarks.synthetic import answer, scenario
from tests.support.loopback import Loopback, Reply

PRICE = {"input_per_million": 1.0, "output_per_million": 4.0}


def role_of(body: dict[str, Any]) -> str:
    """The Signature that a request asks for."""
    name: str = body["response_format"]["json_schema"]["name"]
    return name


def text_of(body: dict[str, Any]) -> str:
    """All that a request says."""
    return "\n".join(str(message["content"]) for message in body["messages"])


def roles(requests: Iterable[dict[str, Any]]) -> Counter[str]:
    """How often each Signature was asked for."""
    return Counter(role_of(body) for body in requests)


def reply(body: dict[str, Any], **settings: Any) -> Reply:
    """What the model says to one request."""
    value = answer(role_of(body), body["messages"][-1]["content"], body.get("model", ""))
    text = json.dumps(value, ensure_ascii=False)
    return Reply(text, usage=(len(text_of(body)) // 4, len(text) // 4), **settings)


def pipeline(body: dict[str, Any], number: int) -> Reply:
    """The script of a loopback server that answers every role at once."""
    return reply(body)


def write_scenarios(path: Path, count: int) -> Path:
    """A file of ``count`` scenarios."""
    path.write_text(json.dumps([scenario(n) for n in range(1, count + 1)]), "utf-8")
    return path


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
