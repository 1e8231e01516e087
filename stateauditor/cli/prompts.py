"""``stateauditor prompts show``: the exact messages of each role, compiled or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, progress, show, stdout, write_json
from stateauditor.cli.demos import EXAMPLES as WORKED_EXAMPLES
from stateauditor.cli.inputs import Given, read_audit_input
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Variant

if TYPE_CHECKING:
    from stateauditor.experiments.compile.prompts import RolePrompt

EXAMPLES = options.examples(
    "stateauditor prompts show --role transition_proposal",
    "stateauditor prompts show input.json --compiled compiled/my --diff",
)

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="See what the roles say to an LM."
)


@app.callback()
def prompts() -> None:
    """See what the roles say to an LM."""


@app.command("show", epilog=EXAMPLES)
def show_command(
    file: options.InputFile = None,
    compiled: options.Compiled = None,
    role: Annotated[
        str | None,
        typer.Option("--role", metavar="ROLE", help="Only this role, e.g. transition_proposal."),
    ] = None,
    variant: Annotated[
        Variant | None,
        typer.Option("--variant", metavar="NAME", help="The variant (default: strict_vta)."),
    ] = None,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Only what --compiled changes against the built-in prompts."),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Print the exact messages of each role for an input (default: a worked example).

    Nothing is sent: lexical rules answer each role, so that the next one has
    something to read. Roles that the input does not reach are named.
    """
    if diff and compiled is None:
        raise ConfigError("--diff compares with the built-in prompts; add --compiled DIR")
    given = WORKED_EXAMPLES[0].load() if file is None else read_audit_input(Given(file=file))
    question, draft = given.pairs[0]
    with progress("writing the prompts"):
        from stateauditor.experiments.compile.prompts import PromptRequest, prompt_diff
        from stateauditor.experiments.compile.prompts import prompts as prompts_of

        if variant is None and role is None and compiled is not None:
            variant = _variant_of(compiled)
        found, silent = prompts_of(
            PromptRequest(given.memory, question, draft, role, variant, compiled)
        )
        before: list[RolePrompt] = []
        if diff:
            before, _ = prompts_of(PromptRequest(given.memory, question, draft, role, variant))
    if as_json:
        listed = [{"role": p.role, "messages": list(p.messages)} for p in found]
        if diff:
            listed = [
                {"role": b.role, "diff": prompt_diff(b, a)}
                for b, a in zip(before, found, strict=True)
            ]
        write_json({"prompts": listed, "not_reached": silent})
        return
    if diff:
        for old, new in zip(before, found, strict=True):
            _show_diff(new.role, prompt_diff(old, new))
    else:
        for prompt in found:
            _heading(prompt.role)
            show(stdout(), printable(prompt.text))
    if silent:
        note(f"this input does not reach: {', '.join(silent)}")


def _variant_of(compiled: Path) -> Variant | None:
    """The variant that reaches the compiled roles, where the default one does not."""
    from stateauditor.program.roles.compiled import read_index

    return Variant.LEAN if "lean_audit" in read_index(compiled).roles else None


def _heading(role: str) -> None:
    stdout().rule(role, style="default")


def _show_diff(role: str, lines: list[str]) -> None:
    _heading(role)
    console = stdout()
    if not lines:
        show(console, "unchanged")
    for line in lines:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        show(console, printable(line), style=style)
