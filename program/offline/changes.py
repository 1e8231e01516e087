"""Changes of the user's state that the lines of a readout say outright.

Two kinds of rule, each over an older and a newer statement: something that the
older one names is said to be over, or an attribute that holds one value at a
time gets a newer one. What is named again later, as the user's own, has come
back: then nothing is found. A change found here is a suggestion of lexical
rules; provenance and order are checked again by the validator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.mentions import (
    EndingMention,
    ValueMention,
    arrival,
    ending_mentions,
    proper_words,
    value_mentions,
)
from stateauditor.program.offline.statements import Statement, newer
from stateauditor.program.offline.words import content_words

_NEWS = frozenset({"now", "instead", "nowadays"})


@dataclass(frozen=True)
class Change:
    """An older statement that a newer one supersedes.

    ``old_words`` are the words by which a text names the old value.
    """

    attribute: str
    old_value: str
    new_value: str
    old: Statement
    new: Statement
    old_words: frozenset[str] = frozenset()
    new_words: frozenset[str] = frozenset()

    @property
    def path(self) -> tuple[str, ...]:
        """The steps from the newer statement to the end of the older one."""
        return (f"{self.attribute}: {self.new_value}", f"no longer: {self.old_value}")


@dataclass
class Findings:
    """What the statements of a readout say, gathered in one pass.

    ``over`` holds the words of what a statement says is over.
    """

    values: dict[str, list[ValueMention]] = field(default_factory=dict)
    endings: list[EndingMention] = field(default_factory=list)
    over: dict[Statement, frozenset[str]] = field(default_factory=dict)
    all: Sequence[Statement] = ()


def gather(statements: Sequence[Statement]) -> Findings:
    """Read every statement once; text that tries to steer a program is passed over."""
    own = [s for s in statements if not lexicon().instruction_like.matches(s.sentence)]
    found = Findings(all=own)
    for statement in own:
        for value in value_mentions(statement):
            found.values.setdefault(value.attribute, []).append(value)
        ended = list(ending_mentions(statement))
        found.endings += ended
        if ended:
            found.over[statement] = content_words(" ".join(e.old for e in ended))
    return found


def find_changes(found: Findings, context: frozenset[str] = frozenset()) -> list[Change]:
    """All changes that the rules see, one for each old value, each to what holds last.

    ``context`` holds the content words of the questions and drafts: among several older
    statements the one that shares most of them makes the better evidence.
    """
    changes = [c for e in found.endings if (c := _ended(found, e, context)) is not None]
    changes += [c for values in found.values.values() for c in _replaced(found, values)]
    one_each: dict[frozenset[str], Change] = {}
    for change in changes:
        known = one_each.get(change.old_words)
        if known is None or _better(change, known):
            one_each[change.old_words] = change
    return [_followed(change, list(one_each.values())) for change in one_each.values()]


def _better(change: Change, known: Change) -> bool:
    """Whether a change tells more than another one of the same value: a successor, then news."""
    if bool(change.new_words) != bool(known.new_words):
        return bool(change.new_words)
    return newer(change.new, known.new)


def _followed(change: Change, changes: Sequence[Change]) -> Change:
    """A change with the value that holds at the end of its chain."""
    seen = {change.old_words}
    while change.new_words and change.new_words not in seen:
        seen.add(change.new_words)
        onward = (c for c in changes if c.old_words == change.new_words)
        step = next((c for c in onward if newer(c.new, change.old)), None)
        if step is None:
            break
        change = replace(change, new_value=step.new_value, new=step.new, new_words=step.new_words)
    return change


# --- what is said to be over ---------------------------------------------------


def _ended(found: Findings, ending: EndingMention, context: frozenset[str]) -> Change | None:
    words = content_words(ending.old)
    names = proper_words(ending.old)
    earlier = [s for s in found.all if newer(ending.statement, s) and _claims(found, s)]
    whole = [s for s in earlier if words <= s.sentence.content]
    # "The trusty old Yamaha motorbike" may have been a "Yamaha" before.
    named = [s for s in earlier if names and names <= s.sentence.content]
    if not whole and not named:
        return None
    old_words = names or words
    if _returned(found, ending.statement, old_words):
        return None
    old = max(whole or named, key=lambda s: (len(s.sentence.content & context), s.order))
    new, told = _successor(found, ending, old)
    return Change(
        attribute=ending.attribute,
        old_value=ending.old,
        new_value=new or f"no longer {ending.old}",
        old=old,
        new=told,
        old_words=old_words,
        new_words=content_words(new or ""),
    )


def _claims(found: Findings, statement: Statement) -> bool:
    """Whether a statement may be the user's own word on what was so."""
    return not statement.sentence.norm.rstrip().endswith("?") and statement not in found.over


def _returned(found: Findings, ending: Statement, words: frozenset[str]) -> bool:
    """Whether a later statement of the user names the thing, and not as being over.

    Whatever it says, the thing is not simply over, so that silence is safer.
    """
    return any(
        words <= s.sentence.content
        and newer(s, ending)
        and not words <= found.over.get(s, frozenset())
        for s in found.all
    )


def _successor(
    found: Findings, ending: EndingMention, old: Statement
) -> tuple[str | None, Statement]:
    """What has come instead: in the same breath, in the next sentence, or in a later entry.

    A later entry must say that it is news, and share a word with what was said first.
    """
    told = ending.statement
    if ending.match.new:
        return ending.match.new, told
    over = content_words(ending.old)
    here = arrival(told.sentence, ending.match.end)
    if here is not None and not content_words(here) & over:
        return here, told
    place = found.all.index(told)
    for statement in found.all[place + 1 :]:
        new = arrival(statement.sentence)
        if new is None or not content_words(new) - over or over <= content_words(new):
            continue
        if statement.line.entry_id == told.line.entry_id:
            if statement is found.all[place + 1]:
                return new, statement
        elif (
            _NEWS & statement.sentence.words
            and statement.sentence.content & old.sentence.content
            and newer(statement, told)
        ):
            return new, statement
    return None, told


# --- another value of the same attribute ----------------------------------------


def _replaced(found: Findings, mentions: Sequence[ValueMention]) -> list[Change]:
    """The earlier values of one attribute against the last one that replaces any."""
    current = next((m for m in reversed(mentions) if any(_replaces(m, o) for o in mentions)), None)
    if current is None:
        return []
    return [
        Change(
            attribute=old.attribute,
            old_value=old.value,
            new_value=current.value,
            old=old.statement,
            new=current.statement,
            old_words=old.words,
            new_words=current.words,
        )
        for old in mentions
        if _replaces(current, old) and not _returned(found, current.statement, old.words)
    ]


def _replaces(new: ValueMention, old: ValueMention) -> bool:
    if not newer(new.statement, old.statement) or not _incompatible(new.words, old.words):
        return False
    return new.fresh or (new.restated and old.restated)


def _incompatible(new: frozenset[str], old: frozenset[str]) -> bool:
    """Two values exclude each other unless they share words or one is a region."""
    if new & old:
        # Shared units do not make figures equal ("500 mbps", "1000 mbps").
        figures = [{w for w in words if w[0].isdigit()} for words in (new, old)]
        return all(figures) and figures[0] != figures[1]
    regions = lexicon().regions
    return bool(new & regions) == bool(old & regions)
