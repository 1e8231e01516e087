"""Is a sentence a present statement of the user's own state?

The kinds of non-change of DESIGN.md section 4 are obstacles: each is looked up
around a finding (a stated value, an event), because a hedge in one clause does
not touch another. ``statements.yaml`` holds the cues; this module knows clauses,
subjects and scopes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from stateauditor.program.memory.timestamps import is_later
from stateauditor.program.offline.lexicon import Scope, lexicon
from stateauditor.program.offline.patterns import Match
from stateauditor.program.offline.words import Sentence, sentences
from stateauditor.signatures.models import EntryRole, Readout, RenderedEntry, Validity

_FIRST_PERSON_WORDS = """
i we me us my our mine ours myself user
"""
_FIRST_PERSON = frozenset(_FIRST_PERSON_WORDS.split())
_FIRST_SUBJECT = re.compile(r" (?:i|we|me|us|my|our|user|'s i) ", re.IGNORECASE)
# A clause ends at punctuation and before the conjunctions that start a new one.
_BOUNDARY = re.compile(
    r" (?:[,;:()—–]|but|so|because|since|although|though|while|whereas|which|who|"
    r"and(?= (?:i|we|he|she|they|my|our|the|now|then) )|now that|given that)(?= )",
    re.IGNORECASE,
)
# A question that starts with an auxiliary asks about all of itself.
_AUXILIARIES = """
do does did am is are was were should can could would will have has had may shall
"""
_ASKS_ALL = frozenset(_AUXILIARIES.split())
_SUBORDINATE = re.compile(
    r"(?:^| )(?:now that|since|because|given that|after|with) ", re.IGNORECASE
)


@dataclass(frozen=True)
class Statement:
    """A sentence of a readout line, with the line that it stands in."""

    line: RenderedEntry
    order: int
    sentence: Sentence

    @cached_property
    def first_person(self) -> bool:
        """Whether the sentence speaks of the user at all; stored facts always do."""
        return self.line.role is EntryRole.FACT or bool(_FIRST_PERSON & self.sentence.words)

    @cached_property
    def _cues(self) -> tuple[tuple[str, Scope, Match], ...]:
        known = lexicon()
        return tuple(
            (label, known.scopes[label], match)
            for label, match in known.obstacles.find(self.sentence)
        )

    @cached_property
    def _boundaries(self) -> tuple[int, ...]:
        return tuple(m.start() + 1 for m in _BOUNDARY.finditer(self.sentence.norm))

    def clause(self, position: int) -> tuple[int, int]:
        """Start and end, in the normal form, of the clause that holds a position."""
        start = max((b for b in self._boundaries if b <= position), default=0)
        end = min((b for b in self._boundaries if b > position), default=len(self.sentence.norm))
        return start, end

    def obstacle(self, found: Match, ignore: frozenset[str] = frozenset()) -> str | None:
        """The kind of non-change that disarms a finding, or None if it stands."""
        if not self._about_user(found):
            return "other_person"
        clause = self.clause(found.start)
        for kind, scope, cue in self._cues:
            if kind in ignore or _belongs_to(cue, found):
                continue
            if kind == "other_person" and (
                cue.start >= found.end or self._user_between(cue.end, found)
            ):
                continue
            in_clause = clause[0] <= cue.start < max(clause[1], found.end)
            if scope == "sentence" or in_clause or (scope == "before" and cue.start < found.end):
                return kind
        if self._quoted(found):
            return "recap"
        return "question" if self._asked(found, clause) else None

    def _about_user(self, found: Match) -> bool:
        start, end = self.clause(found.start)
        here = set(self.sentence.norm[start : max(end, found.end)].casefold().split())
        if self.line.role is not EntryRole.FACT and found.start > 1 and not here & _FIRST_PERSON:
            return False
        own = found.literals
        norm = self.sentence.norm
        for word in re.finditer(r"\S+", norm[start : found.end].casefold()):
            if word.group() in lexicon().relations and word.group() not in own:
                position = start + word.end()
                if position > found.start or not self._user_between(position, found):
                    return False
        return True

    def _user_between(self, position: int, found: Match) -> bool:
        """Whether an "I" or "my" stands between a position and the end of the finding."""
        return bool(_FIRST_SUBJECT.search(self.sentence.norm[max(position - 1, 0) : found.end + 1]))

    def _quoted(self, found: Match) -> bool:
        return len(re.findall(r'["“”]', self.sentence.norm[: found.start])) % 2 == 1

    def _asked(self, found: Match, clause: tuple[int, int]) -> bool:
        """A question states nothing, save in its possessives and side clauses."""
        if not self.sentence.norm.rstrip().endswith("?"):
            return False
        if found.phrase.casefold().startswith(("my ", "our ")):
            return False
        first = self.sentence.norm.split(maxsplit=1)[0].casefold()
        if _SUBORDINATE.search(self.sentence.norm[max(clause[0] - 1, 0) : found.start]):
            return False
        return first in _ASKS_ALL or clause[1] == len(self.sentence.norm)


def _belongs_to(cue: Match, found: Match) -> bool:
    """Whether a cue is part of the finding's own pattern ("going vegan", "my ex")."""
    inside = cue.start >= found.start and cue.end <= found.end
    return inside and set(cue.phrase.casefold().split()) <= found.literals


def statements(readout: Readout) -> list[Statement]:
    """The sentences of the readout that may be evidence, oldest first, each once.

    Windows overlap, so a sentence may stand in several lines; the first line that
    holds it stands for all. What the assistant said is never evidence, and a store's
    closing repeats the fact that it ends.
    """
    seen: set[tuple[str, str]] = set()
    found = []
    for order, line in enumerate(readout.entries):
        if line.role is EntryRole.ASSISTANT or line.validity is Validity.CLOSING:
            continue
        for sentence in sentences(line.text):
            key = (line.entry_id, sentence.text)
            if key not in seen:
                seen.add(key)
                found.append(Statement(line, order, sentence))
    return found


def newer(new: Statement, old: Statement) -> bool:
    """Whether one statement is later than another; inside one session the turn decides.

    What its store has closed is not newer than anything: it no longer holds.
    """
    if new.line.validity is not Validity.OPEN:
        return False
    if is_later(new.line.timestamp, old.line.timestamp):
        return True
    same = new.line.timestamp is not None and new.line.timestamp == old.line.timestamp
    if not same or new.line.session is None or new.line.session != old.line.session:
        return False
    return new.line.turn is not None and old.line.turn is not None and new.line.turn > old.line.turn
