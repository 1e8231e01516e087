"""Which sentences are present statements of the user's own state."""

import pytest

from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.mentions import value_mentions
from stateauditor.program.offline.statements import newer, statements
from stateauditor.signatures.models import EntryRole, RenderedEntry, Timestamp
from tests.program.offline.readouts import readout, statement


def obstacle(text: str, role: EntryRole = EntryRole.USER) -> str | None:
    """The obstacle at the first move or home that the sentence names."""
    said = statement(text, role)
    for label, match in lexicon().frame_patterns.find(said.sentence):
        if label.startswith("home:"):
            return said.obstacle(match)
    raise AssertionError(f"no home in {text!r}")


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Austin last month.",
        "My leg hurts, but I live in Austin.",
        "My sister says I live in Austin.",
        "My sister and I moved to Austin.",
        "Now that I live in Austin, where should I eat?",
        "We spent the morning setting up utilities in my new Austin apartment.",
        "Just moved to Austin!",
        "She is kind, so I moved to Austin.",
    ],
)
def test_a_present_statement_has_no_obstacle(text: str) -> None:
    assert obstacle(text) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I might say that I live in Austin.", "hypothetical"),
        ("If I moved to Austin, I would buy a hat.", "hypothetical"),
        ("I keep dreaming of my home in Austin.", "hypothetical"),
        ("I moved to Austin but the deal fell through.", "cancelled"),
        ("I moved to Austin for the summer.", "temporary"),
        ("I am house-sitting, so I live in Austin this month.", "temporary"),
        ("When I was a student I lived in Boston, I live in Austin.", "past"),
        ("Years ago we lived in Austin, I live in Austin.", "past"),
        ("I live in Austin, too.", "additive"),
        ("As I mentioned, I live in Austin.", "recap"),
        ("The poster says “I live in Austin” in red.", "recap"),
        ("My home in Austin it is not.", "negated"),
        ("Do I live in Austin, for tax purposes?", "question"),
        ("Why does my mail say I live in Austin?", "question"),
    ],
)
def test_each_kind_of_non_change_is_an_obstacle(text: str, kind: str) -> None:
    assert obstacle(text) == kind


def test_the_users_own_clause_is_not_taken_by_someone_else() -> None:
    assert obstacle("My sister's home is far and I live in Austin.") is None


def test_a_stored_fact_needs_no_first_person() -> None:
    assert obstacle("Recently moved to Austin.", EntryRole.FACT) is None


def test_assistant_turns_are_no_evidence_and_overlapping_windows_count_once() -> None:
    """Field note B16, and windows that share a sentence."""
    lines = readout("I run. I swim.", ("assistant", "You live in Austin."))
    twice = lines.model_copy(update={"entries": (*lines.entries, lines.entries[0])})
    assert [s.sentence.text for s in statements(twice)] == ["I run.", "I swim."]


def test_a_year_before_that_of_its_entry_tells_of_the_past() -> None:
    told = statements(
        readout(("2024-01-02", "In 2016 I moved to Austin. In 2024 I moved to Hull."))
    )
    found = [value.value for said in told for value in value_mentions(said)]
    assert found == ["Hull"]


def _at(time: str | None, session: str | None, turn: int | None) -> RenderedEntry:
    stamp = None if time is None else Timestamp.model_validate(time)
    return RenderedEntry(
        id="E01", entry_id="m", timestamp=stamp, text="I run.", session=session, turn=turn
    )


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (_at("2024-01-02", "a", 0), _at("2024-01-01", "b", 0), True),
        (_at("2024-01-01", "a", 0), _at("2024-01-02", "b", 0), False),
        (_at("2024-01-01", "a", 3), _at("2024-01-01", "a", 1), True),
        (_at("2024-01-01", "a", 1), _at("2024-01-01", "a", 3), False),
        (_at("2024-01-01", "a", 3), _at("2024-01-01", "b", 1), False),
        (_at("2024-01-01", None, None), _at("2024-01-01", None, None), False),
        (_at("2024-01-01", "a", None), _at("2024-01-01", "a", 1), False),
        (_at(None, "a", 3), _at(None, "a", 1), False),
    ],
)
def test_equal_times_count_as_later_only_inside_one_session(
    new: RenderedEntry, old: RenderedEntry, expected: bool
) -> None:
    base = statement("I run.")
    assert newer(type(base)(new, 1, base.sentence), type(base)(old, 0, base.sentence)) is expected
