"""The reply under typed directives, by lexical rules: plain, dated and labelled.

What is done, and said: one sentence quotes the newer remark with its date; the
sentences of the draft that name the old value are left out. If that would leave
too little of the draft (less than half of its words), they stay, marked
``[outdated]``: a reader is served better by marked text than by a stump. No new
advice is written, because rules cannot. A closing line says where the text
comes from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stateauditor.program.offline.dependency import asks_whether_still
from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.mentions import facet_hits
from stateauditor.program.offline.words import (
    Sentence,
    content_words,
    normalise,
    sentences,
)
from stateauditor.signatures.models import DirectiveKind, RenderedEntry

CLOSING = "(Adjusted by StateAuditor's offline lexical rules; please check.)"
WRITTEN = "(Written by StateAuditor's offline lexical rules; please check.)"
OUTDATED = "[outdated]"

_EVIDENCE = re.compile(
    r"^\s*(?P<date>\d{4}-\d{2}-\d{2})?[^:\"]*(?::\d\d[^:\"]*)*:?\s*\"(?P<text>.*)\"\s*$", re.DOTALL
)
_MARKUP = re.compile(r"[\[\]{}<>`|#]|https?:|www\.", re.IGNORECASE)
# A bare yes or no carries the verdict of the sentence that it opens.
_BARE_VERDICT = re.compile(
    r"^\s*(?:yes|no|yep|nope|correct|absolutely|definitely)[.!]?\s*$", re.IGNORECASE
)
_QUOTE_LIMIT = 240


@dataclass(frozen=True)
class Order:
    """A directive in the words of this module."""

    kind: DirectiveKind
    attribute: str
    old_value: str | None
    current_value: str | None
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Remark:
    """A dated statement of the user that is fit to be quoted."""

    date: str | None
    text: str | None


def read_evidence(line: str) -> Remark:
    """Read ``2023-05-20: "text"``; text that looks like an instruction is not kept."""
    match = _EVIDENCE.match(line)
    date, text = (match["date"], match["text"]) if match else (None, line)
    return Remark(date, _quotable(text))


def _quotable(text: str) -> str | None:
    text = " ".join(text.split()).strip("\"“”' ")
    if not text or _MARKUP.search(text):
        return None
    if any(lexicon().instruction_like.matches(s) for s in sentences(text)):
        return None
    if len(text) > _QUOTE_LIMIT:
        text = text[:_QUOTE_LIMIT].rsplit(" ", 1)[0].rstrip(",;: ") + " …"
    return text.replace('"', "'")


def note(order: Order) -> str:
    """The one dated sentence that informs the user of a change."""
    remark = read_evidence(order.evidence[-1]) if order.evidence else Remark(None, None)
    when = f" ({remark.date})" if remark.date else ""
    said = f"you have since said “{remark.text}”, so" if remark.text else "by a later remark"
    old, current = _plain(order.old_value), _plain(order.current_value)
    before = f"what was known before ({old})" if old else "what was known before"
    now = f"; {_plain(order.attribute) or 'now'}: {current}" if current else ""
    return f"Note{when}: {said} {before} seems out of date{now}."


def recall_reply(line: RenderedEntry | None) -> str:
    """A reply that says what is remembered, and that rules wrote it."""
    text = None if line is None else _quotable(line.text)
    if line is None or text is None:
        return f"I remember nothing about that.\n\n{WRITTEN}"
    return f"On {line.timestamp or 'an unknown date'} you said: “{text}”\n\n{WRITTEN}"


def _plain(value: str | None) -> str:
    """A value in one line, or nothing where it looks like markup or an instruction."""
    return (_quotable(value) or "").rstrip(".") if value else ""


def names_old(sentence: Sentence, order: Order) -> bool:
    """Whether a sentence of the draft names the old value of a directive.

    Where the new value is an effect of the lexicon, everything that it ends counts: a
    leg in plaster takes the bike ride out of a training plan along with the run.
    """
    words = content_words(order.old_value or "")
    if words and words <= sentence.content:
        return True
    ended = {n for n, f in lexicon().facets.items() if f.label == order.old_value}
    for effect in lexicon().effects.values():
        if ended & set(effect.ends) and effect.value == order.current_value:
            ended |= set(effect.ends)
    return bool(ended & facet_hits([sentence]).keys())


def _pieces(draft: str) -> list[tuple[str, str]]:
    """The draft as (white space before, sentence), so that its layout survives."""
    pieces = []
    end = 0
    for sentence in sentences(draft):
        start = draft.index(sentence.text, end)
        pieces.append((draft[end:start], sentence.text))
        end = start + len(sentence.text)
    return pieces


def _trim(draft: str, stale: Sequence[bool], *, keep: bool) -> str:
    parts: list[str] = []
    for (gap, text), bad in zip(_pieces(draft), stale, strict=True):
        if bad and not keep:
            # A dropped sentence leaves its paragraph break to the next one.
            parts.append(gap if "\n" in gap else "")
        else:
            parts.append(f"{gap}{OUTDATED} {text}" if bad else f"{gap}{text}")
    return re.sub(r"(\n+) +", r"\1", re.sub(r"\n{3,}", "\n\n", "".join(parts))).strip()


def without_old(question: str, draft: str, orders: Sequence[Order]) -> str:
    """The draft with the sentences that name an old value removed or marked."""
    cut = sentences(draft)
    stale = [any(names_old(s, order) for order in orders) for s in cut]
    if asks_whether_still(sentences(question)):
        stale = [
            bad or bool(_BARE_VERDICT.match(s.text)) for bad, s in zip(stale, cut, strict=True)
        ]
    if not any(stale):
        return draft
    total = len(normalise(draft).split())
    left = sum(len(s.norm.split()) for s, bad in zip(cut, stale, strict=True) if not bad)
    return _trim(draft, stale, keep=left * 2 < total)


def rewrite(question: str, draft: str, orders: Sequence[Order]) -> str:
    """The complete reply: notes, what is left of the draft, questions, closing line."""
    changed = [o for o in orders if o.kind is not DirectiveKind.VERIFY]
    repairs = [o for o in orders if o.kind is DirectiveKind.REPAIR]
    asked = [o for o in orders if o.kind is DirectiveKind.VERIFY]
    notes = list(dict.fromkeys(note(o) for o in changed))
    body = without_old(question, draft, repairs) if repairs else draft
    questions = list(dict.fromkeys(_ask(o) for o in asked))
    return "\n\n".join([*notes, body, *questions, CLOSING])


def _ask(order: Order) -> str:
    subject = _plain(order.attribute) or "situation"
    old = _plain(order.old_value)
    return f"Is this still right about your {subject}{f' (“{old}”)' if old else ''}?"
