"""``stateauditor estimate``: calls, tokens and money of a run, before any is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, progress, show, show_table, stdout, write_json

if TYPE_CHECKING:
    from stateauditor.experiments.runs.estimate import Estimate, Line

EXAMPLES = options.examples(
    "stateauditor estimate strict_vta",
    "stateauditor estimate my.yaml --set backend=openai --sample 20",
)


def estimate(
    config: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG.yaml", help="A run's config: a file, or the name of one that ships."
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
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            min=1,
            help="Look at N scenarios, evenly spaced, and scale up (default: all).",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say how many calls, tokens and US dollars a run will take. Nothing is sent.

    Goes through the run's own scenarios with its real readouts and prompts, as if
    every audit found something and went all the way: an upper bound on the calls,
    second tries after faults aside. Tokens are estimated (a token is about four
    characters). Needs no key.
    """
    from stateauditor.experiments.runs.estimate import estimate as reckon
    from stateauditor.experiments.runs.spec import load_spec

    spec = load_spec(config, tuple(settings or ()))
    with progress(f"reading {spec.name}"):
        found = reckon(spec, sample=sample)
    if as_json:
        write_json({"name": spec.name, "backend": spec.backend, **_json(found)})
        return
    _show(found)


def _json(found: Estimate) -> dict[str, Any]:
    from stateauditor.experiments.runs.estimate import total

    return {
        "upper_bound": True,
        "scenarios": found.scenarios,
        "looked_at": found.looked_at,
        "failed": found.failed,
        "calls": round(sum(line.calls for line in found.lines)),
        "input_tokens": round(sum(line.input_tokens for line in found.lines)),
        "output_tokens": round(sum(line.output_tokens for line in found.lines)),
        "cost": total([line.cost for line in found.lines]),
        "highest_cost": total([line.highest_cost for line in found.lines]),
        "roles": [
            {
                "role": line.role,
                "backend": line.backend,
                "model": line.config.model,
                "calls": round(line.calls),
                "input_tokens": round(line.input_tokens),
                "output_tokens": round(line.output_tokens),
                "cost": line.cost,
                "highest_cost": line.highest_cost,
            }
            for line in found.lines
        ],
    }


def _show(found: Estimate) -> None:
    from stateauditor.experiments.runs.estimate import total

    console = stdout()
    if not found.lines:
        show(console, f"{found.scenarios} scenario(s), no LM call: nothing is spent.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("role", "model"):
        table.add_column(heading, overflow="fold")
    for heading in ("calls", "tokens in", "tokens out", "cost", "at most"):
        table.add_column(heading, justify="right")
    for line in found.lines:
        table.add_row(line.role, printable(line.config.model), *_numbers([line]))
    table.add_row("total", "", *_numbers(found.lines), style="bold")
    show_table(console, table)
    show(console)
    scaled = "" if found.looked_at == found.scenarios else f", from {found.looked_at} of them"
    show(console, f"An estimate for {found.scenarios} scenario(s){scaled}, and an upper bound:")
    show(console, "every audit goes all the way; second tries after faults are not in it.")
    show(console, "cost: with replies of usual length. at most: if each reply reaches max_tokens.")
    if total([line.cost for line in found.lines]) is None:
        note("a price is unknown; give the LM a price in its backend file")
    if found.failed:
        note(f"{found.failed} scenario(s) could not be gone through to the end")


def _numbers(lines: list[Line]) -> tuple[str, ...]:
    from stateauditor.experiments.runs.estimate import total

    return (
        f"{sum(line.calls for line in lines):,.0f}",
        f"{sum(line.input_tokens for line in lines):,.0f}",
        f"{sum(line.output_tokens for line in lines):,.0f}",
        _money(total([line.cost for line in lines])),
        _money(total([line.highest_cost for line in lines])),
    )


def _money(dollars: float | None) -> str:
    return "unknown" if dollars is None else f"${dollars:,.2f}"
