"""Every candidate that an optimizer has tried, with its scores on either part.

A candidate is what its prompts say: two programs with the same instructions and
demonstrations are one. The board is what makes "the best so far" mean the same for
all optimizers, whatever ended them.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stateauditor.program.roles.compiled import plain_example

States = dict[str, dict[str, Any]]
Probe = tuple[str, str]  # scenario, dimension


@dataclass
class Candidate:
    """One state of the prompts, by role, and the scores of the probes that it was tried on.

    ``failed`` probes have the score that optimizers get for them, and count apart.
    """

    number: int
    key: str
    states: States = field(repr=False)
    train: dict[Probe, float] = field(default_factory=dict, repr=False)
    validation: dict[Probe, float] = field(default_factory=dict, repr=False)
    failed: set[Probe] = field(default_factory=set, repr=False)

    def mean(self, part: str) -> float | None:
        """The mean score over the probes of a part that it was tried on."""
        scores: Mapping[Probe, float] = getattr(self, part)
        return sum(scores.values()) / len(scores) if scores else None


class Board:
    """Candidates by what they say, in the order of their first appearance."""

    def __init__(self, baseline: States, validation: int) -> None:
        self.validation = validation
        self._lock = threading.Lock()
        self._candidates: dict[str, Candidate] = {}
        self.baseline = self.candidate(baseline)

    def candidate(self, states: States) -> Candidate:
        """The candidate with these states, entered if it is new."""
        key = state_key(states)
        with self._lock:
            if key not in self._candidates:
                self._candidates[key] = Candidate(len(self._candidates), key, states)
            return self._candidates[key]

    def note(
        self, key: str, probe: Probe, score: float, *, train: bool, failed: bool = False
    ) -> None:
        """Put down the score of one probe."""
        with self._lock:
            candidate = self._candidates.get(key)
            if candidate is None:
                return
            (candidate.train if train else candidate.validation)[probe] = score
            (candidate.failed.add if failed else candidate.failed.discard)(probe)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates so far."""
        with self._lock:
            return tuple(self._candidates.values())

    def validated(self, candidate: Candidate) -> bool:
        """Whether it was tried on the whole validation part."""
        return len(candidate.validation) >= self.validation

    def best(self) -> Candidate | None:
        """The best so far but for the baseline; None where nothing else was scored.

        By the whole validation part if any was tried on it, else by the training
        part, among those that were tried on most of it.
        """
        others = [c for c in self.candidates if c is not self.baseline]
        full = [c for c in others if self.validated(c)]
        if full:
            return max(full, key=lambda c: (c.mean("validation") or 0.0, -c.number))
        widest = max((len(c.train) for c in others), default=0)
        tried = [c for c in others if widest and 2 * len(c.train) >= widest]
        return max(tried, key=lambda c: (c.mean("train") or 0.0, -c.number), default=None)


def state_key(states: States) -> str:
    """A digest of instructions and demonstrations."""
    said = {
        role: {
            name: [predictor["signature"]["instructions"], predictor["demos"]]
            for name, predictor in state.items()
        }
        for role, state in states.items()
    }
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, default=plain_example)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
