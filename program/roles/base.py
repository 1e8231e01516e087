"""What every role is: a DSPy module with a name, asked through one LM role."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import dspy

from stateauditor.program.backends.portal import run_sync
from stateauditor.signatures.models import Verdict

NumberedT = TypeVar("NumberedT")


class Role(dspy.Module):
    """A role asks one or two Signatures and turns their wire items into contracts.

    ``aforward`` is the implementation; ``forward`` runs it to its end, so that
    DSPy's optimizers, which call modules synchronously, see the same behaviour.
    """

    def forward(self, **inputs: Any) -> Any:
        """Synchronous twin of ``aforward``."""
        return run_sync(self._keywords, inputs)

    def _set_lm_usage(self, tokens: Any, output: Any) -> None:
        """Nothing: a role returns contracts, and the records of its calls hold the usage.

        DSPy would warn, at each role that is called on its own, that it has no
        prediction to attach the usage to.
        """

    async def _keywords(self, inputs: dict[str, Any]) -> Any:
        return await self.aforward(**inputs)


def known_ids(named: Iterable[str], readout_ids: frozenset[str]) -> tuple[str, ...]:
    """Those of the ids that an LM named which exist, in order, once each."""
    tidy = (name.strip().strip("[]()'\"").upper() for name in named)
    return tuple(dict.fromkeys(name for name in tidy if name in readout_ids))


def established(verdict: Verdict, named: Iterable[str], known: Sequence[str]) -> Verdict:
    """An LM's verdict, unless it says STALE on the word of lines that do not exist: UNKNOWN.

    ``known`` are those of the named lines that exist. A verdict that names none stands.
    """
    if verdict is Verdict.STALE and only_invented(named, known):
        return Verdict.UNKNOWN
    return verdict


def only_invented(named: Iterable[str], known: Sequence[str]) -> bool:
    """Whether an LM named lines and none of them exists: what it says then rests on nothing."""
    return not known and any(name.strip() for name in named)


def by_number(items: Sequence[NumberedT], count: int) -> dict[int, NumberedT]:
    """Numbered answers by number, 1..count; the first answer to a number counts."""
    found: dict[int, NumberedT] = {}
    for item in items:
        number = getattr(item, "number", 0)
        if 1 <= number <= count:
            found.setdefault(number, item)
    return found
