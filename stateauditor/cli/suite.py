"""``stateauditor suite``: suites with deterministic keys, and injection at the gate."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stateauditor.cli import options
from stateauditor.cli.console import printable, progress, show, stderr, stdout, write_json
from stateauditor.signatures.models import Policy, Variant

if TYPE_CHECKING:
    from stateauditor.experiments.suites.runner import FinishedSuite
    from stateauditor.experiments.suites.spec import SuiteSpec
    from stateauditor.experiments.suites.summary import SuiteSummary

STOPPED_EARLY = 1
"""Exit status when a run ended before its last item, or a case came out wrong."""

app = typer.Typer(
    name="suite",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Suites with deterministic keys: safety, hard lifecycle, and injection at the gate.",
    epilog=options.examples(
        "stateauditor suite list",
        "stateauditor suite injection",
        "stateauditor suite safety",
        "stateauditor suite lifecycle_hard --backend openai --limit 12",
    ),
)

BackendName = Annotated[
    str,
    typer.Option(
        "--backend",
        metavar="NAME|FILE.yaml|scripted:NAME",
        help="Who answers: offline rules, a backend, or a scripted LM that knows the keys "
        "(scripted:right, scripted:gullible, scripted:anxious, scripted:silent).",
    ),
]
VariantName = Annotated[Variant, typer.Option("--variant", help="Which passes run.")]
Policies = Annotated[
    list[Policy] | None,
    typer.Option(
        "--policy", metavar="POLICY", help="observe, repair_only or full; may be given often."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="One more setting of the audit, e.g. semantic_gate=true or labels=nli; the value is "
        "YAML. May be given often.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Only N items, from the groups in turn."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="The run's folder (default: runs/suite-NAME-DATE-TIME)."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")]
Concurrency = Annotated[
    int, typer.Option("--concurrency", metavar="N", min=1, max=256, help="Items at a time.")
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="USD", help="Stop before this is passed.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The suite's seed.")]


@app.command(
    "safety",
    epilog=options.examples(
        "stateauditor suite safety",
        "stateauditor suite safety --backend scripted:gullible --policy repair_only",
        "stateauditor suite safety --backend openai --limit 35 --max-cost 2",
    ),
)
def safety(
    backend: BackendName = "offline",
    variant: VariantName = Variant.STRICT_VTA,
    policy: Policies = None,
    settings: Settings = None,
    compiled: options.Compiled = None,
    limit: Limit = None,
    out: Out = None,
    resume: Resume = False,
    concurrency: Concurrency = 8,
    max_cost: MaxCost = None,
    seed: Seed = 42,
    as_json: options.AsJson = False,
) -> None:
    """How often a change is found, and how often one is seen where there is none.

    350 items in seven regimes: true changes, and six kinds of what only looks like one.
    Each item runs under every policy; a later policy pays for no call of an earlier one.

    Exit status: 0 every item has a record, 1 the run stopped early, 2 wrong input.
    """
    _run(
        "safety",
        tuple(policy or Policy),
        {
            "backend": backend,
            "variant": variant,
            "audit": _audit(settings),
            "compiled": compiled,
            "limit": limit,
            "concurrency": concurrency,
            "max_cost": max_cost,
            "seed": seed,
        },
        out,
        resume=resume,
        as_json=as_json,
    )


@app.command(
    "lifecycle_hard",
    epilog=options.examples(
        "stateauditor suite lifecycle_hard",
        "stateauditor suite lifecycle_hard --backend scripted:right",
        "stateauditor suite lifecycle_hard --backend openai --set semantic_gate=true",
        "stateauditor suite lifecycle_hard --backend my.yaml --out runs/hard --resume",
    ),
)
def lifecycle_hard(
    backend: BackendName = "offline",
    variant: VariantName = Variant.STRICT_VTA,
    policy: Policies = None,
    settings: Settings = None,
    compiled: options.Compiled = None,
    limit: Limit = None,
    out: Out = None,
    resume: Resume = False,
    concurrency: Concurrency = 8,
    max_cost: MaxCost = None,
    seed: Seed = 42,
    as_json: options.AsJson = False,
) -> None:
    """Whether one change is told from another beside it: a frozen set of hard scenarios.

    120 scenarios in six stress categories, each with a probe that is due and a trap; a
    scenario is solved where both are. The content is checked against its frozen record
    first. The policy is repair_only unless others are given.

    Exit status: 0 every item has a record, 1 the run stopped early, 2 wrong input.
    """
    _run(
        "lifecycle_hard",
        tuple(policy or (Policy.REPAIR_ONLY,)),
        {
            "backend": backend,
            "variant": variant,
            "audit": _audit(settings),
            "compiled": compiled,
            "limit": limit,
            "concurrency": concurrency,
            "max_cost": max_cost,
            "seed": seed,
        },
        out,
        resume=resume,
        as_json=as_json,
    )


@app.command(
    "injection",
    epilog=options.examples(
        "stateauditor suite injection",
        "stateauditor suite injection --out runs/injection",
        "stateauditor suite injection --json | jq .violations",
    ),
)
def injection(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Also write cases.jsonl, summary.json and table.md here."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """What the gate proves: every rule broken in every known way, and every harmless variant.

    Violations must be rejected for the right reason and valid candidates accepted. The
    last block is the limit: candidates that keep every rule although nothing has
    changed are accepted, since provenance and chronology are verified, not meaning.
    No LM and no network.

    Exit status: 0 every case came out as it must, 1 one did not, 2 wrong input.
    """
    from stateauditor.experiments.reports.extra import require_extra
    from stateauditor.experiments.suites.injection import inject, injection_table

    require_extra()
    with progress("deriving and checking candidates"):
        summary = inject(out)
    if as_json:
        write_json({**summary.model_dump(mode="json"), "passed": summary.passed})
    else:
        show(stdout(), printable(injection_table(summary)))
    if not summary.passed:
        raise typer.Exit(STOPPED_EARLY)


@app.command("list")
def list_command() -> None:
    """Show every suite: what is in it, what it shows, and the digest of its content."""
    from collections import Counter

    from stateauditor.data.suites.registry import SUITES, load_suite

    for name, info in SUITES.items():
        suite = load_suite(name)
        groups = Counter(str(item.group) for item in suite.items)
        show(stdout(), f"{name}: {info.title}")
        show(stdout(), f"  shows    {info.shows}")
        show(stdout(), f"  items    {len(suite.items)}, seed {suite.seed}")
        show(stdout(), f"  groups   {', '.join(f'{group} {n}' for group, n in groups.items())}")
        state = "frozen, and checked" if suite.frozen_sha256 is not None else "not frozen"
        show(stdout(), f"  content  SHA-256 {suite.sha256} ({state})")
    show(stdout(), "injection: Violations and harmless variants derived from the suites above")
    show(stdout(), "  shows    what the gate proves, and that this is not meaning")


def _run(
    name: str,
    policies: tuple[Policy, ...],
    settings: dict[str, object],
    out: Path | None,
    *,
    resume: bool,
    as_json: bool,
) -> None:
    from stateauditor.cli.run_progress import RunDisplay, tell_end
    from stateauditor.experiments.reports.extra import require_extra
    from stateauditor.experiments.suites.runner import run_suite
    from stateauditor.experiments.suites.spec import SuiteSpec
    from stateauditor.experiments.suites.summary import write_summary
    from stateauditor.signatures.edge import validated

    require_extra()
    spec = validated(
        SuiteSpec, {"suite": name, "policies": policies, **settings}, source=f"suite {name}"
    )
    folder = options.new_folder(f"suite-{name}", out, resume=resume)
    try:
        with RunDisplay() as display:
            finished = run_suite(spec, folder, resume=resume, watch=display)
    except KeyboardInterrupt:
        show(stderr(), f"broken off; go on with: {_again(spec, folder)}")
        raise
    summary, table = write_summary(finished.folder)
    if as_json:
        write_json(_as_json(finished, summary))
    else:
        show(stdout(), printable(table))
        show(stdout(), f"folder: {finished.folder.path}")
    tell_end(finished.progress)
    if not finished.complete:
        show(stderr(), f"go on with: {_again(spec, folder)}")
        raise typer.Exit(STOPPED_EARLY)


def _audit(settings: list[str] | None) -> dict[str, object]:
    """The audit's further settings, parsed."""
    from stateauditor.experiments.runs.config_files import override_setting

    found: dict[str, object] = {}
    for setting in settings or []:
        override_setting(found, setting)
    return found


def _assigned(name: str, value: object) -> str:
    """One setting as ``--set`` takes it; JSON is YAML."""
    return f"{name}={json.dumps(value)}"


def _as_json(finished: FinishedSuite, summary: SuiteSummary) -> dict[str, object]:
    state = finished.progress
    return {
        "folder": str(finished.folder.path),
        "complete": finished.complete,
        "stopped": state.stopped,
        "done": state.done,
        "total": state.total,
        "failed": state.failed,
        "failures": state.failures,
        "summary": summary.model_dump(mode="json"),
    }


def _again(spec: SuiteSpec, folder: Path) -> str:
    """The command that goes on, with every setting that shapes an answer."""
    command = ["stateauditor", "suite", spec.suite, "--out", str(folder)]
    command += ["--backend", spec.backend, "--variant", spec.variant.value]
    command += [part for policy in spec.policies for part in ("--policy", policy.value)]
    command += [part for item in spec.audit.items() for part in ("--set", _assigned(*item))]
    if spec.compiled is not None:
        command += ["--compiled", str(spec.compiled)]
    command += ["--seed", str(spec.seed)]
    if spec.limit is not None:
        command += ["--limit", str(spec.limit)]
    return shlex.join([*command, "--resume"])
