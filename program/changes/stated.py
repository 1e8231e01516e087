"""Which values a draft states in so many words: code's only look at what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from stateauditor.program.changes.nearness import core_value
from stateauditor.program.grounding.quotations import Evidence
from stateauditor.program.grounding.tokens import Kind, content_tokens
from stateauditor.program.grounding.word_lists import stems
from stateauditor.signatures.models import RenderedEntry


class StatedValues:
    """A draft, asked for the values of a user's attributes; a blank one states none."""

    def __init__(self, draft: str = "") -> None:
        self._draft = draft

    def names(self, value: str) -> bool:
        """Whether the draft states ``value``, by its words and not negated."""
        words = core_value(value)
        return bool(words and self._draft) and self._evidence.best_match(words).grounded

    def fits(self, current: str, outdated: Sequence[str]) -> bool:
        """Whether the draft states what holds now and nothing of what held before.

        Only a proper name or a number says so much: "you could adopt a dog" names a dog,
        and yet does not know of it. Where this is in doubt, the answer is no.
        """
        if not (_is_name(current) and self.names(current)):
            return False
        kept = _word_stems(current)
        return not any((_word_stems(old) - kept) & self._stems for old in outdated)

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence([RenderedEntry(id="D", entry_id="D", timestamp=None, text=self._draft)])

    @cached_property
    def _stems(self) -> frozenset[str]:
        return _word_stems(self._draft)


NOTHING_STATED: Final = StatedValues()


def _is_name(value: str) -> bool:
    core = core_value(value).split()
    return any(
        token.text in core and (token.capital or token.kind is Kind.NUMBER)
        for token in content_tokens(value)
    )


def _word_stems(text: str) -> frozenset[str]:
    return frozenset(
        stem for token in content_tokens(text) for stem in (token.text, *stems(token.text))
    )
