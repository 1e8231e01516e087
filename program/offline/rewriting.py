"""The reply under typed directives, by lexical rules: plain, dated and labelled.

What is done, and said: one sentence quotes the newer remark with its date, and the
sentences of the draft that name the old value are left out; where nothing would be
left, a sentence says so. No new advice is written, because rules cannot. A closing
line says where the text comes from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.mentions import proper_words
from stateauditor.program.offline.words import (
    Sentence,
    content_words,
    sentences,
)
from stateauditor.signatures.models import DirectiveKind, RenderedEntry

CLOSING = "(Adjusted by StateAuditor's offline lexical rules; please check.)"
WRITTEN = "(Written by StateAuditor's offline lexical rules; please check.)"

_EVIDENCE = re.compile(
    r"^\s*(?P<date>\d{4}-\d{2}-\d{2})?[^:\"]*(?::\d\d[^:\"]*)*:?\s*\"(?P<text>.*)\"\s*$", re.DOTALL
)
_MARKUP = re.compile(r"[\[\]{}<>`|#]|https?:|www\.", re.IGNORECASE)
# A bare yes or no carries the verdict of the sentence that it opens.
_BARE_VERDICT = re.compile(
    r"^\s*(?:yes|no|yep|nope|correct|absolutely|definitely)[.!]?\s*$", re.IGNORECASE
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|me|my|we|our|us)\b", re.IGNORECASE)
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
    when = f" on {remark.date}" if remark.date else ""
    old, current = _plain(order.old_value), _plain(order.current_value)
    over = f"what was known before ({old})" if old else "what was known before"
    now = f"; now: {current}" if current and not current.startswith("no longer ") else ""
    if remark.text is None:
        return f"Please note: by a later remark{when}, {over} is out of date{now}."
    told = "you said" if _FIRST_PERSON.search(remark.text) else "it was noted"
    return f"Please note:{when} {told} “{remark.text}”, so {over} is out of date{now}."


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
    """Whether a sentence of the draft names the old value of a directive."""
    words = proper_words(order.old_value or "") or content_words(order.old_value or "")
    return bool(words) and words <= sentence.content


def _pieces(draft: str) -> list[tuple[str, str]]:
    """The draft as (white space before, sentence), so that its layout survives."""
    pieces = []
    end = 0
    for sentence in sentences(draft):
        start = draft.index(sentence.text, end)
        pieces.append((draft[end:start], sentence.text))
        end = start + len(sentence.text)
    return pieces


def without_old(draft: str, orders: Sequence[Order]) -> str:
    """The draft without the sentences that name an old value; "" where nothing is left.

    A bare yes or no goes with the sentence that it opens.
    """
    cut = sentences(draft)
    stale = [any(names_old(s, order) for order in orders) for s in cut]
    for place, sentence in enumerate(cut[:-1]):
        stale[place] |= stale[place + 1] and bool(_BARE_VERDICT.match(sentence.text))
    if not any(stale):
        return draft
    parts: list[str] = []
    for (gap, text), bad in zip(_pieces(draft), stale, strict=True):
        # A dropped sentence leaves its paragraph break to the next one.
        parts.append((gap if "\n" in gap else "") if bad else f"{gap}{text}")
    return re.sub(r"(\n+) +", r"\1", re.sub(r"\n{3,}", "\n\n", "".join(parts))).strip()


def rewrite(draft: str, orders: Sequence[Order]) -> str:
    """The complete reply: notes, what is left of the draft, questions, closing line."""
    changed = [o for o in orders if o.kind is not DirectiveKind.VERIFY]
    repairs = [o for o in orders if o.kind is DirectiveKind.REPAIR]
    asked = [o for o in orders if o.kind is DirectiveKind.VERIFY]
    notes = list(dict.fromkeys(note(o) for o in changed))
    body = without_old(draft, repairs) or _left_out(repairs)
    questions = list(dict.fromkeys(_ask(o) for o in asked))
    return "\n\n".join([*notes, body, *questions, CLOSING])


def _left_out(repairs: Sequence[Order]) -> str:
    """What stands in place of a draft of which nothing is left."""
    old = " and ".join(dict.fromkeys(filter(None, (_plain(o.old_value) for o in repairs))))
    return f"What I had prepared relied on {old or 'that'}, so I leave it out."


def _ask(order: Order) -> str:
    subject = _plain(order.attribute) or "situation"
    old = _plain(order.old_value)
    return f"Is this still right about your {subject}{f' (“{old}”)' if old else ''}?"
