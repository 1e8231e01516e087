"""``stateauditor compile``: better prompts from a development slice, into one folder."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, show, show_table, stderr, stdout, write_json
from stateauditor.cli.console import progress as spinner

if TYPE_CHECKING:
    from stateauditor.experiments.compile.compiler import Compiled, CompileProgress
    from stateauditor.experiments.compile.folder import CompileResult, Measured
    from stateauditor.metrics import Interval

STOPPED_EARLY = 1
INTERRUPTED = 130

EXAMPLES = options.examples(
    "stateauditor compile bootstrap_offline --out compiled/offline",
    "stateauditor compile my.yaml --set max_cost=5 --set optimizer.max_metric_calls=200",
    "stateauditor compile compiled/my/config.yaml --out compiled/my --resume",
    "stateauditor audit input.json --backend openai --compiled compiled/my",
)


def compile_command(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG.yaml",
            help="A compile's config: a file, or the name of one that ships.",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Replace one setting; the value is YAML. May be given often.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="The result's folder (default: compiled/NAME-DATE-TIME)."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the compile in --out: recorded calls are not paid again, and GEPA "
            "starts from the candidates that it has.",
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compile the prompts of one role or of all on a frozen list of at most 50 ids.

    Optimizers: bootstrap_few_shot, bootstrap_random_search, mipro_v2, gepa, simba.
    Nothing outside the list is touched. Ctrl-C and max_cost keep the best so far. Use
    the folder as `compiled: DIR` in a config, or as --compiled DIR.

    Exit status: 0 done, 1 the compile stopped early and kept its best, 130 after
    Ctrl-C (likewise kept), 2 wrong input or configuration.
    """
    from stateauditor.experiments.compile.spec import load_compile_spec

    spec = load_compile_spec(config, settings or ())
    folder = out or spec.out or Path("compiled") / f"{spec.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    with spinner("loading the optimizers"):
        from stateauditor.experiments.compile.compiler import compile_prompts
    with CompileDisplay() as display:
        done = compile_prompts(spec, folder, resume=resume, watch=display)
    trouble = None
    if spec.tracking:
        with spinner("tracking in MLflow"):
            from stateauditor.experiments.compile.logged import track_compile

            trouble = track_compile(done.folder, done.result, done.board)
    if as_json:
        whole = {"folder": str(folder), "tracking_problem": trouble}
        write_json(whole | done.result.model_dump(mode="json"))
    else:
        _show(done)
    if trouble is not None:
        note(f"not tracked in MLflow: {trouble}")
    _end(done.result, folder)


class CompileDisplay:
    """How far a compile is, on stderr: one changing line on a terminal, stages elsewhere."""

    def __init__(self) -> None:
        self._console = stderr()
        self._status = self._console.status("starting") if self._console.is_terminal else None
        self._stage = ""

    def __enter__(self) -> CompileDisplay:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, state: CompileProgress) -> None:
        """Show where the compile is."""
        if self._status is not None:
            self._status.update(printable(describe(state)))
        elif state.stage != self._stage:
            show(self._console, printable(describe(state)))
        self._stage = state.stage


def describe(state: CompileProgress) -> str:
    """Stage, audits, candidates, best score and cost in one line."""
    parts = [state.stage, f"{state.audits:,} audits", f"{state.failed} failed"]
    parts.append(f"{state.candidates} candidates")
    if state.best is not None:
        parts.append(f"best {state.best:.3f}")
    parts.append("cost unknown" if state.paid is None else f"${state.paid:,.4f}")
    return " · ".join(parts)


def _show(done: Compiled) -> None:
    result = done.result
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("prompts", "score", "95% interval", "scenarios", "failed"):
        table.add_column(heading)
    for name, measured in (("built-in", result.before), ("compiled", result.after)):
        table.add_row(name, *_row(measured))
    if result.difference is not None:
        table.add_row("difference", *_numbers(result.difference, sign="+"), "", "")
    console = stdout()
    show_table(console, table)
    show(console, result.label, style="dim")
    changed = ", ".join(result.changed) or "nothing: the prompts are the built-in ones"
    show(console, f"changed: {changed}")
    paid = "unknown" if result.paid_cost is None else f"${result.paid_cost:,.4f}"
    show(console, f"candidates: {result.candidates} · audits: {result.audits} · paid: {paid}")
    show(console, f"folder: {done.folder.path}")


def _row(measured: Measured | None) -> tuple[str, str, str, str]:
    if measured is None:
        return ("not measured", "", "", "")
    score, interval = _numbers(measured.score)
    return (score, interval, str(measured.scenarios), f"{measured.failed} of {measured.probes}")


def _numbers(interval: Interval, *, sign: str = "") -> tuple[str, str]:
    if interval.estimate is None or interval.low is None or interval.high is None:
        return ("–", "")
    low, high = f"{interval.low:{sign}.3f}", f"{interval.high:{sign}.3f}"
    return (f"{interval.estimate:{sign}.3f}", f"{low} to {high}")


def _end(result: CompileResult, folder: Path) -> None:
    if result.failed_audits:
        note(
            f"{result.failed_audits} audit(s) failed and count apart; "
            f"the first: {result.first_failure}"
        )
    if result.difference is not None and (result.difference.estimate or 0) < 0:
        note("the compiled prompts score lower on the validation part than the built-in ones")
    if result.stopped is None:
        return
    kept = "the best so far is kept" if result.changed else "nothing better had been found"
    note(f"stopped early ({result.stopped}); {kept}")
    command = ["stateauditor", "compile", str(folder / "config.yaml"), "--out", str(folder)]
    show(stderr(), f"go on with: {shlex.join([*command, '--resume'])}")
    raise typer.Exit(INTERRUPTED if result.stopped == "interrupted" else STOPPED_EARLY)
