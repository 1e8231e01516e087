"""LMs that are right, or wrong, in a known way: they know the keys, and nothing is a model.

They show what the audit makes of an LM's answers, not how good any LM is. Which probe a
prompt is about is read off the question and the draft in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from stateauditor.data.sealed import SealedText
from stateauditor.data.suites.items import Due, SuiteItem, SuiteProbe
from stateauditor.experiments.suites.spec import SCRIPTED
from stateauditor.program.backends.backend import Backend
from stateauditor.program.backends.scripted import (
    NOTHING_FOUND,
    ScriptedRequest,
    scripted_backend,
)
from stateauditor.program.safety.screening import neutralise
from stateauditor.signatures.adapter import RESPONSE_ADAPTATION
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.lean import LEAN_AUDIT
from stateauditor.signatures.models import Verdict
from stateauditor.signatures.premises import PREMISE_ADJUDICATION, PREMISE_EXTRACTION
from stateauditor.signatures.proposer import TRANSITION_PROPOSAL
from stateauditor.signatures.reviewer import EVIDENCE_REVIEW

Answer = dict[str, Any]

_JUDGING: Final = frozenset(
    {
        PREMISE_ADJUDICATION.name,
        TRANSITION_PROPOSAL.name,
        EVIDENCE_REVIEW.name,
        LEAN_AUDIT.name,
    }
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a scripted LM answers: what it holds for a change, and what it says of the rest."""

    label: str
    believes: Callable[[SuiteProbe], bool]
    otherwise: Verdict = Verdict.VALID
    speaks: bool = True


MANNERS: Final[dict[str, Manner]] = {
    "right": Manner(
        "scripted LM (right by construction): no model",
        lambda probe: probe.due is Due.REPAIR,
    ),
    "gullible": Manner(
        "scripted LM (takes every look-alike for a change, by construction): no model",
        lambda probe: True,
    ),
    "anxious": Manner(
        "scripted LM (calls everything UNKNOWN, by construction): no model",
        lambda probe: False,
        otherwise=Verdict.UNKNOWN,
    ),
    "silent": Manner(
        "scripted LM (finds nothing, by construction): no model",
        lambda probe: False,
        speaks=False,
    ),
}
"""The scripted LMs by name."""


def is_scripted(backend: str) -> bool:
    """Whether a backend's name asks for a scripted LM."""
    return backend.startswith(SCRIPTED)


def manner(backend: str) -> Manner:
    """How ``scripted:NAME`` answers. Raises :class:`ConfigError` for an unknown name."""
    name = backend.removeprefix(SCRIPTED)
    if name not in MANNERS:
        names = ", ".join(f"{SCRIPTED}{name}" for name in MANNERS)
        raise ConfigError(f"backend {backend!r}: there is no such scripted LM; there are {names}")
    return MANNERS[name]


def scripted_lm(backend: str, items: Iterable[SuiteItem]) -> Backend:
    """The backend ``scripted:NAME`` for some items; its label is that name."""
    script = KeyScript.of(manner(backend), items)
    return scripted_backend(script, name=backend.replace(":", "-"))


@dataclass(frozen=True)
class KeyScript:
    """Answers each role from the key of the probe that the prompt is about."""

    manner: Manner
    by_draft: Mapping[str, tuple[SuiteProbe, ...]] = field(repr=False)

    @classmethod
    def of(cls, manner: Manner, items: Iterable[SuiteItem]) -> KeyScript:
        """A script that knows these items' probes, by the drafts as prompts spell them."""
        found: dict[str, list[SuiteProbe]] = {}
        for item in items:
            for probe in item.probes:
                found.setdefault(neutralise(probe.draft), []).append(probe)
        return cls(manner, {draft: tuple(probes) for draft, probes in found.items()})

    def __call__(self, request: ScriptedRequest) -> Answer:
        """The reply to one request; roles that know no draft find nothing."""
        answer = _ANSWERS.get(request.role)
        if answer is None or not self.manner.speaks:
            return NOTHING_FOUND
        probe = self.probe_of(request.prompt, judges=request.role in _JUDGING)
        return NOTHING_FOUND if probe is None else answer(self.manner, probe)

    def probe_of(self, prompt: str, *, judges: bool) -> SuiteProbe | None:
        """The probe whose question and draft the prompt holds; None where none is told.

        Where several items share both, it is the one whose statements the prompt holds.
        Without any, a role that ``judges`` is told of none, and another may take the
        first: they share what the draft relies on.
        """
        sharing = [
            probe
            for draft, probes in self.by_draft.items()
            if _holds(prompt, draft)
            for probe in probes
            if _holds(prompt, neutralise(probe.question))
        ]
        told = [probe for probe in sharing if _quotes(prompt, probe.key.m_new)]
        if not told and (len(sharing) == 1 or not judges):
            told = sharing
        return max(told, key=lambda probe: _quotes(prompt, probe.key.m_old), default=None)


def _quotes(prompt: str, statement: SealedText) -> bool:
    """Whether a prompt holds a statement; a matched span has lost its last mark."""
    return _holds(prompt, statement.reveal().strip().rstrip(".!?"))


def _holds(prompt: str, text: str) -> bool:
    """Whether a prompt holds a text, as it is or inside JSON."""
    return text in prompt or json.dumps(text, ensure_ascii=False)[1:-1] in prompt


# --- what each role says -------------------------------------------------------------


def _extracted(manner: Manner, probe: SuiteProbe) -> Answer:
    key = probe.key
    text = f"The user's {key.attribute.reveal()}: {key.old_value.reveal()}."
    return {"reasoning": "r", "premises": [{"text": text}]}


def _adjudicated(manner: Manner, probe: SuiteProbe) -> Answer:
    believed = manner.believes(probe)
    verdict = {
        "number": 1,
        "attribute": probe.key.attribute.reveal(),
        "verdict": (Verdict.STALE if believed else manner.otherwise).value,
        "current_value": probe.key.new_value.reveal() if believed else None,
        "material": True,
    }
    return {"reasoning": "r", "verdicts": [verdict]}


def proposal(probe: SuiteProbe) -> Answer:
    """The transition that a probe's key describes, as a proposer writes it."""
    key = probe.key
    return {
        "attribute": key.attribute.reveal(),
        "old_quote": key.m_old.reveal(),
        "new_quote": key.m_new.reveal(),
        "causal_path": [node.reveal() for node in key.causal_path],
        "old_value": key.old_value.reveal(),
        "new_value": key.new_value.reveal(),
        "applies_to": ["P1"],
        "material": True,
    }


def _proposed(manner: Manner, probe: SuiteProbe) -> Answer:
    return {"reasoning": "r", "transitions": [proposal(probe)] if manner.believes(probe) else []}


def _reviewed(manner: Manner, probe: SuiteProbe) -> Answer:
    premise = _extracted(manner, probe)["premises"][0]
    verdict = {**_adjudicated(manner, probe)["verdicts"][0], "origin": "draft"}
    verdict.pop("number")
    return {"reasoning": "r", "premises": [{**premise, **verdict}]}


def _lean(manner: Manner, probe: SuiteProbe) -> Answer:
    return {**_reviewed(manner, probe), "timeline": [], **_proposed(manner, probe)}


def _adapted(manner: Manner, probe: SuiteProbe) -> Answer:
    key = probe.key
    if manner.believes(probe):
        said = f"Since it is now {key.new_value.reveal()}, what I said before needs another look."
    else:
        said = f"Is this still so: {key.old_value.reveal()}?"
    return {"reasoning": "r", "response": f"{said}\n\n{probe.draft}"}


_ANSWERS: Final[Mapping[str, Callable[[Manner, SuiteProbe], Answer]]] = {
    PREMISE_EXTRACTION.name: _extracted,
    PREMISE_ADJUDICATION.name: _adjudicated,
    TRANSITION_PROPOSAL.name: _proposed,
    EVIDENCE_REVIEW.name: _reviewed,
    LEAN_AUDIT.name: _lean,
    RESPONSE_ADAPTATION.name: _adapted,
}
