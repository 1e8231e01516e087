"""Small Stale records for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

JUDGE_ONLY = ("OLD-STATE", "NEW-STATE", "WHY-IT-CHANGED")


def record(uid: str = "u1", **changes: Any) -> dict[str, Any]:
    """A good record of three sessions; `changes` replaces fields."""
    return {
        "uid": uid,
        "haystack_session": [
            [
                {"role": "user", "content": "I rent in Denver."},
                {"role": "assistant", "content": "Noted."},
            ],
            [{"role": "user", "content": "Nice weather."}],
            [{"role": "user", "content": "Picked up the Milwaukee keys."}],
        ],
        "timestamps": ["2025-01-01 09:00", "2025-02-01 09:00", "2025-03-01 09:00"],
        "probing_queries": {
            "dim1_query": "Does the user still live in Denver?",
            "dim2_query": "Since they live in Denver, where to eat?",
            "dim3_query": "What should I do on Saturday?",
        },
        "M_old": JUDGE_ONLY[0],
        "M_new": JUDGE_ONLY[1],
        "explanation": JUDGE_ONLY[2],
        "relevant_session_index": [0, 2],
        "type": "T1",
        **changes,
    }


def as_table_row(raw: dict[str, Any]) -> dict[str, Any]:
    """The record as a table keeps it: nested fields as JSON text."""
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in raw.items()}


def write_json(path: Path, records: Any) -> Path:
    """Write `records` and return the path."""
    path.write_text(json.dumps(records), encoding="utf-8")
    return path
