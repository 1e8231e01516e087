"""``stateauditor annotate``: blind human labels on the answers of finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import note, printable, progress, show, stdout, write_json

EXPORT_EXAMPLES = options.examples(
    "stateauditor annotate export runs/strict_vta --out blind",
    "stateauditor annotate export runs/strict_vta runs/predecessor --with-draft --out blind",
    "stateauditor annotate export runs/strict_vta --cells 30 --annotators anna,ben --out blind",
)
IMPORT_EXAMPLES = options.examples(
    "stateauditor annotate import blind labels_annotator1.csv labels_annotator2.csv",
    "stateauditor annotate import blind anna=back/sheet.csv ben=back/labels.csv --json",
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Blind human labels: write sheets, read them back.",
)


@app.command("export", epilog=EXPORT_EXAMPLES)
def export(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Folders of runs on the same data."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the package goes.")],
    cells: Annotated[
        int,
        typer.Option("--cells", metavar="N", min=1, help="How many cells (scenario and probe)."),
    ] = 100,
    annotators: Annotated[
        str,
        typer.Option(
            "--annotators", metavar="N|NAME,...", help="How many annotators, or their names."
        ),
    ] = "2",
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Decides which cells are chosen.")
    ] = 42,
    with_draft: Annotated[
        bool,
        typer.Option(
            "--with-draft",
            help="With several runs: label their drafts too, which must be the same in all.",
        ),
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a package in DIR that nobody has labelled yet."),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Write blind sheets on which people label answers.

    One run: its drafts are compared with its replies. Several: the replies of each.
    N cells are drawn level over types and dimensions, from those in which every
    system has a text; controls are left out. Each annotator labels the same answers
    pass, fail or unsure, in an order of their own: on a CSV sheet or on a form for
    the browser, with no scenario id, system or verdict. Answers that are the same,
    byte for byte, are labelled once.

    The package is frozen: manifest.json has the SHA-256 of every file, and 'annotate
    import' refuses whatever has changed. key.json says whose answer is whose.
    """
    from stateauditor.experiments.annotation.export import export_package
    from stateauditor.experiments.annotation.package import KEY, MANIFEST, annotator_names
    from stateauditor.experiments.annotation.verify import sha256
    from stateauditor.experiments.runs.folder import RunFolder

    names = annotator_names(annotators)
    with progress("writing the sheets"):
        found = export_package(
            [RunFolder(run) for run in runs],
            out,
            cells=cells,
            annotators=names,
            seed=seed,
            with_draft=with_draft,
            force=force,
        )
    if as_json:
        write_json(found.model_dump(mode="json"))
    else:
        console = stdout()
        systems = printable(", ".join(system.name for system in found.systems))
        show(console, f"{out}: {found.cells} cells of {found.scenarios} scenarios; {systems}")
        same = found.answers - found.items
        show(
            console,
            f"{found.items} answers to label on each sheet"
            + (f" ({same} more are the same as one of them)" if same else ""),
        )
        for name in names:
            show(console, f"  {name}: sheet_{name}.html or sheet_{name}.csv")
        digest = sha256((out / MANIFEST).read_bytes())
        show(console, f"SHA-256 of {MANIFEST}, to be noted down now: {digest}")
    if found.cells < cells:
        note(f"only {found.cells} cells have a text of every system; {cells} were asked for")
    note(
        f"give each annotator their own sheet and nothing else: {KEY} unblinds, and must not "
        "reach them before all labels are in"
    )


@app.command("import", epilog=IMPORT_EXAMPLES)
def import_(
    package: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that 'annotate export' wrote.")
    ],
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Filled CSV sheets, or what the forms downloaded; NAME=FILE checks whose it is.",
        ),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Read labels back, unblind them, and test the systems.

    First every file of the package must be what was frozen, and every sheet what
    was handed out but for label and comment. Then, for each annotator: passes with
    intervals, discordant cells with McNemar's exact test, and the sign test on
    scenarios; between annotators, and with the runs' LM judges: agreement and kappa.
    Unsure and missing labels are counted apart. Sheets may be partly filled, and
    the command repeated as more come in. Writes annotation.json (with each label
    and comment) and annotation.md.
    """
    from stateauditor.experiments.annotation.unblind import import_labels

    with progress("computing"):
        done = import_labels(package, files)
    if as_json:
        write_json(done.results.model_dump(mode="json"))
        return
    console = stdout()
    show(console, printable(done.text))
    show(console, f"written: {done.json_path}, {done.text_path}")
