"""Answers to the baselines' Signatures, by the same lexical rules.

They find what the auditor's rules find, no more: offline a baseline differs from the
auditor in what it is shown and in what it may do with it, not in what it understands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from stateauditor.experiments.baselines.signatures.cove import (
    AnsweredQuestion,
    VerificationQuestion,
)
from stateauditor.experiments.baselines.signatures.cupmem_summary import StateRecord
from stateauditor.experiments.baselines.signatures.persona_alignment import PersonaFact
from stateauditor.experiments.baselines.signatures.rarr_store import (
    Agreement,
    AgreementRuling,
    ResearchQuery,
)
from stateauditor.experiments.baselines.signatures.self_critique import Fault
from stateauditor.program.offline import answers
from stateauditor.program.offline.answers import Answer
from stateauditor.program.offline.changes import Change, find_changes, gather
from stateauditor.program.offline.dependency import Reply, bearing, reliance
from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.rewriting import Order, rewrite
from stateauditor.program.offline.statements import Statement, statements
from stateauditor.program.offline.words import content_words
from stateauditor.signatures.models import (
    ChangeStatus,
    DirectiveKind,
    Readout,
    RenderedEntry,
    Timestamp,
)
from stateauditor.signatures.timeline import NumberedChange, TimelineEntry

_MOST = 6
# What ``recall_reply`` writes; an answer in other words is no dated statement.
_RECALLED = re.compile(r"On (\d{4}-\d{2}-\d{2})[^:]*? you said: “(.*?)”", re.DOTALL)


def _bearing(readout: Readout, question: str, draft: str) -> list[Change]:
    """The changes in some lines that the draft rests on."""
    reply = Reply(question, draft)
    context = reply.question_words | reply.draft_words
    return [
        change for _, change in bearing(reply, find_changes(gather(statements(readout)), context))
    ]


def _repaired(question: str, draft: str, changes: Iterable[Change]) -> str:
    """The draft with what rests on some changes taken out; itself where there are none."""
    orders = [_order(change) for change in changes]
    return rewrite(question, draft, orders) if orders else draft


def _order(change: Change) -> Order:
    said = [_dated(s) for s in (change.old, change.new) if s.sentence.text]
    return Order(
        DirectiveKind.REPAIR, change.attribute, change.old_value, change.new_value, tuple(said)
    )


def _dated(statement: Statement) -> str:
    return f'{statement.line.timestamp or "unknown time"}: "{statement.sentence.text}"'


def _said(reasoning: str, **fields: object) -> Answer:
    return {"reasoning": answers.by_rules(reasoning), **fields}


# --- self-critique -------------------------------------------------------------------


def criticise(readout: Readout, question: str, draft: str) -> Answer:
    """Answer ``SelfCritique``."""
    faults = [
        Fault(passage=c.old_value, problem=c.new_value, evidence=[c.old.line.id, c.new.line.id])
        for c in _bearing(readout, question, draft)
    ]
    return _said("old values that the draft names.", faults=faults[:_MOST])


def revise(readout: Readout, question: str, draft: str, faults: Sequence[Fault]) -> Answer:
    """Answer ``CritiqueRevision``: only what the critique names is taken out."""
    named = {fault.passage for fault in faults}
    changes = [c for c in _bearing(readout, question, draft) if c.old_value in named]
    return _said("what the critique names.", response=_repaired(question, draft, changes))


# --- chain of verification -------------------------------------------------------------


def _premises(question: str, draft: str) -> list[str]:
    found = answers.extract_premises(question, draft)["premises"]
    return [premise.text for premise in found][:_MOST]


def plan_verification(question: str, draft: str) -> Answer:
    """Answer ``VerificationPlanning``: one question a premise of the draft."""
    checks = [
        VerificationQuestion(text=f"Is it still so? {text}") for text in _premises(question, draft)
    ]
    return _said("one question a premise.", checks=checks)


def answer_verification(readout: Readout, check: str) -> Answer:
    """Answer ``VerificationAnswering``: the latest statement that shares most words, quoted."""
    found = answers.generate_response(readout, check)
    return _said("the latest statement that shares most words.", answer=found["response"])


def revise_verified(question: str, draft: str, answers: Sequence[AnsweredQuestion]) -> Answer:
    """Answer ``VerifiedRevision``: the quoted statements, read like a short readout."""
    said = sorted({found for a in answers for found in _RECALLED.findall(a.answer)})
    entries = tuple(
        RenderedEntry(
            id=f"E{number:02}",
            entry_id=str(number),
            timestamp=Timestamp.model_validate(date),
            text=text,
        )
        for number, (date, text) in enumerate(said, start=1)
    )
    changes = _bearing(Readout(entries=entries), question, draft)
    return _said("changes among the answers.", response=_repaired(question, draft, changes))


# --- research and revise ---------------------------------------------------------------


def generate_queries(question: str, draft: str) -> Answer:
    """Answer ``QueryGeneration``: one query a premise of the draft."""
    queries = [ResearchQuery(text=text) for text in _premises(question, draft)]
    return _said("one query a premise.", queries=queries)


def gate_agreement(readout: Readout, query: str, question: str, draft: str) -> Answer:
    """Answer ``AgreementGate``."""
    changes = _bearing(readout, question, draft)
    words = content_words(query)
    related = any(words & content_words(line.text) for line in readout.entries)
    silent = Agreement.AGREES if related else Agreement.IRRELEVANT
    ruling = AgreementRuling(
        by_draft=changes[0].old_value if changes else query,
        by_evidence=changes[0].new_value if changes else "",
        agreement=Agreement.DISAGREES if changes else silent,
    )
    return _said("changes among what was found.", ruling=ruling)


def edit_by_evidence(readout: Readout, query: str, question: str, draft: str) -> Answer:
    """Answer ``EvidenceEditing``."""
    changes = _bearing(readout, question, draft)
    return _said("changes among what was found.", response=_repaired(question, draft, changes))


# --- summary and timeline ----------------------------------------------------------------


def summarise_state(readout: Readout) -> Answer:
    """Answer ``StateSummary``."""
    timeline: list[TimelineEntry] = answers.build_timeline(readout)["timeline"]
    states = [
        StateRecord(
            attribute=entry.attribute,
            evidence=entry.evidence,
            superseded=[entry.previous_value] if entry.previous_value else [],
            current_value=entry.current_value,
        )
        for entry in timeline
        if entry.status is not ChangeStatus.UNCERTAIN
    ]
    return _said("the timeline's values.", states=states)


def generate_from_summary(readout: Readout, states: Sequence[StateRecord], question: str) -> Answer:
    """Answer ``SummaryGeneration``: as without a summary, but no superseded line is recalled."""
    over = {state.evidence[0] for state in states if state.superseded and state.evidence}
    kept = tuple(line for line in readout.entries if line.id not in over)
    return answers.generate_response(readout.model_copy(update={"entries": kept}), question)


def regenerate_from_timeline(
    readout: Readout, timeline: Sequence[TimelineEntry], question: str, draft: str
) -> Answer:
    """Answer ``TimelineRegeneration``."""
    moved = {
        (entry.previous_value, entry.current_value)
        for entry in timeline
        if entry.status is ChangeStatus.CHANGED
    }
    changes = [c for c in _bearing(readout, question, draft) if (c.old_value, c.new_value) in moved]
    return _said("the timeline's changes.", response=_repaired(question, draft, changes))


# --- persona -------------------------------------------------------------------------------


def select_persona(readout: Readout, question: str, draft: str) -> Answer:
    """Answer ``PersonaSelection``: lines that still hold and share words with the reply."""
    found = statements(readout)
    over = {(c.old.order, c.old.sentence.text) for c in find_changes(gather(found))}
    reply = Reply(question, draft)
    words = reply.question_words | reply.draft_words
    kept = [
        (len(words & s.sentence.content), s)
        for s in found
        if s.first_person and (s.order, s.sentence.text) not in over
    ]
    kept.sort(key=lambda pair: (-pair[0], -pair[1].order))
    persona = [
        PersonaFact(text=s.sentence.text, evidence=[s.line.id]) for shared, s in kept if shared
    ]
    return _said("lines that share words with the reply.", persona=persona[:_MOST])


def align_with_persona(question: str, draft: str, persona: Sequence[PersonaFact]) -> Answer:
    """Answer ``PersonaAlignment``: an event among the facts ends what the draft relies on."""
    lines = tuple(
        RenderedEntry(id=f"E{n:02}", entry_id=str(n), timestamp=None, text=fact.text)
        for n, fact in enumerate(persona, start=1)
    )
    reply = Reply(question, draft)
    changes = []
    for name, mentions in gather(statements(Readout(entries=lines))).events.items():
        effect = lexicon().effects[name]
        for facet in effect.ends:
            change = answers.recalled(
                NumberedChange(
                    number=1,
                    attribute=effect.attribute,
                    previous_value=lexicon().facets[facet].label,
                    current_value=effect.value,
                ),
                told_by=mentions[-1].statement,
            )
            if reliance(reply, change) > 0:
                changes.append(change)
    return _said("events among the facts.", response=_repaired(question, draft, changes))
