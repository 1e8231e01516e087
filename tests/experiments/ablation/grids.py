"""Small grids over the loopback server, and what it says to the Signatures of their cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from tests.experiments.pipeline import (
    pipeline,
    role_of,
    text_of,
    write_backend,
    write_scenarios,
)
from tests.support.loopback import Loopback, Reply

ANSWERS: dict[str, dict[str, Any]] = {
    "ConsistencyRewrite": {"response": "Walk around town."},
    "PremiseEntailment": {
        "entailments": [
            {"number": 1, "label": "contradicted", "attribute": "home", "material": True}
        ]
    },
    "DraftEntailment": {"entailments": []},
    "SelfCritique": {"faults": []},
}
CELLS: dict[str, dict[str, Any]] = {
    "no_proposal": {"arm": "predecessor"},
    "untyped": {"rewrite": "untyped"},
    "nli": {"labels": "nli"},
    "drafts": {"protocol": "scenario_joint", "channels": ["drafts"]},
    "critic": {"arm": "self_critique"},
}


def respond(body: dict[str, Any], number: int) -> Reply:
    """The synthetic pipeline's answer; rewrites name the new town, whoever asks for them."""
    name = role_of(body)
    if name not in ANSWERS:
        return pipeline(body, number)
    text = json.dumps({"reasoning": "r", **ANSWERS[name]})
    return Reply(text, usage=(len(text_of(body)) // 4, len(text) // 4))


def write_grid(
    folder: Path,
    server: Loopback,
    *,
    scenarios: int = 4,
    cells: dict[str, dict[str, Any]] | None = None,
    base: dict[str, Any] | None = None,
    **settings: Any,
) -> Path:
    """A grid's file, with its data and its backend beside it."""
    folder.mkdir(exist_ok=True)
    backend = write_backend(folder / "loop.yaml", server)
    whole = {
        "name": "grid",
        "base": {
            "data": {"path": str(write_scenarios(folder / "data.json", scenarios))},
            "arm": "strict_vta",
            "backend": str(backend),
            "judges": [str(backend)],
            "draws": 200,
            "tracking": False,
            "concurrency": 4,
            **(base or {}),
        },
        "share": "base_audit",
        "cells": CELLS if cells is None else cells,
        **settings,
    }
    path = folder / "grid.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False), "utf-8")
    return path


def drafts_in(folder: Path) -> dict[str, list[str]]:
    """Each scenario's drafts, as a run recorded them."""
    lines = (json.loads(line) for line in (folder / "items.jsonl").open())
    return {line["uid"]: [p["draft"] for p in line["probes"].values()] for line in lines}
