"""The written situations of the lifecycle suite: what the user says, and two probes over it.

One YAML file a stress category stands in ``content/lifecycle``. A situation is rendered
once for each of its one or two value sets; every remark is written once a register.
``{slots}`` are filled from the value set.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from stateauditor.data.suites.items import Explicitness, Register
from stateauditor.data.suites.loading import load_content
from stateauditor.signatures.errors import InputError
from stateauditor.signatures.models import Frozen


class Stress(StrEnum):
    """What makes a scenario hard; the groups of the suite."""

    CHAIN = "chain"
    """Three values at three dates, and an echo of an earlier one: only the third holds."""
    PARTIAL_SCOPE = "partial_scope"
    """A change that holds only in part; outside that part the earlier value still holds."""
    CONDITIONAL = "conditional"
    """Two branches under a stated condition, of which one ends."""
    EXPIRY = "expiry"
    """An arrangement with a stated end, and a remark after it: the base state holds again."""
    CONFLICTING_SOURCES = "conflicting_sources"
    """The user's own word against a later second-hand source."""
    TWO_HOPS = "two_hops"
    """A change elsewhere that reaches a fact over two ordinary steps."""


class Remark(Frozen):
    """One thing that the user says, as each register says it."""

    casual: str = Field(min_length=1)
    neutral: str = Field(min_length=1)
    formal: str = Field(min_length=1)
    after: tuple[int, int] | None = None
    """The least and the most days since the remark before it, where the words ask for that."""

    def form(self, register: Register) -> str:
        """The remark in this register, with its slots open."""
        return str(getattr(self, register.value))


def _for_both(value: Any) -> Any:
    """One text stands for both renderings."""
    return (value, value) if isinstance(value, str) else value


def _paths_for_both(value: Any) -> Any:
    """One path stands for both renderings."""
    flat = isinstance(value, list | tuple) and value and isinstance(value[0], str)
    return (value, value) if flat else value


Texts = Annotated[tuple[str, str], BeforeValidator(_for_both)]
"""A text for each rendering, in the order of the value sets."""
Path = Annotated[tuple[str, ...], Field(min_length=2)]
Paths = Annotated[tuple[Path, Path], BeforeValidator(_paths_for_both)]


class ProbeText(Frozen):
    """One probe, each text for each rendering; ``old`` and ``new`` name remarks."""

    old: Texts
    new: Texts
    old_value: Texts
    new_value: Texts
    path: Paths
    question: Texts
    draft: Texts


class Situation(Frozen):
    """One situation: its remarks in order of time, and the probes ``due`` and ``trap``."""

    id: str = Field(min_length=1)
    attribute: str = Field(min_length=1)
    explicitness: Explicitness
    values: tuple[dict[str, str], ...] = Field(min_length=1, max_length=2)
    beats: dict[str, Remark]
    due: ProbeText
    trap: ProbeText
    start: date | None = None
    """The day from which the first remark counts, where the words ask for a season."""

    @model_validator(mode="after")
    def _remarks_in_order(self) -> Situation:
        order = list(self.beats)
        for name, probe in (("due", self.due), ("trap", self.trap)):
            for old, new in zip(probe.old, probe.new, strict=True):
                if old not in order or new not in order or order.index(old) >= order.index(new):
                    raise ValueError(
                        f"{name} quotes {old!r} and {new!r}; both must be among the beats "
                        f"{', '.join(order)}, the old before the new"
                    )
        if self.values[0].keys() != self.values[-1].keys():
            raise ValueError("both value sets must fill the same slots")
        return self


class _File(Frozen):
    situations: tuple[Situation, ...] = Field(min_length=1)


@cache
def situations(stress: Stress) -> tuple[Situation, ...]:
    """The situations of one category, in the order of its file."""
    found = load_content(f"lifecycle/{stress.value}.yaml", _File).situations
    names = [situation.id for situation in found]
    if len(set(names)) != len(names):
        raise InputError(f"suite content lifecycle/{stress.value}.yaml: an id occurs twice")
    return found
