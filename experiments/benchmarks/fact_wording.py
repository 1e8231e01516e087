"""First-person sentences in the words of a memory store: "I've sold my car" as a fact.

Stores write facts about "User" in the third person. This is plain rewriting by rule, for
benchmarks only: good enough that a reader takes the result for an extracted fact.

>>> as_fact("Speaking of films, I really love westerns.")
'User really loves westerns.'
>>> as_fact("How are you?") is None
True
"""

from __future__ import annotations

import re
from typing import Final

_LEAD: Final = re.compile(
    r"^(?:(?:speaking of|for example|by the way|anyway|actually|yeah|yes|oh|well|also|and|but|so"
    r"|that's [^,;.]*|that makes sense|interesting|lately|recently|honestly)"
    r"\b[^,;.]{0,60}[,;.]\s*)+",
    re.IGNORECASE,
)
_CHATTER: Final = re.compile(
    r"^(?:i (?:think|imagine|guess|agree|wonder|see|suppose|hope|can see|can definitely|was"
    r" (?:just )?(?:thinking|wondering)|understand|appreciate|mean)\b|i'm (?:glad|curious|just"
    r" curious|not sure|sure|doing|happy)\b|i'd (?:like|love) to (?:know|hear|chat)\b|thanks|"
    r"it\b|it's\b|that\b|that's\b|what\b|how\b|could\b|can\b|let's\b|i (?:should|have to|need to|"
    r"must|better) (?:go|get|run|head)\b)|.*\b(?:that before|heard that|thought about it|AI)\b",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"\b(?:I|I'm|I've|my|we|our)\b")
_FRONT: Final = re.compile(
    r"^(?:I|we|I'm|I've|I'll|I'd|we're|we've|my|our|im|ive)\b", re.IGNORECASE
)
_ADVERB: Final = frozenset(
    [
        "just",
        "really",
        "also",
        "still",
        "actually",
        "only",
        "never",
        "always",
        "usually",
        "often",
        "already",
        "even",
        "now",
        "both",
        "all",
        "absolutely",
        "definitely",
        "recently",
        "currently",
        "finally",
        "mostly",
        "kind",
        "sort",
        "particularly",
        "totally",
    ]
)
_SAME: Final = frozenset(
    [
        "can",
        "can't",
        "cannot",
        "could",
        "must",
        "should",
        "will",
        "won't",
        "would",
        "might",
        "may",
        "did",
        "didn't",
        "had",
        "was",
        "were",
        "got",
        "went",
        "took",
        "spent",
        "bought",
        "made",
        "met",
        "read",
        "hit",
        "ran",
        "ate",
        "gave",
        "told",
        "said",
        "saw",
        "felt",
        "found",
        "lost",
        "sold",
        "woke",
        "set",
        "put",
        "cut",
        "wore",
        "kept",
        "left",
        "taught",
        "began",
        "paid",
        "slept",
        "drove",
        "wrote",
        "grew",
        "heard",
        "thought",
        "knew",
        "came",
        "became",
        "brought",
        "caught",
        "chose",
        "fell",
        "forgot",
        "held",
        "led",
        "let",
        "lent",
        "rode",
        "sent",
        "sat",
        "stood",
        "swam",
    ]
)
_SPECIAL: Final = {"have": "has", "do": "does", "go": "goes", "don't": "doesn't", "am": "is",
                   "haven't": "hasn't", "are": "is", "aren't": "isn't"}  # fmt: skip
_ELSEWHERE: Final = (
    (r"\bI'm\b", "they are"), (r"\bI've\b", "they have"), (r"\bI'll\b", "they will"),
    (r"\bI'd\b", "they would"), (r"\bI am\b", "they are"), (r"\bI\b", "they"),
    (r"\bmy\b", "their"), (r"\bmine\b", "theirs"), (r"\bmyself\b", "themselves"),
    (r"\bme\b", "them"), (r"\bour\b", "their"), (r"\bwe're\b", "they are"), (r"\bus\b", "them"),
    (r"\bwe\b", "they"), (r"\bi\b", "they"), (r"\bi'm\b", "they are"),
)  # fmt: skip
_CUTS: Final = re.compile(
    r"[;–—]\s+|,\s+(?:and|but|so|because|which|though|while|since|then)\s+(?:then\s+)?",
)
_FEWEST_WORDS: Final = 4


def clauses(sentence: str) -> list[str]:
    """The sentence cut into statements of their own, as a store's extraction would.

    >>> clauses("I sold my car, and I cycle to work; it rains.")
    ['I sold my car', 'I cycle to work', 'it rains.']
    """
    return [clause for part in _CUTS.split(sentence.strip()) if (clause := part.strip())]


def as_fact(sentence: str) -> str | None:
    """The sentence as a fact about User, or None where it states nothing about a user."""
    text = _LEAD.sub("", sentence.strip())
    if text.endswith("?") or len(text.split()) < _FEWEST_WORDS:
        return None
    if _CHATTER.match(text):
        return None
    if not _FRONT.match(text):
        return f"User says: {_others(text)}" if _OWN.search(text) else None
    head, _, rest = text.partition(" ")
    subject = head.casefold()
    if subject in ("my", "our"):
        return f"User's {_others(rest)}"
    for short, long in (("'m", "is"), ("'ve", "has"), ("'ll", "will"), ("'d", "would"),
                        ("'re", "is")):  # fmt: skip
        if subject.endswith(short):
            return f"User {long} {_others(rest)}"
    if subject in ("im", "ive"):
        return f"User {'is' if subject == 'im' else 'has'} {_others(rest)}"
    return f"User {_conjugated(rest)}"


def _conjugated(predicate: str) -> str:
    words = predicate.split()
    place = 0
    while place < len(words) - 1 and words[place].casefold() in _ADVERB:
        place += 1
    words[place] = _third_person(words[place])
    return _others(" ".join(words))


def _third_person(verb: str) -> str:
    lower = verb.casefold()
    if lower in _SPECIAL:
        return _SPECIAL[lower]
    if lower in _SAME or lower.endswith(("ed", "n't")):
        return verb
    if lower.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _others(text: str) -> str:
    for pattern, replacement in _ELSEWHERE:
        text = re.sub(pattern, replacement, text)
    return text
