"""Quotations that no entry of the user's holds, made from a sound base (rule 1).

Whatever is altered, dropped, added or disguised here must be noticed, however little of
the quotation it is; see ``wordings`` for what is left out because it need not be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from stateauditor.data.suites import wordings
from stateauditor.data.suites.cases import Base, Side
from stateauditor.signatures.models import EntryRole, Reason, RenderedEntry, TransitionCandidate

T = TypeVar("T")

_CROSS = frozenset({Reason.CROSS_ENTRY})


@dataclass(frozen=True, slots=True)
class Broken:
    """A candidate over entries with the reasons that it must be rejected for."""

    candidate: TransitionCandidate
    entries: tuple[RenderedEntry, ...]
    reasons: frozenset[Reason]
    may_add: frozenset[Reason] = frozenset()


Construction = Callable[[Base], Broken | None]


def pick(options: Sequence[T], base: Base, offset: int = 0) -> T:
    """One of the options: the next one for the next base."""
    return options[(base.number + offset) % len(options)]


# --- one construction each ---------------------------------------------------------------


def _quoted(
    base: Base, side: Side, quote: str | None, *, may_add: frozenset[Reason] = frozenset()
) -> Broken | None:
    """A quotation that stands nowhere in this wording."""
    if quote is None or quote == base.quote(side):
        return None
    reasons = frozenset({side.ungrounded})
    return Broken(base.requoted(side, quote), base.entries, reasons, may_add)


def _reworded(
    edit: Callable[[str], str | None], side: Side, may_add: frozenset[Reason] = frozenset()
) -> Construction:
    # A word left out at the start of a sentence tears the quotation in two, and other
    # entries may hold one half: then ``may_add`` has the reason.
    return lambda base: _quoted(base, side, edit(base.quote(side)), may_add=may_add)


def _foreign(side: Side) -> Construction:
    return lambda base: _quoted(base, side, wordings.foreign_words(base.quote(side), base.text))


def _paraphrased(side: Side) -> Construction:
    # Ordinary words: two entries of a long history may hold enough of them together.
    def construct(base: Base) -> Broken | None:
        c = base.candidate
        value = c.old_value if side is Side.OLD else c.new_value
        quote = wordings.paraphrase(c.attribute, value)
        return _quoted(base, side, quote, may_add=_CROSS)

    return construct


def _across(side: Side) -> Construction:
    def construct(base: Base) -> Broken | None:
        quote = wordings.joined(base.quote(Side.OLD), base.quote(Side.NEW))
        if quote is None:
            return None
        reasons = frozenset({side.ungrounded, Reason.CROSS_ENTRY})
        return Broken(base.requoted(side, quote), base.entries, reasons)

    return construct


def _blank(side: Side) -> Construction:
    options = ("", "  ", "…", "“”", "the of and I", "👍", "**")
    return lambda base: _quoted(base, side, pick(options, base))


def _number(side: Side) -> Construction:
    return lambda base: _quoted(base, side, wordings.altered_number(base.quote(side), base.text))


def _extra_number(side: Side, mark: str = "") -> Construction:
    def construct(base: Base) -> Broken | None:
        number = wordings.unused_number(base.text)
        number = wordings.hidden(number, mark) if mark else number
        return _quoted(base, side, wordings.inserted(base.quote(side), number))

    return construct


def _negated(side: Side, mark: str = "") -> Construction:
    # A short quotation falls below the threshold, and another entry may hold the word.
    def construct(base: Base) -> Broken | None:
        word = wordings.negating_word(base.entry(side).text)
        if word is None:
            return None
        word = wordings.hidden(word, mark) if mark else word
        quote = wordings.inserted(base.quote(side), word)
        return _quoted(base, side, quote, may_add=_CROSS)

    return construct


def _hidden_in_memory(side: Side) -> Construction:
    """The user's own negation, split by a mark of no width, is quoted away."""

    def construct(base: Base) -> Broken | None:
        entry, quote = base.entry(side), base.quote(side)
        word = wordings.hidden("never", pick(wordings.ZERO_WIDTH, base))
        said = wordings.inserted(quote, word)
        if said is None or "never" in quote:
            return None
        changed = entry.model_copy(update={"text": entry.text.replace(quote, said)})
        return Broken(base.candidate, base.with_entry(changed), frozenset({side.ungrounded}))

    return construct


def _name(
    side: Side, edit: Callable[[str, str], str | None] = wordings.altered_name
) -> Construction:
    return lambda base: _quoted(base, side, edit(base.quote(side), base.text))


def _first_name(side: Side) -> Construction:
    def construct(base: Base) -> Broken | None:
        said = "\n".join(e.text for e in base.entries if e.role is EntryRole.USER)
        return _quoted(base, side, wordings.altered_first_name(base.quote(side), said))

    return construct


def _name_of_the_other(side: Side) -> Construction:
    """The name that the other quotation holds, which does stand in an entry."""

    def construct(base: Base) -> Broken | None:
        entry = base.entry(side).text
        others = [n for n in wordings.names(base.quote(side.other)) if n not in entry]
        if not others:
            return None
        quote = wordings.altered_name(base.quote(side), base.text, others[0])
        return _quoted(base, side, quote, may_add=_CROSS)

    return construct


def _disguised_memory(side: Side) -> Construction:
    """The entry's name only looks like the quoted one; another entry may hold the real one."""

    def construct(base: Base) -> Broken | None:
        entry, quote = base.entry(side), base.quote(side)
        said = wordings.disguised_name(quote)
        if said is None:
            return None
        changed = entry.model_copy(update={"text": entry.text.replace(quote, said)})
        reasons = frozenset({side.ungrounded})
        return Broken(base.candidate, base.with_entry(changed), reasons, _CROSS)

    return construct


def _spoken_by_the_assistant(side: Side) -> Construction:
    """Without its entry two others may hold enough of a short quotation."""

    def construct(base: Base) -> Broken:
        changed = base.entry(side).model_copy(update={"role": EntryRole.ASSISTANT})
        reasons = frozenset({side.ungrounded})
        return Broken(base.candidate, base.with_entry(changed), reasons, _CROSS)

    return construct


def _not_memory(text: Callable[[Base], str | None]) -> Construction:
    """Something that the proposer read and that no entry of the user's says."""
    return lambda base: _quoted(base, Side.NEW, text(base), may_add=_CROSS)


def _assistant_turn(base: Base) -> str | None:
    said = [e.text for e in base.entries if e.role is EntryRole.ASSISTANT]
    return max(said, key=len, default=None)


def _each_side(
    name: str, make: Callable[[Side], Construction], sides: Sequence[Side] = tuple(Side)
) -> dict[str, Construction]:
    return {f"{name}, {side.value}": make(side) for side in sides}


MISQUOTATIONS: Final[dict[str, Construction]] = {
    **_each_side("words of nobody", _foreign),
    **_each_side("paraphrase", _paraphrased),
    **_each_side("no content", _blank),
    **_each_side("half of each entry", _across),
    **_each_side("number altered", _number),
    **_each_side("number added", _extra_number),
    **_each_side("number dropped", lambda s: _reworded(wordings.dropped_number, s, _CROSS)),
    **_each_side("negation added", _negated),
    **_each_side("negation dropped", lambda s: _reworded(wordings.dropped_negation, s, _CROSS)),
    **_each_side("name altered", _name),
    **_each_side("name altered, lower case", lambda s: _name(s, wordings.in_lower_case)),
    **_each_side("name altered, title case", lambda s: _name(s, wordings.in_title_case)),
    **_each_side("name altered, new line", lambda s: _name(s, wordings.name_behind("\n"))),
    **_each_side("name altered, full stop", lambda s: _name(s, wordings.name_behind(". "))),
    **_each_side("name altered, first word", _first_name),
    **_each_side("name of the other entry", _name_of_the_other),
    **_each_side("to for from", lambda s: _reworded(wordings.opposite_direction, s)),
    **_each_side("look-alike letters in a name", lambda s: _reworded(wordings.disguised_name, s)),
    **_each_side("look-alike letters throughout", lambda s: _reworded(wordings.disguised_words, s)),
    **_each_side("look-alike name in memory", _disguised_memory),
    **_each_side("hidden negation", lambda s: _negated(s, "\u200b")),
    **_each_side("hidden number", lambda s: _extra_number(s, "\u2060")),
    **_each_side("hidden negation in memory", _hidden_in_memory),
    **_each_side("said by the assistant", _spoken_by_the_assistant),
    "quoted from the question": _not_memory(lambda base: base.question),
    "quoted from the draft": _not_memory(lambda base: base.draft),
    "quoted from an assistant turn": _not_memory(_assistant_turn),
}
"""Every construction by name, in a fixed order."""
