"""The text view of one audit: the reply, what changed, and the dated evidence for it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from stateauditor.cli.console import has_colour, printable, show
from stateauditor.cli.worddiff import render_diff, word_diff
from stateauditor.program.offline.label import BACKEND_LABEL
from stateauditor.signatures.models import (
    AuditResult,
    CheckStatus,
    Directive,
    Policy,
    Premise,
    QuoteMatch,
    Reason,
    Totals,
    TransitionCheck,
    Usage,
    Verdict,
)

VERIFIED_MEANS = (
    "What is verified is provenance and chronology (where a quotation stands, and which one "
    "is newer), never meaning."
)
OFFLINE_MEANS = (
    "These findings come from lexical rules, not from a model: a floor, not a judgement."
)

_REASONS = {
    Reason.UNGROUNDED_OLD: "the old quotation stands in no entry",
    Reason.UNGROUNDED_NEW: "the new quotation stands in no entry",
    Reason.CROSS_ENTRY: "a quotation is put together from two entries",
    Reason.NOT_NEWER: "the new evidence is not later than the old",
    Reason.MISSING_VALUE: "a value is missing",
    Reason.SAME_VALUE: "old and new value are the same",
    Reason.NOT_MATERIAL: "it does not bear on this reply",
    Reason.SHORT_PATH: "the causal path has fewer than two steps",
    Reason.SEMANTIC_GATE: "the semantic gate did not agree",
}


def show_result(console: Console, result: AuditResult, *, verbose: bool = False) -> None:
    """Print everything that a person wants to see of an audit."""
    _heading(console, f"Reply ({_state(result)})")
    show(console, printable(result.response))
    if result.changed:
        _heading(console, "What changed")
        show_change(console, result)
    if result.directives:
        _heading(console, "Why")
        show_directives(console, result)
    if verbose:
        _show_details(console, result)
    if result.failed_open:
        _heading(console, "Failed open", style="bold yellow")
        for failure in result.failed_open:
            show(console, f"  {failure.role}: {printable(failure.reason)}", style="yellow")
        show(console, f"  {_left(result)}")
    show(console)
    show(console, printable(footer(result)), style="dim")


def _state(result: AuditResult) -> str:
    """What became of the draft, and how to have a reported finding repaired."""
    if result.changed:
        return "repaired"
    if result.policy is Policy.OBSERVE and result.directives:
        return "the draft, unchanged; --policy repair_only repairs it"
    return "unchanged, byte for byte the draft"


def _left(result: AuditResult) -> str:
    """What a failure leaves of the audit."""
    if result.nothing_checked:
        return "Nothing was checked: every role failed. The reply is the draft, unaudited."
    return "These findings are missing; what the other roles found is in force."


def show_change(console: Console, result: AuditResult) -> None:
    """Draft and reply as one text, word by word."""
    spans = word_diff(printable(result.draft), printable(result.response))
    show(console, render_diff(spans, colour=has_colour(console)))


def show_directives(console: Console, result: AuditResult) -> None:
    """Each finding once, with the kinds of directive that it fired and its evidence."""
    for group in _grouped(result.directives):
        first = group[0]
        line = Text("  ")
        line.append(" + ".join(directive.kind.value for directive in group), style="bold")
        line.append(f"  {_change(first.attribute, first.old_value, first.current_value)}")
        line.append(f"  ({printable(first.authority)})", style="dim")
        show(console, line)
        for evidence in _evidence(first, result):
            show(console, f"    {evidence}")


def footer(result: AuditResult) -> str:
    """Who answered, under which settings, at what cost, and what that proves: one line."""
    parts = [result.backend, result.policy.value, result.variant.value]
    if not is_offline(result):
        parts.append(_cost(result.usage))
    return " · ".join([*parts, "checked: quotations and their order, never meaning"])


def _cost(usage: Usage) -> str:
    paid = usage.paid
    price = "cost unknown" if paid.cost is None else f"${paid.cost:.4f}"
    cached = f" and {usage.cached.calls} cached" if usage.cached.calls else ""
    return f"{paid.calls} paid calls{cached}, {price}"


def is_offline(result: AuditResult) -> bool:
    """Whether lexical rules, and no model, answered."""
    return result.backend == BACKEND_LABEL


def usage_line(result: AuditResult) -> str:
    """Calls, tokens and cost; what was paid for and what came from the cache, apart."""
    if is_offline(result):
        return f"calls: no LM; lexical rules answered {result.usage.paid.calls} roles"
    return f"calls: {_totals(result.usage.paid, 'paid')} / {_totals(result.usage.cached, 'cached')}"


def _totals(totals: Totals, name: str) -> str:
    if not totals.calls:
        return f"0 {name}"
    cost = "cost unknown" if totals.cost is None else f"${totals.cost:.4f}"
    failed = f" ({totals.failed} failed)" if totals.failed else ""
    estimated = f" (estimated for {totals.estimated} calls)" if totals.estimated else ""
    return (
        f"{totals.calls} {name}{failed}, {totals.input_tokens:,} tokens in, "
        f"{totals.output_tokens:,} out, {cost}{estimated}, {totals.seconds:.1f} s"
    )


# --- directives and their evidence ----------------------------------------------


def _grouped(directives: Iterable[Directive]) -> list[list[Directive]]:
    groups: dict[tuple[str | None, ...], list[Directive]] = {}
    for d in directives:
        key = (d.attribute, d.old_value, d.current_value, d.authority)
        groups.setdefault(key, []).append(d)
    return list(groups.values())


def _change(attribute: str, old: str | None, new: str | None) -> str:
    return printable(f"{attribute or 'state'}: {old or 'unknown'} → {new or 'unknown'}")


def _evidence(directive: Directive, result: AuditResult) -> list[str]:
    kind, _, name = directive.authority.partition(":")
    if kind == "transition":
        checks = {check.id: check for check in result.transitions}
        path = [checks[step] for step in directive.steps or (name,) if step in checks]
        return [line for check in path for line in _quotations(check)]
    entries = {entry.id: entry for entry in result.readout}
    # Results of earlier versions keep the lines with the premises alone.
    cited = directive.evidence or dict.fromkeys(
        line for p in result.premises if _supports(p, directive) for line in p.evidence
    )
    found = [entries[line] for line in cited if line in entries]
    return [f"see {_dated(str(e.timestamp or ''), e.text, e.id)}" for e in found]


def _supports(premise: Premise, directive: Directive) -> bool:
    attribute = premise.attribute or premise.text
    return (
        premise.material
        and premise.verdict is not Verdict.VALID
        and attribute.casefold() == directive.attribute.casefold()
    )


def _quotations(check: TransitionCheck) -> list[str]:
    return [f"was {_match(check.old)}", f"now {_match(check.new)}"]


def _match(match: QuoteMatch) -> str:
    return _dated(str(match.timestamp or ""), match.quote, match.entry_id or "no entry")


def _dated(time: str, text: str, place: str) -> str:
    return f"{time or 'unknown time':<17} “{printable(' '.join(text.split()))}” ({place})"


# --- the details of -v ------------------------------------------------------------


def _show_details(console: Console, result: AuditResult) -> None:
    rejected = [c for c in result.transitions if c.status is CheckStatus.REJECTED]
    _heading(console, f"Rejected transitions ({len(rejected)})")
    for check in rejected:
        show(console, f"  {_change(check.attribute, check.old_value, check.new_value)}")
        for quotation in _quotations(check):
            show(console, f"    {quotation}")
        for reason in check.reasons:
            show(console, f"    {reason.value}: {_REASONS[reason]}", style="yellow")
    _heading(console, f"Premises ({len(result.premises)})")
    for premise in result.premises:
        current = f" → {premise.current_value}" if premise.current_value else ""
        material = "" if premise.material else ", not material"
        tail = f"{premise.text}{current} ({premise.origin}{material})"
        show(console, f"  {premise.verdict.value:<7}  {printable(tail)}")
    _heading(console, f"Timeline ({len(result.timeline)})")
    for item in result.timeline:
        change = _change(item.attribute, item.previous_value, item.current_value)
        show(console, f"  {item.status.value:<9}  {change}")
    show(console)
    show(console, f"readout: {len(result.readout)} entries", style="dim")
    show(console, usage_line(result), style="dim")
    show(console, VERIFIED_MEANS, style="dim")
    if is_offline(result):
        show(console, OFFLINE_MEANS, style="dim")


def _heading(console: Console, text: str, *, style: str = "bold") -> None:
    if not text.startswith("Reply"):
        show(console)
    show(console, text, style=style)
