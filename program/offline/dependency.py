"""Does a draft, or its question, rest on the old side of a change?

The answer is no where the question asks for the past, where the draft already
follows the new state, and where a text only names the old value: a visit, a
comparison, somebody else's state, a question that is about that very thing. A
silent dependency without any word of the old value stays unseen: that is the
floor of lexical rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from stateauditor.program.offline.changes import Change
from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.words import Sentence, content_words, sentences

# "You live in ...", "your ...": the draft says of the user what it rests on.
_TO_USER = re.compile(r" (?:you|your|user) ", re.IGNORECASE)
# "My ...", "I live in ...": the question takes a state for granted.
_OF_USER = re.compile(
    r" (?:my|our|i|we|user) (?:still |currently |have |am |do |the |'s ){0,2}"
    r"(?:live|work|use|drive|play|bank|go|eat|drink|study|have|own|like|love)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reply:
    """A question with its draft, cut into sentences once."""

    question: str
    draft: str

    @cached_property
    def asked(self) -> tuple[Sentence, ...]:
        """The sentences of the question."""
        return sentences(self.question)

    @cached_property
    def said(self) -> tuple[Sentence, ...]:
        """The sentences of the draft."""
        return sentences(self.draft)

    @cached_property
    def question_words(self) -> frozenset[str]:
        """The content words of the question."""
        return content_words(self.question)

    @cached_property
    def draft_words(self) -> frozenset[str]:
        """The content words of the draft."""
        return content_words(self.draft)

    @cached_property
    def about_past(self) -> bool:
        """Whether the question asks for something that is over."""
        return asks_for_past(self.asked)

    @cached_property
    def aware(self) -> bool:
        """Whether the draft itself says that something has changed."""
        return any(lexicon().aware.matches(s) for s in self.said)


def asks_for_past(question: Sequence[Sentence]) -> bool:
    """Whether a question asks what was, not what is."""
    return any(lexicon().past_question.matches(s) for s in question)


def asks_whether_still(question: Sequence[Sentence]) -> bool:
    """Whether a question asks if something still holds."""
    return any(lexicon().still_question.matches(s) for s in question)


def reliance(reply: Reply, change: Change) -> int:
    """How strongly the reply rests on the old value; 0 where it does not."""
    if not change.old_words or reply.about_past or reply.aware:
        return 0
    fresh = change.new_words - change.old_words
    if fresh and fresh <= reply.draft_words:
        return 0
    asked = [s for s in reply.asked if change.old_words <= s.content]
    still = asks_whether_still(reply.asked)
    if asked and not still and not any(map(_takes_for_granted, asked)):
        return 0
    leaning = sum(rests_on(s, change.old_words) for s in reply.said)
    if leaning:
        return 4 * leaning + 2 * bool(asked)
    named = any(change.old_words <= s.content for s in reply.said)
    return 2 * bool(asked and not still and not named)


def rests_on(sentence: Sentence, old_words: frozenset[str]) -> bool:
    """Whether a sentence of a draft relies on the old value rather than speak of it."""
    if not old_words <= sentence.content:
        return False
    if lexicon().relations & sentence.words and not _speaks_to_user(sentence):
        return False
    return not lexicon().only_named.matches(sentence)


def _speaks_to_user(sentence: Sentence) -> bool:
    words = sentence.norm.casefold().split()
    own = (b for a, b in pairwise(words) if a in ("your", "their"))
    others = any(word in lexicon().relations for word in own)
    return bool(_TO_USER.search(sentence.norm)) and not others


def _takes_for_granted(sentence: Sentence) -> bool:
    """Whether a question that names the old value says that it is the user's."""
    return bool(_OF_USER.search(sentence.norm)) and not lexicon().only_named.matches(sentence)


def bearing(reply: Reply, changes: Sequence[Change]) -> list[tuple[int, Change]]:
    """The changes that bear on a reply, most first."""
    scored = [(reliance(reply, c), c) for c in changes]
    return sorted(
        [(score, c) for score, c in scored if score > 0],
        key=lambda pair: (-pair[0], -pair[1].new.order, pair[1].attribute),
    )
