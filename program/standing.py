"""A fact that its store has closed says nothing of what holds now.

That it ended is evidence: a premise that rests on it may be STALE, and cannot be VALID. What
came in its place stands, if anywhere, in another line, and the premise has to cite that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stateauditor.signatures.models import Premise, RenderedEntry, Validity, Verdict


def without_closed_values(
    premises: Sequence[Premise], entries: Iterable[RenderedEntry]
) -> tuple[Premise, ...]:
    """The premises, where those that cite closed facts and nothing else name no current value.

    VALID becomes UNKNOWN; STALE stays, since the end itself is dated.
    """
    closed = {entry.id for entry in entries if entry.validity is not Validity.OPEN}
    return tuple(
        premise.model_copy(update={"verdict": _LEFT[premise.verdict], "current_value": None})
        if premise.evidence and closed.issuperset(premise.evidence)
        else premise
        for premise in premises
    )


_LEFT = {
    Verdict.VALID: Verdict.UNKNOWN,
    Verdict.STALE: Verdict.STALE,
    Verdict.UNKNOWN: Verdict.UNKNOWN,
}
