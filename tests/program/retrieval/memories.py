"""Small memories for the retrieval tests, written out or made by hypothesis."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from stateauditor.program.memory.entries import Memory
from stateauditor.signatures.models import EntryRole, MemoryEntry, Timestamp


def stamp(text: str | None) -> Timestamp | None:
    return None if text is None else Timestamp.model_validate(text)


def turn(
    session: str, number: int, when: str | None, text: str, role: EntryRole = EntryRole.USER
) -> MemoryEntry:
    return MemoryEntry(
        id=f"{session}.{number}",
        timestamp=stamp(when),
        text=text,
        role=role,
        session=session,
        turn=number,
    )


def fact(name: str, when: str | None, text: str) -> MemoryEntry:
    return MemoryEntry(id=name, timestamp=stamp(when), text=text)


def memory(entries: Sequence[MemoryEntry]) -> Memory:
    return Memory(tuple(entries))


def move() -> Memory:
    """A move told in passing, between small talk; the assistant's turns are no evidence."""
    assistant = EntryRole.ASSISTANT
    return memory(
        [
            turn("a", 0, "2024-01-05T10:00Z", "Hi there! How's it going?"),
            turn("a", 1, "2024-01-05T10:00Z", "Very well. I live in Seattle myself.", assistant),
            turn(
                "a", 2, "2024-01-05T10:00Z",
                "What should I cook tonight? I've rented the same flat in Seattle for six years, "
                "two minutes from the market. Something quick, please.",
            ),
            turn("b", 0, "2024-02-11T09:30Z", "What are some interesting advances in AI?"),
            turn("b", 1, "2024-02-11T09:30Z", "That's fascinating! Thanks for explaining."),
            turn("c", 0, "2024-03-20T18:00Z", "Which tariff is best for a small household?"),
            turn(
                "c", 1, "2024-03-20T18:00Z",
                "Since we got the keys in March I've been setting up power and water in my new "
                "place in Austin. Is a fixed price worth it?",
            ),
            turn("d", 0, "2024-04-02T08:00Z", "Tell me about the history of the umbrella."),
        ]
    )  # fmt: skip


_SENTENCES = st.sampled_from(
    [
        "I live in Lisbon with my two cats.",
        "My new job starts at seven every morning!",
        "What should I cook?",
        "Thanks, that makes sense.",
        "Since April I've been on night shifts.",
        "我上个月搬家了。",
        "Ok... fine",
        "Dr. Lee has me on 2.5 mg a day",
        "🙂",
        "x" * 700,
    ]
)
_TURNS = st.lists(_SENTENCES, min_size=1, max_size=6).map(" ".join)
_TIMES = st.sampled_from(
    [None, "2024-01-01", "2024-01-01T09:00Z", "2024-01-02T09:00Z", "2024-02-03T10:10:10Z"]
)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Memories of up to six sessions and a few facts, in a total order, some undated."""
    entries: list[MemoryEntry] = []
    for number in range(draw(st.integers(0, 6))):
        when = draw(_TIMES)
        for place in range(draw(st.integers(1, 3))):
            role = EntryRole.ASSISTANT if draw(st.booleans()) and place else EntryRole.USER
            entries.append(turn(f"s{number}", place, when, draw(_TURNS), role))
    for number in range(draw(st.integers(0, 2))):
        entries.append(fact(f"f{number}", draw(_TIMES), draw(_TURNS)))
    entries.sort(key=lambda e: (e.timestamp is not None, e.timestamp and e.timestamp.instant, e.id))
    return memory(entries)


QUESTIONS = st.sampled_from(
    ["Where do I live?", "What should I cook tonight?", "搬家了吗？", "job", "???", "Ok"]
)
