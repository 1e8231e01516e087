"""The command line as a whole: its commands, and what becomes of errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from stateauditor.cli import (
    ablate,
    annotate,
    audit,
    backends,
    cache,
    compare,
    compile,
    config,
    data,
    demo,
    doctor,
    estimate,
    evaluate,
    export,
    options,
    prompts,
    rejudge,
    retrieve,
    schema,
    suite,
    table,
    ui,
)
from stateauditor.cli.console import report_error, show, stderr, stdout, use_utf8
from stateauditor.signatures.errors import StateAuditorError

PROGRAM = "stateauditor"
WRONG_INPUT = 2
INTERRUPTED = 130

EXAMPLES = options.examples(
    "stateauditor demo",
    "stateauditor audit input.json",
    "stateauditor audit input.json --backend openai --json",
)

app = typer.Typer(
    name=PROGRAM,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXAMPLES,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        show(stdout(), f"{PROGRAM} {version(PROGRAM)}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Finds the remark in a user's memory that has silently made a drafted reply wrong.

    It shows the change with dated quotations and repairs the reply. Works at
    once with lexical rules (no key, no network), and better with any LM.
    """


_COMMANDS: tuple[tuple[Callable[..., Any], str], ...] = (
    (audit.audit, audit.EXAMPLES),
    (retrieve.retrieve, retrieve.EXAMPLES),
    (demo.demo, demo.EXAMPLES),
    (estimate.estimate, estimate.EXAMPLES),
    (evaluate.evaluate, evaluate.EXAMPLES),
    (compare.compare, compare.EXAMPLES),
    (ablate.ablate, ablate.EXAMPLES),
    (table.table, table.EXAMPLES),
    (rejudge.rejudge, rejudge.EXAMPLES),
    (compile.compile_command, compile.EXAMPLES),
    (ui.ui, ui.EXAMPLES),
    (schema.schema, schema.EXAMPLES),
    (doctor.doctor, doctor.EXAMPLES),
)
for _command, _examples in _COMMANDS:
    app.command(_command.__name__.removesuffix("_command"), epilog=_examples)(_command)
app.add_typer(backends.app, name="backends")
app.add_typer(cache.app, name="cache")
app.add_typer(prompts.app, name="prompts")
app.add_typer(config.app, name="config")
app.add_typer(data.app, name="data")
app.add_typer(suite.app, name="suite")
app.add_typer(export.export_app, name="export")
app.add_typer(export.import_app, name="import")
app.add_typer(annotate.app, name="annotate")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Mistakes in input or configuration become one message and status 2, without
    a traceback; a traceback means a defect of StateAuditor.
    """
    use_utf8()
    try:
        app(args=None if arguments is None else list(arguments), prog_name=PROGRAM)
    except StateAuditorError as error:
        report_error(str(error))
        return WRONG_INPUT
    except KeyboardInterrupt:
        status = INTERRUPTED
    except SystemExit as exit_:
        status = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    else:
        status = 0
    if status == INTERRUPTED:
        show(stderr(), "interrupted")
    return status
