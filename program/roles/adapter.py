"""Adapter: the reply rewritten under typed directives, or a clear refusal (section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from stateauditor.program.offline import ablations, answers
from stateauditor.program.roles import example
from stateauditor.program.roles.base import Role
from stateauditor.program.roles.registry import declare
from stateauditor.program.safety.leakage import unsupported
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


def refuse_leaks(
    reply: str,
    *,
    texts: Sequence[str],
    asked: Sequence[str],
    directives: Sequence[DirectiveInstruction],
) -> None:
    """Raise :class:`ReplyRejectedError` where the reply carries what must stay in memory.

    ``texts`` are memory entries as stored; ``asked`` are the question and the draft. With
    the directives they are all that the adapter was shown, and all that it may speak of.
    """
    quoted = [line for directive in directives for line in directive.evidence]
    if leaks(reply, texts, [*asked, *quoted]):
        raise ReplyRejectedError("the adapter's reply carries instruction-like memory text")
    values = [v for d in directives for v in (d.attribute, d.old_value, d.current_value) if v]
    said = [line.partition(": ")[2] for line in quoted]  # without the dates
    if unsupported(reply, texts, asked=asked, quoted=said, values=values):
        raise ReplyRejectedError(
            "the adapter's reply holds a sentence of the memory that no directive, question or "
            "draft supports"
        )


def instructions(
    directives: Sequence[Directive],
    checks: Sequence[TransitionCheck],
    readout: Sequence[RenderedEntry],
) -> tuple[DirectiveInstruction, ...]:
    """Directives with the dated statements behind them, older first."""
    lines = {entry.id: entry for entry in readout}
    by_id = {check.id: check for check in checks}
    return tuple(
        DirectiveInstruction(
            kind=directive.kind,
            attribute=directive.attribute,
            old_value=directive.old_value,
            current_value=directive.current_value,
            evidence=_evidence(directive, by_id, lines),
        )
        for directive in directives
    )


def _evidence(
    directive: Directive, checks: dict[str, TransitionCheck], lines: dict[str, RenderedEntry]
) -> list[str]:
    """The quotations of a directive's transitions, or the lines that its verdicts cite."""
    if directive.steps:
        path = [checks[name] for name in directive.steps]
        quoted = [_dated(m.timestamp, m.quote) for c in path for m in (c.old, c.new)]
        return list(dict.fromkeys(quoted))
    cited = [lines[name] for name in directive.evidence if name in lines]
    return [_dated(entry.timestamp, entry.text) for entry in cited]


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
