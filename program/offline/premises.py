"""What a draft and a question take for granted, and what the readout says of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stateauditor.program.offline.changes import Change, Findings
from stateauditor.program.offline.dependency import Reply, asks_for_past
from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.mentions import facet_hits, is_name
from stateauditor.program.offline.words import Sentence, content_words
from stateauditor.signatures.models import Validity, Verdict

# A draft speaks to the user ("you live") or about the user ("they live"); the frames
# speak in the first person.
_TO_FIRST = (
    (re.compile(r" (?:you|the user|they) ", re.IGNORECASE), " i "),
    (re.compile(r" (?:your|their|the user 's) ", re.IGNORECASE), " my "),
)


@dataclass(frozen=True)
class PremiseFound:
    """A premise in words; ``stated`` where the text says it, not merely relies on it."""

    text: str
    stated: bool


@dataclass(frozen=True)
class Ruling:
    """The verdict on one premise, with the readout lines that decide it."""

    verdict: Verdict
    attribute: str = ""
    current_value: str | None = None
    evidence: tuple[str, ...] = ()
    material: bool = False


def _first_person(sentence: Sentence) -> Sentence:
    norm = sentence.norm
    for pattern, word in _TO_FIRST:
        norm = pattern.sub(word, norm)
    return Sentence(sentence.text, norm)


def _stated_values(text: Iterable[Sentence]) -> list[str]:
    premises = []
    for sentence in map(_first_person, text):
        for label, match in lexicon().frame_patterns.find(sentence):
            frame = lexicon().frames[label.partition(":")[0]]
            if match.value and (not match.value[0].isupper() or is_name(match.value)):
                premises.append(frame.noun.format(value=match.value))
    return premises


def _relied_on(text: Iterable[Sentence]) -> list[str]:
    hits = sorted(facet_hits(text).items(), key=lambda item: (-item[1].weight, item[0]))
    return [lexicon().facets[facet].premise for facet, found in hits if found.named]


def premises_of(text: Sequence[Sentence], limit: int) -> list[PremiseFound]:
    """The premises of a text: values that it states, then facets that it relies on."""
    stated = [PremiseFound(p, True) for p in _stated_values(text)]
    relied = [PremiseFound(p, False) for p in _relied_on(text)]
    unique = {p.text: p for p in reversed(stated + relied)}
    return list(reversed(unique.values()))[:limit]


def presuppositions_of(question: Sequence[Sentence], *, still: bool) -> list[PremiseFound]:
    """What a question presupposes; one about the past presupposes nothing of the present."""
    if asks_for_past(question):
        return []
    return [PremiseFound(p.text, p.stated and not still) for p in premises_of(question, 6)]


def _speaks_of(premise: str, change: Change) -> bool:
    if change.facet is not None:
        facet = lexicon().facets[change.facet]
        return premise == facet.premise or content_words(facet.label) <= content_words(premise)
    return bool(change.old_words) and change.old_words <= content_words(premise)


def adjudicate(
    premise: str, reply: Reply, found: Findings, bearing: Sequence[Change], weak: Sequence[Change]
) -> Ruling:
    """Judge one premise against the readout.

    STALE only for a change that bears on the reply, UNKNOWN and material only for a
    weak one (a single act against the old state: ask, do not assert). Otherwise a line
    that shares the premise's words makes it VALID, and silence leaves it UNKNOWN and
    immaterial, which fires nothing.
    """
    for change in bearing:
        if _speaks_of(premise, change):
            lines = (change.old.line.id, change.new.line.id)
            return Ruling(Verdict.STALE, change.attribute, change.new_value, lines, material=True)
    for change in weak:
        if _speaks_of(premise, change):
            lines = (change.old.line.id, change.new.line.id)
            return Ruling(Verdict.UNKNOWN, change.attribute, None, lines, material=True)
    words = content_words(premise)
    shared = [
        s.line
        for s in reversed(found.all)
        if s.first_person and words and len(words & s.sentence.content) * 2 >= len(words)
    ]
    standing = next((line.id for line in shared if line.validity is Validity.OPEN), None)
    if standing is None and shared:  # its store has closed it, and nothing else says it
        ended = shared[0].id
        return Ruling(Verdict.UNKNOWN, _attribute_told(ended, found), None, (ended,), material=True)
    line = standing or _facet_line(premise, found)
    if line is None:
        return Ruling(Verdict.UNKNOWN)
    return Ruling(Verdict.VALID, evidence=(line,))


def _attribute_told(line: str, found: Findings) -> str:
    """The attribute whose value a line states, if any."""
    for frame, mentions in found.values.items():
        if any(mention.statement.line.id == line for mention in mentions):
            return lexicon().frames[frame].attribute
    return ""


def _facet_line(premise: str, found: Findings) -> str | None:
    """The last line that states the facet whose premise this is."""
    for name, facet in lexicon().facets.items():
        if facet.premise == premise and found.facets.get(name):
            return found.facets[name][-1][0].line.id
    return None
