"""``stateauditor config check``: is a backend file right?"""

from __future__ import annotations

from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.backend_files import key_variables
from stateauditor.cli.console import printable, show, stdout
from stateauditor.program.backends.named import named_config
from stateauditor.signatures.step import LMRole

EXAMPLES = options.examples("stateauditor config check my-backend.yaml")

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look after backend files.")


@app.command(epilog=EXAMPLES)
def check(
    file: Annotated[
        str, typer.Argument(metavar="FILE.yaml", help="A backend file, or a shipped name.")
    ],
) -> None:
    """Validate a backend file and say which LM answers which role.

    Everything that is wrong is listed at once, with its path in the file. No
    request is sent, and a key that is not set is only mentioned.

    Exit status: 0 the file is right, 2 it is not.
    """
    config, source = named_config(file)
    console = stdout()
    show(console, f"{source}: ok", style="green")
    for role in LMRole:
        name = config.lm_for(role)
        show(console, printable(f"  {role.value:<9}  {name}: {config.lms[name].model}"))
    for key in key_variables(config):
        show(console, printable(f"  key variable {key.name}: {key.state}"))
    show(console, f"  cache: {config.cache.value}")
