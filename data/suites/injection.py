"""What the gate proves and what it does not, by injection (paper, section 6.1).

From sound candidates: violations of every rule, which must be rejected for the right
reason; harmless variants, which must be accepted; and candidates that keep every rule
although nothing has changed, which are accepted too. The last are the documented limit:
what is verified is provenance and chronology, not meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from stateauditor.data.suites.cases import Base, Case, CaseKind, bases
from stateauditor.data.suites.items import Due, SuiteItem
from stateauditor.data.suites.variants import controls
from stateauditor.data.suites.violations import violations
from stateauditor.data.suites.wordings import LONG
from stateauditor.signatures.models import Reason

LIMIT_TITLE = "the limit: provenance and chronology, not meaning"
RESTATED = "old sentence said again in the history"


def derive(items: Iterable[SuiteItem]) -> Iterator[Case]:
    """All cases of some items, a base at a time: violations and controls, then the limit.

    Bases are the probes that demand a repair; the limit comes from the others, whose
    keys name a change that must not be made. Pure: the same items give the same cases.
    """
    kept = list(items)
    for base in bases(kept, Due.REPAIR):
        yield from violations(base)
        yield from controls(base)
    groups = {item.uid: str(item.group) for item in kept}
    for base in bases(kept, Due.NOTHING):
        yield from not_a_change(base, groups[base.uid.rpartition("/")[0]])


def not_a_change(base: Base, group: str) -> Iterator[Case]:
    """The untouched candidate of a base in which nothing has changed.

    Where the user says the old sentence again later, the gate does see that it still
    holds: a violation. Where only its words return, in order and perhaps inflected, the
    gate may or may not take them for it, and there is no case.
    """
    later = base.later_text()
    case = Case(
        id=f"{base.uid}: not a change",
        kind=CaseKind.LIMIT,
        rule=LIMIT_TITLE,
        construction=group,
        base=base.uid,
        candidate=base.candidate,
        entries=base.entries,
    )
    if base.candidate.old_quote.strip().rstrip(".!?").casefold() in later:
        yield replace(
            case,
            id=f"{base.uid}: {RESTATED}",
            kind=CaseKind.VIOLATION,
            rule="2 chronology",
            construction=RESTATED,
            reasons=frozenset({Reason.NOT_NEWER}),
        )
    elif not _return_in_order(base.candidate.old_quote.casefold(), later):
        yield case


def _return_in_order(quote: str, later: str) -> bool:
    starts = [rf"\b{re.escape(word[:3])}" for word in LONG.findall(quote)]
    return re.search(".*?".join(starts), later) is not None
