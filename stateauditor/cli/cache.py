"""``stateauditor cache``: recorded LM responses, looked at, deleted, packed and unpacked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from stateauditor.cli import options
from stateauditor.cli.console import printable, show, show_table, stdout, write_json
from stateauditor.program.backends import cache_folders
from stateauditor.program.backends.cache_folders import Existing
from stateauditor.program.backends.store import default_folder

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look after recorded LM responses; they may quote memories.",
)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        show_default=False,
        help="A cache folder, or RUN/responses of a run (default: the user's cache folder).",
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[BACKEND]...", show_default=False, help="Backends; default: all."),
]


@app.command(epilog=options.examples("stateauditor cache info", "stateauditor cache info --json"))
def info(folder: Folder = None, as_json: options.AsJson = False) -> None:
    """Say what is recorded: backends, records, size.

    An unparsable record is a reply that could not be read; it is asked for again.
    """
    place = folder or default_folder()
    found = cache_folders.summarise(place)
    if as_json:
        listed = [
            {
                "name": cache.name,
                "records": cache.records,
                "bytes": cache.size,
                "unparsable": cache.unparsable,
                "models": list(cache.models),
            }
            for cache in found
        ]
        write_json({"folder": str(place), "backends": listed})
        return
    console = stdout()
    if not found:
        show(console, f"{place}: no recorded responses")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("backend")
    for heading in ("records", "size", "unparsable"):
        table.add_column(heading, justify="right")
    table.add_column("models", overflow="fold")
    for cache in found:
        counts = (f"{cache.records:,}", _size(cache.size), f"{cache.unparsable:,}")
        table.add_row(cache.name, *counts, printable("\n".join(cache.models)))
    show_table(console, table)
    show(console)
    show(console, f"folder: {place}")


@app.command(epilog=options.examples("stateauditor cache clear openai --yes"))
def clear(
    names: Names = None,
    folder: Folder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete recorded responses, of all backends or of those named. Asks first."""
    place = folder or default_folder()
    caches = [c for c in cache_folders.summarise(place) if not names or c.name in names]
    records = sum(cache.records for cache in caches)
    if records and not yes:
        whose = ", ".join(cache.name for cache in caches)
        typer.confirm(f"Delete {records:,} record(s) of {whose} in {place}?", abort=True, err=True)
    deleted = cache_folders.clear(place, names or ())
    show(stdout(), f"{place}: {deleted:,} record(s) deleted")


@app.command(epilog=options.examples("stateauditor cache export replies.zip openai"))
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The file to write.")],
    names: Names = None,
    folder: Folder = None,
) -> None:
    """Pack recorded responses into one file that replays anywhere.

    The same records give the same file, byte for byte.
    """
    count = cache_folders.pack(folder or default_folder(), file, names or ())
    show(stdout(), f"{file}: {count:,} record(s), {_size(file.stat().st_size)}")


@app.command("import", epilog=options.examples("stateauditor cache import replies.zip"))
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.zip", help="A file that `cache export` wrote.")
    ],
    folder: Folder = None,
    existing: Annotated[
        Existing,
        typer.Option(help="What to do where a record is there with another answer."),
    ] = Existing.REFUSE,
) -> None:
    """Add the responses of an exported file. Everything is checked before anything is written."""
    place = folder or default_folder()
    done = cache_folders.unpack(file, place, existing)
    said = f"{place}: {done.added:,} record(s) added, {done.same:,} were there"
    if done.differing:
        verb = "replaced" if existing is Existing.REPLACE else "kept"
        said += f", {done.differing:,} with another answer {verb}"
    show(stdout(), said)


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("KB", "MB"):
        size /= 1000
        if size < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} GB"
