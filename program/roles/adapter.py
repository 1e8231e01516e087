"""Adapter: the reply rewritten under typed directives, or a clear refusal (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from stateauditor.program.offline import ablations, answers
from stateauditor.program.roles import example
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declare
from stateauditor.program.safety.screening import leaks
from stateauditor.signatures.adapter import (
    RESPONSE_ADAPTATION,
    ConsistencyRewrite,
    DirectiveInstruction,
    ResponseAdaptation,
)
from stateauditor.signatures.errors import ReplyRejectedError
from stateauditor.signatures.models import (
    Directive,
    Premise,
    RenderedEntry,
    Rewrite,
    TransitionCheck,
)

# A repaired reply keeps about the draft's length; beyond this it is no reply any more.
LONGEST_RATIO = 6
ALWAYS_ALLOWED = 2_000  # characters: a short draft may grow by a correction and a question


class ReplyAdapter(Role):
    """Rewrites the draft; the arbiter has already decided what must change."""

    def __init__(self) -> None:
        super().__init__()
        self.adapt = dspy.Predict(ResponseAdaptation)

    async def aforward(
        self, *, question: str, draft: str, directives: Sequence[DirectiveInstruction]
    ) -> str:
        """The complete reply; raises :class:`ReplyRejectedError` for an unusable one."""
        answer = await self.adapt.acall(question=question, draft=draft, directives=list(directives))
        return accepted_reply(str(answer.response), draft)


class UntypedRewriter(Role):
    """The adapter without directives: it is shown the statements behind them, and no more.

    An ablation (paper, section 6.3): "consistent with these" names neither what ended nor
    what to do about it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.adapt = dspy.Predict(ConsistencyRewrite)

    async def aforward(
        self, *, question: str, draft: str, directives: Sequence[DirectiveInstruction]
    ) -> str:
        """The complete reply; raises :class:`ReplyRejectedError` for an unusable one."""
        answer = await self.adapt.acall(
            question=question, draft=draft, statements=statements_of(directives)
        )
        return accepted_reply(str(answer.response), draft)


def statements_of(directives: Sequence[DirectiveInstruction]) -> list[str]:
    """The dated statements behind some directives, each once; the attribute where there is none."""
    said = [line for d in directives for line in (d.evidence or [f"about the {d.attribute}"])]
    return list(dict.fromkeys(said))


def accepted_reply(reply: str, draft: str) -> str:
    """``reply`` without outer white space, unless it is empty or absurdly long."""
    text = reply.strip()
    if not text:
        raise ReplyRejectedError("the adapter's reply was empty")
    if len(text) > max(ALWAYS_ALLOWED, LONGEST_RATIO * len(draft)):
        raise ReplyRejectedError(f"the adapter's reply has {len(text)} characters, absurdly many")
    return text


def refuse_leaks(reply: str, *, texts: Sequence[str], allowed: Sequence[str]) -> None:
    """Raise :class:`ReplyRejectedError` where the reply carries instruction-like memory text.

    ``texts`` are memory entries as stored; what stands in ``allowed`` (question,
    draft, the directives' evidence) was shown to the adapter after redaction.
    """
    if leaks(reply, texts, allowed):
        raise ReplyRejectedError("the adapter's reply carries instruction-like memory text")


def instructions(
    directives: Sequence[Directive],
    premises: Sequence[Premise],
    checks: Sequence[TransitionCheck],
    readout: Sequence[RenderedEntry],
) -> tuple[DirectiveInstruction, ...]:
    """Directives with the dated statements behind them, older first."""
    by_id = {entry.id: entry for entry in readout}
    by_check = {check.id: check for check in checks}
    return tuple(
        DirectiveInstruction(
            kind=directive.kind,
            attribute=directive.attribute,
            old_value=directive.old_value,
            current_value=directive.current_value,
            evidence=_evidence(directive, premises, by_check, by_id),
        )
        for directive in directives
    )


def _evidence(
    directive: Directive,
    premises: Sequence[Premise],
    checks: dict[str, TransitionCheck],
    entries: dict[str, RenderedEntry],
) -> list[str]:
    source, _, name = directive.authority.partition(":")
    if source == "transition" and name in checks:
        check = checks[name]
        return [_dated(match.timestamp, match.quote) for match in (check.old, check.new)]
    ids = [
        entry_id
        for premise in premises
        if premise.origin.value == name and premise.attribute == directive.attribute
        for entry_id in premise.evidence
    ]
    found = [entries[entry_id] for entry_id in sorted(set(ids)) if entry_id in entries]
    return [_dated(entry.timestamp, entry.text) for entry in found]


def _dated(timestamp: object, text: str) -> str:
    return f'{timestamp or "unknown time"}: "{text}"'


declare(
    RESPONSE_ADAPTATION,
    ReplyAdapter,
    ablated={Rewrite.UNTYPED: UntypedRewriter},
    rules={
        ResponseAdaptation: answers.adapt_response,
        ConsistencyRewrite: ablations.rewrite_untyped,
    },
    example=example.repair,
)
