"""``stateauditor audit``: one draft (or several) in, audited replies out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import note, progress, stdout, write_json
from stateauditor.cli.inputs import AuditInput, Given, read_audit_input
from stateauditor.cli.report import show_result
from stateauditor.signatures.models import (
    AuditResult,
    DirectiveKind,
    Policy,
    Variant,
    Verdict,
)

FAILED_ON = 1
"""Exit status when a condition of ``--fail-on`` is met."""

NOTHING_CHECKED = 3
"""Exit status when every role of an audit failed, so that the draft was not looked at."""

EXAMPLES = options.examples(
    "stateauditor audit input.json",
    "stateauditor audit input.json --backend openai --policy full --json",
    "stateauditor audit --memory mem.jsonl --question 'Plan my Saturday' --draft @draft.txt",
    "stateauditor audit --memory mem0.json --user Kim --question @q.txt --draft @draft.txt",
    "generate | stateauditor audit --memory mem.jsonl --question @q.txt --draft - --fail-on stale",
)


class FailOn(StrEnum):
    """What ends the command with exit status 1."""

    STALE = "stale"
    FAILED_OPEN = "failed-open"


def audit(
    file: options.InputFile = None,
    memory: options.MemoryFile = None,
    question: options.Question = None,
    draft: options.Draft = None,
    backend: Annotated[
        str,
        typer.Option(
            "--backend",
            metavar="offline|NAME|FILE.yaml",
            help="Who answers the roles: lexical rules, a shipped backend (see "
            "'stateauditor backends'), or your own file.",
        ),
    ] = "offline",
    policy: Annotated[
        Policy | None,
        typer.Option(
            "--policy",
            metavar="|".join(Policy),
            help="What findings may do: report only, repair what is stale, or also ask the "
            "user about what is unknown. Default: repair_only; observe with lexical rules.",
        ),
    ] = None,
    variant: Annotated[
        Variant,
        typer.Option(
            "--variant",
            metavar="NAME",
            help=f"Which passes run: {', '.join(Variant)}. joint_vta is for several pairs.",
        ),
    ] = Variant.STRICT_VTA,
    budget: options.Budget = None,
    compiled: options.Compiled = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            "--fail-on",
            metavar="|".join(FailOn),
            help="Exit with status 1 if the draft relies on something stale, or if a role "
            "failed open. May be given twice.",
        ),
    ] = None,
    format: options.MemoryFormat = None,
    user: options.UserName = None,
    as_of: options.AsOf = None,
    allow_undated: options.AllowUndated = False,
    as_json: options.AsJson = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Also show rejected transitions, premises, timeline and tokens."
        ),
    ] = False,
) -> None:
    """Audit a drafted reply against the user's memory.

    The reply comes back repaired where a later remark of the user has made the
    draft wrong, and byte for byte as drafted otherwise. Without a model (offline),
    findings are reported only, unless --policy repair_only asks for the repair.
    Several drafts over one memory go into INPUT.json as "pairs": a list of
    {"question", "draft"}.

    Exit status: 0 done, 1 a --fail-on condition is met, 2 wrong input or configuration,
    3 nothing was checked (of one draft or more), since every role failed.
    """
    given = read_audit_input(
        Given(file, memory, question, draft, allow_undated, format, user, as_of)
    )
    _note_oddities(given)
    with progress(f"auditing with {backend}"):
        from stateauditor.program.auditor import StateAuditor

        settings = options.retrieval_settings(budget)
        if policy is not None:
            settings["policy"] = policy
        auditor = StateAuditor(backend, variant=variant, compiled=compiled, **settings)
        results = auditor.audit_pairs(given.memory, given.pairs)
    if as_json:
        whole = [result.model_dump(mode="json") for result in results]
        write_json({"results": whole} if given.listed else whole[0])
    else:
        _show(results, verbose=verbose)
    if any(_met(condition, results) for condition in fail_on or ()):
        raise typer.Exit(FAILED_ON)
    unchecked = [result for result in results if result.nothing_checked]
    if unchecked:
        note(f"nothing was checked: {_reasons(unchecked)}")
        raise typer.Exit(NOTHING_CHECKED)


def _show(results: list[AuditResult], *, verbose: bool) -> None:
    console = stdout()
    for number, result in enumerate(results, start=1):
        if len(results) > 1:
            console.rule(f"pair {number}", style="default")
        show_result(console, result, verbose=verbose)


def _note_oddities(given: AuditInput) -> None:
    undated = len(given.memory.undated())
    if undated:
        note(f"entries without a known time: {undated}; they are never later than anything")
    if not given.memory.evidence():
        note("the memory holds nothing that the user said: the draft comes back unchanged")


def _reasons(results: list[AuditResult]) -> str:
    """Why the roles failed, each reason once."""
    reasons = (failure.reason for result in results for failure in result.failed_open)
    return "; ".join(dict.fromkeys(reasons))


def _met(condition: FailOn, results: list[AuditResult]) -> bool:
    if condition is FailOn.FAILED_OPEN:
        return any(result.failed_open for result in results)
    return any(map(is_stale, results))


def is_stale(result: AuditResult) -> bool:
    """Whether a directive repairs the draft, or a material premise was found STALE."""
    repairs = {DirectiveKind.REPAIR, DirectiveKind.CORRECT_AND_INFORM}
    return any(directive.kind in repairs for directive in result.directives) or any(
        premise.material and premise.verdict is Verdict.STALE for premise in result.premises
    )
