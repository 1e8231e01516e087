"""Proposer outputs that cannot be read, each built around a candidate that would be accepted.

A proposal that cannot be parsed authorizes nothing: the draft comes back, whatever the
output seems to say. One right output a base shows that the way is open to begin with.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from stateauditor.data.suites.items import SuiteItem, SuiteProbe
from stateauditor.experiments.suites.scripted import proposal
from stateauditor.program.auditor import StateAuditor
from stateauditor.program.backends.scripted import Cut, Reply, scripted_backend
from stateauditor.program.memory import read_memory
from stateauditor.signatures.adapter import RESPONSE_ADAPTATION
from stateauditor.signatures.models import AuditResult, CheckStatus, Policy, Variant
from stateauditor.signatures.proposer import TRANSITION_PROPOSAL

REWRITTEN = "This reply was rewritten."
RIGHT = "well formed"


@dataclass(frozen=True, slots=True)
class ParseCase:
    """One raw output for one probe, and what became of the draft."""

    name: str
    base: str
    result: AuditResult

    @property
    def right(self) -> bool:
        """Whether nothing was authorized, or a repair where the output is well formed."""
        verified = any(c.status is CheckStatus.VERIFIED for c in self.result.transitions)
        if self.name == RIGHT:
            return verified and self.result.changed
        untouched = self.result.response == self.result.draft and not self.result.changed
        return untouched and not verified and not self.result.directives


def parse_cases(item: SuiteItem, probe: SuiteProbe) -> Iterator[ParseCase]:
    """Every output over the two sessions that the key quotes, through the whole audit."""
    memory = read_memory(_told(item, probe))
    for name, raw in outputs(probe).items():
        backend = scripted_backend(
            {
                TRANSITION_PROPOSAL.name: raw,
                RESPONSE_ADAPTATION.name: {"reasoning": "r", "response": REWRITTEN},
            }
        )
        auditor = StateAuditor(backend, variant=Variant.STRICT_VTA, policy=Policy.FULL)
        with _quiet():
            result = auditor.audit(memory, probe.question, probe.draft)
        yield ParseCase(name, f"{item.uid}/{probe.name}", result)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without DSPy's advice about replies that are cut: here they are meant to be."""
    log = logging.getLogger("dspy.clients.lm")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _told(item: SuiteItem, probe: SuiteProbe) -> list[dict[str, Any]]:
    quotes = (probe.key.m_old.reveal(), probe.key.m_new.reveal())
    return [
        session.as_memory_item()
        for session in item.sessions
        if any(quote in turn.content for turn in session.turns for quote in quotes)
    ]


def outputs(probe: SuiteProbe) -> dict[str, Reply]:
    """Raw outputs by name: the right one first, then those that must authorize nothing.

    What is left out on purpose is output that can be repaired without a guess (fences,
    single quotes, a missing last bracket after a whole candidate): that may be read.
    """
    right = {"reasoning": "r", "transitions": [proposal(probe)]}
    text = json.dumps(right, ensure_ascii=False)
    one = json.dumps(proposal(probe), ensure_ascii=False)
    old, new = probe.key.m_old.reveal(), probe.key.m_new.reveal()
    inside = text.index('"new_quote"') + len('"new_quote": "') + 3
    return {
        RIGHT: right,
        "empty": "",
        "white space": " \n\t ",
        "thinking only": f"<think>{text}</think>",
        "prose": "I have read the statements and found one change that matters.",
        "prose with both quotations": f'The user said "{old}" and later "{new}", so it is over.',
        "refusal": "I'm sorry, but I can't help with that.",
        "empty fence": "```json\n```",
        "schema echoed": {"type": "object", "properties": right, "required": ["transitions"]},
        "cut inside the candidate": Cut(text[:inside]),
        "cut, and no one said so": text[:inside],
        "cut before the candidate": Cut(text[: text.index('"transitions"') + 5]),
        "a number for the list": {"reasoning": "r", "transitions": 1},
        "a word for the list": {"reasoning": "r", "transitions": "verified"},
        "null for the list": {"reasoning": "r", "transitions": None},
        "a list of texts": {"reasoning": "r", "transitions": [old, new]},
        "a list of lists": {"reasoning": "r", "transitions": [[old, new]]},
        "broken JSON in a text": {"reasoning": "r", "transitions": f"[{one[:-20]}"},
        "flag of no meaning": _with(right, material="perhaps"),
        "quotation as an object": _with(right, old_quote={"text": old, "line": "E01"}),
        "path as a number": _with(right, causal_path=2),
        "other names for the fields": {
            "reasoning": "r",
            "transitions": [{"from": old, "to": new, "why": "it is over"}],
        },
        "another object": {"answer": "yes", "confidence": 0.98},
        "HTML": f"<html><body><h1>502 Bad Gateway</h1><p>{old} {new}</p></body></html>",
        "XML": f"<transition><old_quote>{old}</old_quote><new_quote>{new}</new_quote></transition>",
        "the readout repeated": f'E01 [2024-01-01] "{old}"\nE02 [2024-06-01] "{new}"',
        "null": "null",
        "a lone bracket": "{",
    }


def _with(right: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**right, "transitions": [{**right["transitions"][0], **changes}]}
