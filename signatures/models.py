"""The values that the parts of StateAuditor exchange (no DSPy, no behaviour).

Everything here is frozen and survives a JSON round trip. Names are the paper's
(section 3 for premises and verdicts, 4.4 for transitions, 4.5 for directives).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    model_serializer,
    model_validator,
)

from stateauditor.signatures.display import html, line


class Frozen(BaseModel):
    """Base of all contracts: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- time -------------------------------------------------------------------


class Precision(StrEnum):
    """How much of a timestamp was written down."""

    DAY = "day"
    MINUTE = "minute"
    SECOND = "second"
    MICROSECOND = "microsecond"


_FORMATS = {
    Precision.DAY: "%Y-%m-%d",
    Precision.MINUTE: "%Y-%m-%dT%H:%MZ",
    Precision.SECOND: "%Y-%m-%dT%H:%M:%SZ",
    Precision.MICROSECOND: "%Y-%m-%dT%H:%M:%S.%fZ",
}


# A record of a run holds thousands of these: one pattern for all forms, in place of trying each.
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{6})?)?Z)?", re.ASCII)


def _written(text: str) -> dict[str, Any]:
    """Instant and precision of one of the four forms that are written."""
    match = _WRITTEN.fullmatch(text)
    try:
        instant = datetime.fromisoformat(text if match else "").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"not a timestamp as StateAuditor writes them: {text!r}") from None
    parts = match.groups() if match else ()
    return {"instant": instant, "precision": tuple(Precision)[sum(map(bool, parts))]}


class Timestamp(BaseModel):
    """An instant in UTC together with its precision; one ISO 8601 string in JSON.

    The string shows the precision: ``2023-05-20``, ``2023-05-20T02:21Z``,
    ``2023-05-20T02:21:07Z`` or ``2023-05-20T02:21:07.500000Z``. Reading the many
    forms that users write is the work of ``program.memory.timestamps``; this
    class reads back only the four forms that it writes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    instant: datetime
    precision: Precision

    @model_validator(mode="wrap")
    @classmethod
    def _from_text(cls, value: Any, handler: ModelWrapValidatorHandler[Timestamp]) -> Timestamp:
        if isinstance(value, str):
            return cls(**_written(value))
        stamp = handler(value)
        if stamp.instant.tzinfo is None:
            raise ValueError("an instant needs a time zone; StateAuditor keeps UTC")
        return stamp

    @model_serializer(mode="plain")
    def _to_text(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return self.instant.astimezone(UTC).strftime(_FORMATS[self.precision])


# --- memory and evidence ----------------------------------------------------


class EntryRole(StrEnum):
    """Who stands behind an entry. Only ``user`` and ``fact`` are evidence."""

    USER = "user"
    ASSISTANT = "assistant"
    FACT = "fact"


class Validity(StrEnum):
    """What its store says of a fact: it holds, it was closed, or this is the closing itself."""

    OPEN = "open"
    CLOSED = "closed"
    CLOSING = "closing"


class MemoryEntry(Frozen):
    """One dated statement in a user's memory (paper, section 3).

    ``id`` is unique in its memory. ``timestamp`` is None only where the caller
    allowed undated entries. ``session`` and ``turn`` (0-based) place a
    conversation turn; both are None for a stored fact. ``ended`` is when the
    store closed the fact, None for an open one or where the store does not say.
    """

    id: str
    timestamp: Timestamp | None
    text: str
    role: EntryRole = EntryRole.FACT
    session: str | None = None
    turn: int | None = None
    validity: Validity = Validity.OPEN
    ended: Timestamp | None = None


class RetrievalStep(StrEnum):
    """Which of the four retrieval steps chose an entry (paper, section 4.1), or what else did.

    A later telling of something chosen, room that the steps left, words of the draft, or
    the audit's wider view.
    """

    QUESTION = "question_anchored"
    CHANGE_SCAN = "change_scan"
    COMPANION = "session_companion"
    ANTECEDENT = "antecedent"
    LATER_TELLING = "later_telling"
    FILL = "fill"
    DRAFT = "draft_anchored"
    EXPANSION = "expansion"


class RenderedEntry(Frozen):
    """One line of the readout: the unit that a quotation must match.

    ``id`` is ``E01``, ``E02``, ... oldest first. ``entry_id`` names the memory
    entry that the window was cut from and ``start`` its code-point offset there.
    ``text`` is what the LM sees and what quotations are matched against;
    instruction-like passages are already replaced. ``validity`` and ``ended`` are
    those of the memory entry.
    """

    id: str
    entry_id: str
    timestamp: Timestamp | None
    text: str
    role: EntryRole = EntryRole.USER
    session: str | None = None
    turn: int | None = None
    start: int = 0
    step: RetrievalStep = RetrievalStep.QUESTION
    validity: Validity = Validity.OPEN
    ended: Timestamp | None = None


class Readout(Frozen):
    """The chosen entries, oldest first, and the (antecedent, disclosure) pairs by id.

    ``tokens`` counts ``entries`` with the retriever's own network-free counter.
    """

    entries: tuple[RenderedEntry, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    tokens: int = 0


# --- the base audit ---------------------------------------------------------


class Verdict(StrEnum):
    """Lifecycle verdict on a premise, against the readout only (paper, section 4.2)."""

    VALID = "VALID"
    STALE = "STALE"
    UNKNOWN = "UNKNOWN"


class Origin(StrEnum):
    """Which pass found a premise."""

    DRAFT = "draft"
    QUESTION = "question"
    STATE = "state"


class Premise(Frozen):
    """Something about the user that the draft or the question takes for granted.

    ``material`` says whether the answer meaningfully depends on it. ``evidence``
    holds readout ids that the LM named and that exist.
    """

    text: str
    verdict: Verdict
    current_value: str | None = None
    material: bool = False
    origin: Origin
    attribute: str = ""
    old_value: str | None = None
    evidence: tuple[str, ...] = ()


class ChangeStatus(StrEnum):
    """What the timeline says about an attribute (paper, section 4.3)."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    UNCERTAIN = "uncertain"


class TimelineItem(Frozen):
    """One attribute of the user with its previous and current value."""

    attribute: str
    previous_value: str | None = None
    current_value: str | None = None
    status: ChangeStatus
    evidence: tuple[str, ...] = ()


# --- transitions ------------------------------------------------------------


class TransitionCandidate(Frozen):
    """A proposed old -> new change of the user's state (paper, section 4.4).

    ``applies_to`` names the question-draft pairs (``P1``, ``P2``, ...) that the
    change bears on; empty means the one reply under audit.
    """

    attribute: str = ""
    old_value: str = ""
    new_value: str = ""
    old_quote: str = ""
    new_quote: str = ""
    causal_path: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    material: bool = True


class MatchTier(StrEnum):
    """How a quotation was found in its entry."""

    EXACT = "exact"
    FOLDED = "folded"
    FUZZY = "fuzzy"


class QuoteMatch(Frozen):
    """Where a quotation stands in one rendered entry.

    ``coverage`` is the share, 0 to 1, of the quotation's content tokens that
    stand in the best entry. ``start`` and ``end`` are code-point offsets into
    the rendered entry's text, so that ``quote == text[start:end]`` whenever
    ``entry_id`` is set; otherwise ``quote`` is what the proposer wrote.
    """

    entry_id: str | None = None
    timestamp: Timestamp | None = None
    quote: str = ""
    coverage: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    start: int | None = None
    end: int | None = None
    tier: MatchTier | None = None


class CheckStatus(StrEnum):
    """Verified is about provenance and chronology, never about meaning."""

    VERIFIED = "verified"
    REJECTED = "rejected"


class Reason(StrEnum):
    """Why a candidate may not act; each failed rule adds one."""

    UNGROUNDED_OLD = "ungrounded_old"
    UNGROUNDED_NEW = "ungrounded_new"
    CROSS_ENTRY = "cross_entry"
    NOT_NEWER = "not_newer"
    CLOSED_NEW = "closed_new"
    MISSING_VALUE = "missing_value"
    SAME_VALUE = "same_value"
    NOT_MATERIAL = "not_material"
    SHORT_PATH = "short_path"
    SEMANTIC_GATE = "semantic_gate"


class TransitionCheck(Frozen):
    """The validator's finding on one candidate; rejected ones keep every reason."""

    id: str
    status: CheckStatus
    reasons: tuple[Reason, ...] = ()
    attribute: str
    old_value: str
    new_value: str
    causal_path: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    material: bool = True
    old: QuoteMatch
    new: QuoteMatch


# --- directives and the result ----------------------------------------------


class DirectiveKind(StrEnum):
    """What the adapter must do (paper, section 4.5)."""

    REPAIR = "repair"
    CORRECT_AND_INFORM = "correct_and_inform"
    VERIFY = "verify"


class BaseAudit(Frozen):
    """The base audit's findings on one pair, to be reused by arms that share it.

    ``evidence`` ids refer to the compact readout of the same memory and question.
    """

    premises: tuple[Premise, ...] = ()
    timeline: tuple[TimelineItem, ...] = ()


class Directive(Frozen):
    """One typed instruction to the adapter.

    ``authority`` is ``transition:<check id>`` or ``base_audit:<origin>``. Where several
    transitions of one attribute act as one, it names the one that led to what holds now,
    and ``steps`` all of them by check id, oldest first. ``evidence`` holds the readout
    ids that the directive rests on, oldest first.
    """

    kind: DirectiveKind
    attribute: str
    old_value: str | None = None
    current_value: str | None = None
    authority: str
    steps: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class Policy(StrEnum):
    """What directives may do."""

    OBSERVE = "observe"
    REPAIR_ONLY = "repair_only"
    FULL = "full"


class Variant(StrEnum):
    """Which passes run (paper, sections 5 and 6.1; ``lean`` is this project's own).

    ``control`` is the matched control: the base audit and one review of the
    expanded evidence in place of the proposer.
    """

    DRAFT_ANCHORED = "draft_anchored"
    STATE_ANCHORED = "state_anchored"
    PREDECESSOR = "predecessor"
    STRICT_VTA = "strict_vta"
    JOINT_VTA = "joint_vta"
    LEAN = "lean"
    CONTROL = "control"


# --- ablations (paper, sections 6.1 and 6.3) -----------------------------------


class Labels(StrEnum):
    """What the base audit calls its findings: lifecycle verdicts, or entailment labels."""

    LIFECYCLE = "lifecycle"
    NLI = "nli"


class Rewrite(StrEnum):
    """What the adapter is given: typed directives, or the statements behind them alone."""

    TYPED = "typed"
    UNTYPED = "untyped"


class Channel(StrEnum):
    """What a proposer may see of the scenario's other probes: privileged, never strict."""

    QUESTIONS = "questions"
    DRAFTS = "drafts"
    EVIDENCE = "evidence"


# --- calls ----------------------------------------------------------------------


class CallRecord(Frozen):
    """One LM call, or one answer by lexical rules (then zero tokens, zero cost).

    ``reasoning_tokens`` (thinking) are a part of ``output_tokens``, ``cached_tokens``
    (read from the provider's own cache) of ``input_tokens``. ``estimated`` says that the
    server did not tell the usage: the tokens are counted in the texts, and a cost by price
    follows from them. ``cost`` is in US dollars and None where unknown. ``seconds`` is the
    latency of the call that produced the reply; a cached reply keeps the recorded one.
    ``dropped`` counts output items that could not be read and were left out. ``error`` says
    why a call failed; one that brought no reply is a call, too.
    """

    role: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False
    cost: float | None = None
    seconds: float = 0.0
    cached: bool = False
    dropped: int = 0
    error: str | None = None


class Totals(Frozen):
    """Sums over calls; ``cost`` is in US dollars and None as soon as one is unknown.

    ``failed`` of the calls brought no usable reply; of ``estimated`` ones the tokens are
    our count, since the server told none. Both are among ``calls``.
    """

    calls: int = 0
    failed: int = 0
    estimated: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0

    @classmethod
    def of(cls, calls: Iterable[CallRecord]) -> Totals:
        """The totals of some calls."""
        kept = list(calls)
        costs = [call.cost for call in kept]
        return cls(
            calls=len(kept),
            failed=sum(call.error is not None for call in kept),
            estimated=sum(call.estimated for call in kept),
            input_tokens=sum(call.input_tokens for call in kept),
            output_tokens=sum(call.output_tokens for call in kept),
            reasoning_tokens=sum(call.reasoning_tokens for call in kept),
            cached_tokens=sum(call.cached_tokens for call in kept),
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
            seconds=sum(call.seconds for call in kept),
        )

    def __add__(self, other: Totals) -> Totals:
        costs = (self.cost, other.cost)
        return Totals(
            calls=self.calls + other.calls,
            failed=self.failed + other.failed,
            estimated=self.estimated + other.estimated,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
            seconds=self.seconds + other.seconds,
        )


class Usage(Frozen):
    """What an audit cost: calls paid for now, and calls replayed from the cache."""

    paid: Totals = Totals()
    cached: Totals = Totals()

    @classmethod
    def of(cls, calls: Iterable[CallRecord]) -> Usage:
        """Split some calls into paid and cached ones."""
        kept = list(calls)
        return cls(
            paid=Totals.of(call for call in kept if not call.cached),
            cached=Totals.of(call for call in kept if call.cached),
        )


class Failure(Frozen):
    """A role that failed; its findings are missing and the reply failed open."""

    role: str
    reason: str


class AuditResult(Frozen):
    """Everything that one audit found and did.

    ``response`` is what the user gets; it equals ``draft`` byte for byte unless
    ``changed``. ``failed_open`` lists the roles that broke, with the reason.
    """

    response: str
    draft: str
    changed: bool
    backend: str
    policy: Policy
    variant: Variant
    directives: tuple[Directive, ...] = ()
    premises: tuple[Premise, ...] = ()
    timeline: tuple[TimelineItem, ...] = ()
    transitions: tuple[TransitionCheck, ...] = ()
    readout: tuple[RenderedEntry, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    usage: Usage = Usage()
    failed_open: tuple[Failure, ...] = ()

    def _repr_html_(self) -> str:
        return html(self)

    def __repr__(self) -> str:
        return line(self)

    __str__ = __repr__

    @property
    def nothing_checked(self) -> bool:
        """Whether every role of the audit that was asked failed: nobody looked at the draft.

        An audit that had nothing to ask (no memory, an empty draft) has checked what
        there was. Writing the draft and judging replies are no part of the audit.
        """
        failed = {failure.role for failure in self.failed_open} - _BESIDE_THE_AUDIT
        asked = {call.role for call in self.calls} - _BESIDE_THE_AUDIT
        found = self.directives or self.premises or self.timeline or self.transitions
        return bool(failed) and asked <= failed and not found


_BESIDE_THE_AUDIT = {"response_generation", "stale_judgment"}
