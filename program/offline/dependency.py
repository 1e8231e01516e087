"""Does a draft, or its question, rest on the old side of a change?

The answer is no where the question asks for the past, and where the draft
already follows the new state; otherwise the draft must name the old value or
the facet that ended. A silent dependency without any such word stays unseen:
that is the floor of lexical rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from stateauditor.program.offline.changes import Change
from stateauditor.program.offline.lexicon import lexicon
from stateauditor.program.offline.mentions import FacetHits, facet_hits
from stateauditor.program.offline.words import Sentence, content_words, sentences

_NOTHING = FacetHits()


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
    def question_facets(self) -> dict[str, FacetHits]:
        """The facets that the question names."""
        return facet_hits(self.asked)

    @cached_property
    def draft_facets(self) -> dict[str, FacetHits]:
        """The facets that the draft names."""
        return facet_hits(self.said)

    @cached_property
    def about_past(self) -> bool:
        """Whether the question asks for something that is over."""
        return asks_for_past(self.asked)

    @cached_property
    def aware(self) -> bool:
        """Whether the draft itself says that something has changed."""
        return any(lexicon().aware.matches(s) for s in self.said)

    @cached_property
    def known_effects(self) -> frozenset[str]:
        """The effects whose words the draft uses."""
        return frozenset(name for s in self.said for name, _ in lexicon().knows_patterns.find(s))


def asks_for_past(question: Sequence[Sentence]) -> bool:
    """Whether a question asks what was, not what is."""
    return any(lexicon().past_question.matches(s) for s in question)


def asks_whether_still(question: Sequence[Sentence]) -> bool:
    """Whether a question asks if something still holds."""
    return any(lexicon().still_question.matches(s) for s in question)


def reliance(reply: Reply, change: Change) -> int:
    """How strongly the reply rests on the old value; 0 where it does not."""
    if reply.about_past or reply.aware:
        return 0
    if change.effect is not None and change.effect in reply.known_effects:
        return 0
    if change.new_words and change.new_words <= reply.draft_words:
        return 0
    if change.facet is not None:
        return _facet_reliance(reply, change.facet)
    in_draft = change.old_words <= reply.draft_words
    in_question = change.old_words <= reply.question_words
    if not change.old_words or not (in_draft or in_question):
        return 0
    return 4 * in_draft + 2 * in_question


def _facet_reliance(reply: Reply, facet: str) -> int:
    asked = reply.question_facets.get(facet, _NOTHING)
    said = reply.draft_facets.get(facet, _NOTHING)
    # A question that presupposes the facet carries a draft that goes along with it.
    relies = said.named or bool(asked.strong)
    return said.weight + asked.weight if relies else 0


def bearing(
    reply: Reply, changes: Sequence[Change], *, weak: bool = False
) -> list[tuple[int, Change]]:
    """The changes that bear on a reply, most first; ``weak`` ones only on request."""
    scored = [(reliance(reply, c), c) for c in changes if c.weak is weak]
    return sorted(
        [(score, c) for score, c in scored if score > 0],
        key=lambda pair: (-pair[0], -pair[1].new.order, pair[1].attribute),
    )
