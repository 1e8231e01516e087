"""``stateauditor data``: fetch, verify, list and freeze benchmark data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

app = typer.Typer(name="data", help="Benchmark data: fetch, verify, list, freeze.")

# The commands import their parts when they run: the help must not wait for them.


@app.command("list")
def list_command() -> None:
    """Show every data set: where it is, its size, pin, licence and citation."""
    from stateauditor.data.registry import data_home, expected_path, list_datasets

    console = Console()
    for dataset in list_datasets():
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        if dataset.pin is None:
            table.add_row("where", "ships with the package")
        else:
            path = expected_path(dataset)
            missing = f"not fetched: stateauditor data fetch {dataset.name}"
            table.add_row("where", escape(str(path)) if path.is_file() else missing)
            table.add_row("source", f"{dataset.pin.repo}, {dataset.pin.filename}")
            table.add_row("revision", dataset.pin.revision)
            table.add_row("size", f"{dataset.pin.size:,} bytes")
            table.add_row("SHA-256", dataset.pin.sha256)
        table.add_row("records", str(dataset.records))
        table.add_row("licence", dataset.licence)
        table.add_row("cite", dataset.citation)
        if dataset.note:
            table.add_row("note", dataset.note)
        console.print(f"[bold]{dataset.name}[/bold]: {dataset.title}")
        console.print(table)
    console.print(
        f"Fetched data: {escape(str(data_home()))} (STATEAUDITOR_DATA names another folder)"
    )


@app.command("fetch")
def fetch_command(
    name: Annotated[str, typer.Argument(help="The data set, for example: stale")],
) -> None:
    """Download a data set's pinned revision and check its size and SHA-256."""
    from stateauditor.data.fetch import fetch

    path = fetch(name, console=Console(stderr=True))
    typer.echo(f"{path}: size and SHA-256 are the pinned ones")


@app.command("verify")
def verify_command(
    file: Annotated[Path, typer.Argument(help="A file in Stale's layout: JSON, gzip or parquet")],
) -> None:
    """Say what a file is, check every record, and exit with 1 if it is not intact."""
    from stateauditor.data.verify import verify_file

    report = verify_file(file)
    types = ", ".join(f"{count} {name}" for name, count in report.types.items())
    typer.echo(f"file      {report.path}")
    typer.echo(f"data set  {report.identity}")
    typer.echo(f"size      {report.size:,} bytes")
    typer.echo(f"SHA-256   {report.sha256}")
    typer.echo(f"records   {report.records:,} good ones{f' ({types})' if types else ''}")
    typer.echo(f"broken    {report.broken or 'none'}")
    if not report.intact:
        raise typer.Exit(1)


@app.command("freeze")
def freeze_command(
    source: Annotated[str, typer.Argument(help="A fetched data set, a bundled slice or a file")],
    out: Annotated[Path, typer.Option(help="Where to write the list, for example stale_dev.json")],
    count: Annotated[int, typer.Option("-n", "--count", help="How many ids, at most 50")] = 50,
) -> None:
    """Draw a development slice (seed 42, stratified by type) and write its list of ids."""
    from stateauditor.data.freezing import freeze
    from stateauditor.signatures.errors import InputError

    frozen = freeze(source, out.stem, count)
    try:
        # Never over an existing list: it may be the one that runs refer to.
        with out.open("x", encoding="utf-8") as file:
            file.write(frozen.to_json())
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error
    typer.echo(f"{out}: {len(frozen.ids)} ids of {frozen.dataset}, checksum {frozen.sha256}")
