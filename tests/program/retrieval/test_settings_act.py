"""Every setting of the retriever acts: a changed value changes what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.scripted import scripted_backend
from stateauditor.program.retrieval.config import RetrievalConfig
from tests.support.worked import script

PLACES = ("Seattle", "Austin", "Denver", "Boston", "Lisbon", "Oslo")
TOPICS = ("garden", "violin", "bakery", "kayak", "ladder", "museum", "curtain")
MEMORY = [
    {
        "timestamp": f"2023-{n // 28 + 1:02}-{n % 28 + 1:02}",
        "text": (
            f"I live in {PLACES[n % 6]} and keep a {TOPICS[n % 7]}. "
            f"My {TOPICS[n % 5]} club met on evening {n} for some outdoor walk. "
            f"I just moved to {PLACES[(n + 1) % 6]} and no longer own the {TOPICS[n % 7]}. "
            f"The {TOPICS[n % 3]} weekend was long, and tea number {n} was cold."
        ),
    }
    for n in range(60)
]
MEMORY[5]["text"] = (
    "My gondola permit covers each outdoor walk of the weekend garden club. " + (MEMORY[5]["text"])
)
MEMORY[40]["text"] = (
    f"The gondola permit went to a cousin. {MEMORY[40]['text']} We ate soup. The bus was late. "
    "An outdoor walk came next. Rain fell. The garden club sang. Nobody minded."
)
QUESTION = "Which outdoor walk fits a weekend with my garden club?"
DRAFT = "Bring the violin to Seattle, and walk to the museum with your kayak."
# A setting: a changed value, and what else must hold for its step to be felt.
TIGHT: dict[str, Any] = {"budget_tokens": 900, "fill": False}
FEW: dict[str, Any] = {"budget_tokens": 1500, "fill": False, "question_slots": 3, "change_slots": 6}
CHANGED: dict[str, tuple[object, dict[str, Any]]] = {
    "question_anchored": (False, TIGHT),
    "change_scan": (False, TIGHT),
    "session_companions": (False, TIGHT),
    "antecedents": (False, FEW),
    "later_tellings": (False, TIGHT),
    "fill": (False, {"question_slots": 1, "change_slots": 1, "draft_slots": 1}),
    "draft_words": (False, TIGHT),
    "budget_tokens": (300, TIGHT),
    "window_sentences": (1, TIGHT),
    "window_stride": (3, TIGHT),
    "question_slots": (1, TIGHT),
    "time_buckets": (1, FEW),
    "change_slots": (1, TIGHT),
    "draft_slots": (1, TIGHT),
    "antecedent_slots": (0, FEW),
    "question_share": (5.0, TIGHT),
    "change_share": (5.0, TIGHT),
    "companion_share": (5.0, TIGHT),
    "antecedent_share": (5.0, TIGHT),
    "draft_share": (5.0, TIGHT),
    "later_share": (0.001, TIGHT),
}


def shown(settings: dict[str, Any]) -> str:
    """The readout of an audit, as a role reads it."""
    auditor = StateAuditor(
        scripted_backend(script()), variant="lean", retrieval=RetrievalConfig(**settings)
    )
    return auditor.audit(MEMORY, QUESTION, DRAFT).model_dump_json(include={"readout"})


def test_every_setting_of_the_retriever_has_a_case() -> None:
    assert set(CHANGED) == set(RetrievalConfig.model_fields)


@pytest.mark.parametrize("name", RetrievalConfig.model_fields)
def test_a_changed_setting_of_the_retriever_changes_the_readout(name: str) -> None:
    value, base = CHANGED[name]
    assert shown(base | {name: value}) != shown(base)
