"""One answer a Signature, from its typed inputs (DESIGN.md section 6, ``offline``).

Each function returns the output fields of one Signature, ``reasoning``
included. All of them read the same rules, so that the passes of one audit agree:
what the proposal quotes is what adjudication calls STALE.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stateauditor.program.offline.changes import Change, Findings, find_changes, gather
from stateauditor.program.offline.dependency import (
    Reply,
    asks_whether_still,
    bearing,
    reliance,
)
from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.premises import (
    PremiseFound,
    adjudicate,
    premises_of,
    presuppositions_of,
)
from stateauditor.program.offline.rewriting import Order, recall_reply, rewrite
from stateauditor.program.offline.statements import Statement, statements
from stateauditor.program.offline.words import Sentence, content_words, sentences
from stateauditor.signatures.adapter import DirectiveInstruction
from stateauditor.signatures.gate import GatedTransition, GateRuling
from stateauditor.signatures.lean import LeanPremise
from stateauditor.signatures.models import (
    ChangeStatus,
    Origin,
    Readout,
    RenderedEntry,
    Timestamp,
    Validity,
    Verdict,
)
from stateauditor.signatures.premises import (
    AdjudicatedPremise,
    ExtractedPremise,
    NumberedPremise,
)
from stateauditor.signatures.proposer import ProposedTransition, QuestionDraftPair
from stateauditor.signatures.skeptic import (
    Challenge,
    ChallengedPremise,
)
from stateauditor.signatures.timeline import (
    ConsistencyFinding,
    NumberedChange,
    TimelineEntry,
)

Answer = dict[str, Any]

_EMPTY = Sentence("", " ")
_BY_RULES = "By offline lexical rules: "
_MOST_TRANSITIONS = 3
_MOST_TIMELINE = 20


def by_rules(text: str) -> str:
    """A reasoning that says where it comes from."""
    return f"{_BY_RULES}{text}"


def _context(replies: Sequence[Reply]) -> frozenset[str]:
    return frozenset().union(*(r.question_words | r.draft_words for r in replies))


# --- Dependency ----------------------------------------------------------------


def _extracted(found: Sequence[PremiseFound]) -> list[ExtractedPremise]:
    return [ExtractedPremise(text=p.text, stated=p.stated) for p in found]


def extract_premises(question: str, draft: str) -> Answer:
    """Answer ``PremiseExtraction``."""
    found = [] if Reply(question, draft).about_past else premises_of(sentences(draft), 12)
    return {"reasoning": by_rules("words that name a state."), "premises": _extracted(found)}


def extract_presuppositions(question: str) -> Answer:
    """Answer ``PresuppositionExtraction``."""
    asked = sentences(question)
    found = presuppositions_of(asked, still=asks_whether_still(asked))
    return {"reasoning": by_rules("words that name a state."), "premises": _extracted(found)}


def adjudicate_premises(
    readout: Readout, question: str, draft: str, premises: Sequence[NumberedPremise]
) -> Answer:
    """Answer ``PremiseAdjudication``."""
    reply = Reply(question, draft)
    found = gather(statements(readout))
    changes = find_changes(found, _context([reply]))
    strong = [c for _, c in bearing(reply, changes)]
    weak = [c for _, c in bearing(reply, changes, weak=True)]
    verdicts = []
    for premise in premises:
        ruling = adjudicate(premise.text, reply, found, strong, weak)
        verdicts.append(
            AdjudicatedPremise(
                number=premise.number,
                evidence=list(ruling.evidence),
                attribute=ruling.attribute,
                verdict=ruling.verdict,
                current_value=ruling.current_value,
                material=ruling.material,
            )
        )
    return {"reasoning": by_rules(_told(strong)), "verdicts": verdicts}


def _told(changes: Sequence[Change]) -> str:
    told = "; ".join(f"{c.old_value} -> {c.new_value} ({c.new.line.id})" for c in changes)
    return told or "no line supersedes what the reply rests on."


# --- Temporal ------------------------------------------------------------------


def _timeline(found: Findings, changes: Sequence[Change]) -> list[TimelineEntry]:
    entries = [
        TimelineEntry(
            attribute=c.attribute,
            evidence=[c.old.line.id, c.new.line.id],
            previous_value=c.old_value,
            current_value=None if c.weak else c.new_value,
            status=ChangeStatus.UNCERTAIN if c.weak else ChangeStatus.CHANGED,
        )
        for c in sorted(changes, key=lambda c: c.weak)
    ]
    moved = {c.attribute for c in changes}
    for frame, mentions in found.values.items():
        attribute = lexicon().frames[frame].attribute
        standing = [m for m in mentions if m.statement.line.validity is Validity.OPEN]
        if attribute not in moved and standing:
            last = standing[-1]
            entries.append(
                TimelineEntry(
                    attribute=attribute,
                    evidence=[last.statement.line.id],
                    current_value=last.value,
                    status=ChangeStatus.UNCHANGED,
                )
            )
    return entries[:_MOST_TIMELINE]


def build_timeline(readout: Readout) -> Answer:
    """Answer ``TimelineConstruction``."""
    found = gather(statements(readout))
    changes = find_changes(found)
    return {"reasoning": by_rules(_told(changes)), "timeline": _timeline(found, changes)}


def check_consistency(question: str, draft: str, changes: Sequence[NumberedChange]) -> Answer:
    """Answer ``DraftConsistency``: it sees no readout, so values are read back by their words."""
    reply = Reply(question, draft)
    findings = []
    for change in changes:
        relies = bool(change.current_value) and reliance(reply, recalled(change)) > 0
        findings.append(
            ConsistencyFinding(
                number=change.number,
                dependency=f"the draft names: {change.previous_value}" if relies else "",
                verdict=Verdict.STALE if relies else Verdict.VALID,
                material=relies,
            )
        )
    return {
        "reasoning": by_rules("the draft's words against each old value."),
        "findings": findings,
    }


def recalled(change: NumberedChange, told_by: Statement | None = None) -> Change:
    """A change as the rules know it, from its values in words."""
    old, new = change.previous_value or "", change.current_value or ""
    facet = next((n for n, f in lexicon().facets.items() if f.label == old), None)
    effect = next(
        (
            n
            for n, e in lexicon().effects.items()
            if e.value == new and (facet is None or facet in e.ends)
        ),
        None,
    )
    nowhere = Statement(RenderedEntry(id="-", entry_id="-", timestamp=None, text=""), 0, _EMPTY)
    return Change(
        attribute=change.attribute,
        old_value=old,
        new_value=new,
        old=nowhere,
        new=told_by or nowhere,
        path=(),
        facet=facet,
        effect=effect,
        old_words=content_words(old),
        new_words=frozenset() if effect else content_words(new),
    )


# --- Proposer --------------------------------------------------------------------


def _proposed(change: Change, applies_to: Sequence[str]) -> ProposedTransition:
    return ProposedTransition(
        attribute=change.attribute,
        old_quote=change.old.sentence.text,
        new_quote=change.new.sentence.text,
        causal_path=list(change.path),
        old_value=change.old_value,
        new_value=change.new_value,
        applies_to=list(applies_to),
        material=True,
    )


def _transitions(
    changes: Sequence[Change], pairs: Sequence[tuple[str, Reply]]
) -> list[ProposedTransition]:
    """The changes that bear on at least one pair, those that bear most first."""
    scored = []
    for change in changes:
        scores = {pair: reliance(reply, change) for pair, reply in pairs}
        applies = [pair for pair, score in scores.items() if score > 0]
        if applies and not change.weak:
            scored.append((sum(scores.values()), change, applies))
    scored.sort(key=lambda item: (-item[0], -item[1].new.order, item[1].old_value))
    return [_proposed(change, applies) for _, change, applies in scored[:_MOST_TRANSITIONS]]


def _replies(pairs: Sequence[QuestionDraftPair]) -> list[tuple[str, Reply]]:
    return [(p.id, Reply(p.question, p.draft)) for p in pairs]


def propose_transitions(readout: Readout, pairs: Sequence[QuestionDraftPair]) -> Answer:
    """Answer ``TransitionProposal``."""
    replies = _replies(pairs)
    changes = find_changes(gather(statements(readout)), _context([r for _, r in replies]))
    return {
        "reasoning": by_rules("changes whose old value the drafts name."),
        "transitions": _transitions(changes, replies),
    }


# --- Lean ------------------------------------------------------------------------


def audit_lean(readout: Readout, pairs: Sequence[QuestionDraftPair]) -> Answer:
    """Answer ``LeanAudit``: the three passes over one reading of the readout."""
    replies = _replies(pairs)
    found = gather(statements(readout))
    changes = find_changes(found, _context([r for _, r in replies]))
    premises: dict[str, LeanPremise] = {}
    for _, reply in replies:
        strong = [c for _, c in bearing(reply, changes)]
        weak = [c for _, c in bearing(reply, changes, weak=True)]
        taken = [] if reply.about_past else premises_of(reply.said, 10)
        asked = presuppositions_of(reply.asked, still=asks_whether_still(reply.asked))
        origins = ((Origin.DRAFT, taken), (Origin.QUESTION, asked))
        for origin, premise in ((o, p) for o, found_here in origins for p in found_here):
            ruling = adjudicate(premise.text, reply, found, strong, weak)
            premises.setdefault(
                premise.text,
                LeanPremise(
                    text=premise.text,
                    origin=origin,
                    evidence=list(ruling.evidence),
                    attribute=ruling.attribute,
                    verdict=ruling.verdict,
                    current_value=ruling.current_value,
                    material=ruling.material,
                ),
            )
    return {
        "reasoning": by_rules(_told(changes)),
        "premises": list(premises.values())[:10],
        "timeline": _timeline(found, changes)[:10],
        "transitions": _transitions(changes, replies),
    }


def review_evidence(readout: Readout, question: str, draft: str) -> Answer:
    """Answer ``EvidenceReview``: the same premises, with no transitions."""
    lean = audit_lean(readout, [QuestionDraftPair(id="P1", question=question, draft=draft)])
    return {"reasoning": lean["reasoning"], "premises": lean["premises"]}


# --- Generator -------------------------------------------------------------------


def generate_response(readout: Readout, question: str) -> Answer:
    """Answer ``ResponseGeneration``: the statement that shares most with the question, quoted."""
    asked = content_words(question)
    standing = [line for line in readout.entries if line.validity is Validity.OPEN]
    shared = [(len(asked & content_words(line.text)), line) for line in standing]
    best = max((count for count, _ in shared), default=0)
    line = next((line for count, line in reversed(shared) if count == best), None)
    return {
        "reasoning": by_rules("the latest statement that shares most words with the question."),
        "response": recall_reply(None if best == 0 else line),
    }


# --- Adapter ---------------------------------------------------------------------


def adapt_response(question: str, draft: str, directives: Sequence[DirectiveInstruction]) -> Answer:
    """Answer ``ResponseAdaptation``."""
    orders = [
        Order(d.kind, d.attribute, d.old_value, d.current_value, tuple(d.evidence))
        for d in directives
    ]
    return {
        "reasoning": by_rules("sentences that name an old value go; one dated note comes."),
        "response": rewrite(question, draft, orders),
    }


# --- second looks ----------------------------------------------------------------


def challenge_findings(
    readout: Readout, question: str, findings: Sequence[ChallengedPremise]
) -> Answer:
    """Answer ``SkepticChallenge``: only findings that a rule can reproduce are upheld."""
    reply = Reply(question, "")
    found = gather(statements(readout))
    changes = find_changes(found, _context([reply]))
    strong = [c for c in changes if not c.weak]
    weak = [c for c in changes if c.weak]
    challenges = []
    for finding in findings:
        ruling = adjudicate(finding.text, reply, found, strong, weak)
        upheld = not reply.about_past and ruling.verdict is finding.verdict
        objection = "" if upheld else f"no lexical rule leads to {finding.verdict.value}"
        challenges.append(Challenge(number=finding.number, objection=objection, upheld=upheld))
    return {"reasoning": by_rules("findings against the rules."), "challenges": challenges}


def gate_transitions(question: str, transitions: Sequence[GatedTransition]) -> Answer:
    """Answer ``SemanticGate``: the two statements alone must make a change by some rule."""
    past = Reply(question, "").about_past
    rulings = []
    for transition in transitions:
        supersedes = not past and _supersedes(transition)
        obstacle = "" if supersedes else "no lexical rule leads from one to the other"
        rulings.append(
            GateRuling(
                number=transition.number,
                obstacle="the question asks for the past" if past else obstacle,
                supersedes=supersedes,
            )
        )
    return {"reasoning": by_rules("each pair of statements alone."), "rulings": rulings}


def _supersedes(transition: GatedTransition) -> bool:
    lines = (transition.old_statement, transition.new_statement)
    entries = tuple(
        RenderedEntry(id=f"E{n:02}", entry_id=str(n), timestamp=_day(n), text=text)
        for n, text in enumerate(lines, 1)
    )
    changes = find_changes(gather(statements(Readout(entries=entries))))
    return any(not c.weak and c.old.order == 0 for c in changes)


def _day(number: int) -> Timestamp:
    """Any two days in this order: the validator has already compared the real ones."""
    return Timestamp.model_validate(f"2000-01-{number:02}")
