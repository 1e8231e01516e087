"""A fact that its store has closed names no value that holds now.

That it ended is evidence: a premise that rests on it may be STALE. What came in its
place stands, if anywhere, in another line, and the premise has to cite that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stateauditor.signatures.models import Premise, RenderedEntry, Validity, Verdict


def without_closed_values(
    premises: Sequence[Premise], entries: Iterable[RenderedEntry]
) -> tuple[Premise, ...]:
    """The premises; STALE ones that cite closed facts and nothing else name no current value."""
    closed = {entry.id for entry in entries if entry.validity is not Validity.OPEN}
    return tuple(
        premise.model_copy(update={"current_value": None})
        if premise.verdict is Verdict.STALE and premise.evidence and closed >= {*premise.evidence}
        else premise
        for premise in premises
    )
