"""Premises by words, and their verdicts."""

from stateauditor.program.offline.answers import (
    adjudicate_premises,
    extract_premises,
    extract_presuppositions,
)
from stateauditor.signatures.models import Verdict
from stateauditor.signatures.premises import NumberedPremise
from tests.program.offline.readouts import readout


def _texts(answer: dict) -> list[tuple[str, bool]]:
    return [(p.text, p.stated) for p in answer["premises"]]


def test_a_draft_states_values() -> None:
    draft = "Since you live in Denver, drive west and park near the trailhead."
    assert _texts(extract_premises("What now?", draft)) == [("The user lives in Denver.", True)]


def test_months_are_no_places() -> None:
    assert _texts(extract_premises("Hm?", "As you live in March mood, rest.")) == []


def test_a_question_about_the_past_presupposes_nothing() -> None:
    assert _texts(extract_presuppositions("What was my previous address?")) == []
    assert _texts(extract_premises("What was my previous address?", "You live in Rome.")) == []


def test_a_question_that_asks_whether_states_nothing() -> None:
    asked = extract_presuppositions("Based on the history, does the user live in Denver still?")
    assert _texts(asked) == [("The user lives in Denver.", False)]
    assumed = extract_presuppositions("Since I live in Denver, where do I park my car?")
    assert ("The user lives in Denver.", True) in _texts(assumed)


def _verdicts(lines: list[str], draft: str, *premises: str) -> list[tuple[Verdict, bool]]:
    numbered = [NumberedPremise(number=n, text=t) for n, t in enumerate(premises, 1)]
    answer = adjudicate_premises(readout(*lines), "Any ideas?", draft, numbered)
    return [(v.verdict, v.material) for v in answer["verdicts"]]


def test_a_material_change_makes_its_premise_stale() -> None:
    lines = ["I live in Seattle.", "I love oolong tea.", "I moved to Austin."]
    found = _verdicts(
        lines,
        "Walk along the lake in Seattle.",
        "The user lives in Seattle.",
        "The user loves oolong tea.",
        "The user owns a submarine.",
    )
    assert found == [(Verdict.STALE, True), (Verdict.VALID, False), (Verdict.UNKNOWN, False)]
