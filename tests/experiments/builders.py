"""Run folders with synthetic records: several judges, hostile text, failures, controls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from stateauditor.experiments.results.summary import Summary, summarise
from stateauditor.experiments.runs.folder import RunFolder, new_manifest
from stateauditor.experiments.runs.records import (
    DIMENSIONS,
    ItemRecord,
    JudgedProbe,
    Judgment,
    ProbeRecord,
)
from stateauditor.experiments.runs.spec import RunSpec
from stateauditor.metrics import KeyFindings, PairRecall
from stateauditor.signatures.models import (
    AuditResult,
    CallRecord,
    CheckStatus,
    Directive,
    DirectiveKind,
    EntryRole,
    Failure,
    Origin,
    Policy,
    Premise,
    QuoteMatch,
    Reason,
    RenderedEntry,
    RetrievalStep,
    TimelineItem,
    Timestamp,
    TransitionCheck,
    Variant,
    Verdict,
)

HOSTILE = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1> & \u2028 “ok”"
EMOJI = "🏠🇩🇪 moved 👩‍👩‍👧 to مدينة דירה 東京"

Kind = Literal["T1", "T2"]


def stamp(day: int) -> Timestamp:
    return Timestamp.model_validate(f"2024-03-{day:02}T09:30Z")


def readout(extra: str = "", lines: int = 14) -> tuple[RenderedEntry, ...]:
    """Dated lines; E03 holds the old statement and E11 the new one."""
    texts = [f"Small talk about the garden, number {n}." for n in range(1, lines + 1)]
    texts[2] = f"Well, I still live in Denver, third floor. {extra}".strip()
    texts[10] = f"{EMOJI} My flat in Milwaukee has a garage now. {extra}".strip()
    return tuple(
        RenderedEntry(
            id=f"E{n:02}",
            entry_id=f"s{n:02}.0",
            timestamp=None if n == lines else stamp(n + 1),
            text=text,
            role=EntryRole.USER,
            session=f"s{n:02}",
            turn=0,
            step=RetrievalStep.CHANGE_SCAN if n == 11 else RetrievalStep.QUESTION,
        )
        for n, text in enumerate(texts, start=1)
    )


def match(entries: Sequence[RenderedEntry], entry_id: str, quote: str) -> QuoteMatch:
    """A quotation where it stands in the entry."""
    entry = next(e for e in entries if e.id == entry_id)
    start = entry.text.index(quote)
    return QuoteMatch(
        entry_id=entry_id,
        timestamp=entry.timestamp,
        quote=quote,
        coverage=1.0,
        start=start,
        end=start + len(quote),
    )


def checks(entries: Sequence[RenderedEntry]) -> tuple[TransitionCheck, ...]:
    """One verified transition, one rejected, whose marks overlap the first's."""
    shared: dict[str, Any] = {"attribute": "home", "old_value": "Denver", "new_value": "Milwaukee"}
    return (
        TransitionCheck(
            id="T01",
            status=CheckStatus.VERIFIED,
            causal_path=("a flat in Milwaukee", "one home at a time", "no longer Denver"),
            old=match(entries, "E03", "I still live in Denver"),
            new=match(entries, "E11", "My flat in Milwaukee has a garage"),
            **shared,
        ),
        TransitionCheck(
            id="T02",
            status=CheckStatus.REJECTED,
            reasons=(Reason.NOT_NEWER, Reason.SHORT_PATH),
            causal_path=("only one",),
            old=match(entries, "E11", "flat in Milwaukee has a garage now"),
            new=match(entries, "E03", "Denver, third floor"),
            **shared,
        ),
        TransitionCheck(
            id="T03",
            status=CheckStatus.REJECTED,
            reasons=(Reason.UNGROUNDED_OLD,),
            attribute="car",
            old_value="van",
            new_value="bike",
            old=QuoteMatch(quote="my red van"),
            new=match(entries, "E11", "garage"),
        ),
    )


def call(role: str, *, model: str = "test/auditor", cached: bool = False) -> CallRecord:
    return CallRecord(
        role=role,
        model=model,
        input_tokens=900,
        output_tokens=120,
        cost=0.002,
        seconds=1.25,
        cached=cached,
    )


def audited(draft: str, *, repaired: bool, broken: bool = False, extra: str = "") -> AuditResult:
    entries = readout(extra)
    found = checks(entries) if repaired else checks(entries)[1:]
    reply = draft.replace("Denver", "Milwaukee") + " I noted your move." if repaired else draft
    kinds = (DirectiveKind.REPAIR, DirectiveKind.CORRECT_AND_INFORM)
    return AuditResult(
        response=reply,
        draft=draft,
        changed=repaired,
        backend="test",
        policy=Policy.REPAIR_ONLY,
        variant=Variant.STRICT_VTA,
        directives=tuple(
            Directive(
                kind=kind,
                attribute="home",
                old_value="Denver",
                current_value="Milwaukee",
                authority="transition:T01",
            )
            for kind in kinds
        )
        if repaired
        else (),
        premises=(
            Premise(
                text=f"The user lives in Denver. {extra}".strip(),
                verdict=Verdict.STALE if repaired else Verdict.VALID,
                current_value="Milwaukee" if repaired else None,
                material=True,
                origin=Origin.DRAFT,
                attribute="home",
                old_value="Denver",
                evidence=("E03", "E11"),
            ),
        ),
        timeline=(
            TimelineItem(
                attribute="home",
                previous_value="Denver",
                current_value="Milwaukee",
                status="changed",
                evidence=("E03", "E11"),
            ),
        ),
        transitions=found,
        readout=entries,
        calls=(call("premise_extraction"), call("transition_proposal", cached=True)),
        failed_open=(Failure(role="draft_consistency", reason="timed out"),) if broken else (),
    )


def probe(dimension: str, *, repaired: bool, control: bool, uid: str, **more: Any) -> ProbeRecord:
    draft = f"You live in Denver, so here is a plan for {dimension}.\n\nTake the stairs."
    result = audited(draft, repaired=repaired, **more)
    return ProbeRecord(
        question=f"Question {dimension} of {uid}?",
        draft=draft,
        result=result,
        response=result.response,
        key=KeyFindings(
            uid=uid,
            control=control,
            stale_premise=repaired,
            true_transition=repaired and not control,
            true_repair=repaired and not control,
            false_invalidation=repaired and control,
            off_target=0,
            repairs=int(repaired),
            verifies=0,
            rewritten=repaired,
        ),
        recall=PairRecall(found_old=True, found_new=dimension != "IPA"),
        tokens=500,
    )


def scenario(
    uid: str,
    kind: Kind,
    repaired: Iterable[str] = (),
    *,
    control: bool = False,
    judges: Sequence[str] = (),
    passed: Iterable[str] | None = None,
    broken: bool = False,
    extra: str = "",
) -> ItemRecord:
    """One scenario; ``repaired`` names dimensions, which pass unless ``passed`` says else.

    Each further judge disagrees with the first on SR.
    """
    done = set(repaired)
    right = done if passed is None else set(passed)
    return ItemRecord(
        uid=uid,
        type=kind,
        control=control,
        probes={
            d: probe(d, repaired=d in done, control=control, uid=uid, broken=broken, extra=extra)
            for d in DIMENSIONS
        },
        judgments={}
        if control
        else {
            judge: Judgment(
                probes={
                    d: JudgedProbe(
                        passed=(d in right) != (number > 0 and d == "SR"),
                        grounded=(d in right) and d != "PR" and not (number > 0 and d == "SR"),
                        reason=f"{judge} on {d}. {extra}".strip(),
                    )
                    for d in DIMENSIONS
                }
            )
            for number, judge in enumerate(judges)
        },
        calls=()
        if control
        else tuple(call("stale_judgment", model=f"test/{judge}") for judge in judges),
    )


def records(judges: Sequence[str] = ("first",), *, extra: str = HOSTILE) -> list[ItemRecord]:
    """Nine scenarios: six conflicts of both types, one failed whole, two controls."""
    return [
        scenario("u01", "T1", ("SR", "PR", "IPA"), judges=judges, extra=extra),
        scenario("u02", "T1", ("SR",), judges=judges),
        scenario("u03", "T1", (), judges=judges, broken=True),
        scenario("u04", "T2", ("PR", "IPA"), judges=judges),
        scenario("u05", "T2", ("IPA",), judges=judges),
        scenario("u06", "T2", (), judges=judges).model_copy(
            update={
                "probes": {
                    "SR": ProbeRecord(question="No draft?", error="no draft"),
                    **{
                        d: probe(d, repaired=False, control=False, uid="u06") for d in ("PR", "IPA")
                    },
                },
                "judgments": {judge: Judgment(error="no reply for SR") for judge in judges},
                "calls": (),
            }
        ),
        ItemRecord(uid="u07", type="T2", error=f"InputError: broken history {extra}"),
        scenario("u08", "T1", ("IPA",), control=True),
        scenario("u09", "T1", (), control=True),
    ]


def spec(name: str = "trial", **more: Any) -> RunSpec:
    settings: dict[str, Any] = {
        "name": name,
        "data": {"path": "slice", "part": "both"},
        "arm": "strict_vta",
        "backend": "test",
        "draws": 200,
        **more,
    }
    return RunSpec.model_validate(settings)


def folder(
    path: Path, items: Iterable[ItemRecord], *, sha256: str = "0" * 64, **settings: Any
) -> RunFolder:
    """A run's folder with the given records."""
    made = RunFolder(path)
    made.begin(
        spec(**settings),
        new_manifest(
            data_name="slice",
            data_sha256=sha256,
            frozen_sha256=None,
            scenarios=0,
            backend="test",
        ),
        resume=False,
    )
    for item in items:
        made.append(item)
    return made


def summary(of: RunFolder) -> Summary:
    manifest = of.manifest()
    return summarise(of.spec(), of.items(), data=manifest.data_name, backend=manifest.backend)
