"""Words of a text, each with its kind and its place in the original.

A token is the unit that a quotation is matched by (paper, section 4.4). Scripts
that put no spaces between words give one token a character.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

import regex

from stateauditor.program.grounding.folding import Folded, fold_with_map
from stateauditor.program.grounding.word_lists import (
    BARE_CONTRACTIONS,
    NEGATION_PREFIXES,
    NEGATIONS,
    NUMBER_WORDS,
    STOP_WORDS,
    UNITS,
)


class Kind(Enum):
    """What a token may do in a match."""

    WORD = "word"
    STOP = "stop"
    NUMBER = "number"  # digits, number words, units after a number, currency and percent
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class Token:
    """One word: folded ``text``, and code-point offsets of the whole word.

    ``clause`` says whether punctuation stands right before it; ``sentence`` and
    ``elided`` whether a sentence end or an ellipsis stands anywhere between it and
    the content token before it. ``capital`` marks a word with a capital letter, and
    ``name`` one that stands inside a sentence.
    """

    text: str
    kind: Kind
    start: int
    end: int
    clause: bool = False
    sentence: bool = False
    elided: bool = False
    name: bool = False
    capital: bool = False

    @property
    def content(self) -> bool:
        """Whether the token counts for the coverage."""
        return self.kind is not Kind.STOP

    @property
    def exact(self) -> bool:
        """Whether nothing but itself may stand for it."""
        return self.kind in (Kind.NUMBER, Kind.NEGATION)


# Scripts without spaces between words (々 is Han; ー belongs to both kana).
_UNSPACED: Final = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}ー]"
)
_LETTER: Final = rf"[[\p{{L}}]--{_UNSPACED}]"
_INNER: Final = rf"[[\p{{L}}\p{{M}}\d]--{_UNSPACED}]"
_TOKEN: Final = regex.compile(
    # "7 am": "am" alone is a stop word, after a number it is half of a time.
    r"(?P<clock>(?<=\d ?)[ap](?:m(?![\p{L}\d])|\.\s?m\b\.?))"
    # A sign belongs to its number, but "10-14" is a range.
    r"|(?P<number>(?:(?<![\w)\]])-)?\d+(?:[.,:/]\d+)*(?:(?:st|nd|rd|th)(?![\p{L}\d]))?)"
    r"|(?P<symbol>\p{Sc}|[%‰])"
    # Japanese negates by ending; as characters these would be outvoted.
    r"|(?P<ending>ません|ない|なかった)"
    rf"|(?P<character>[[{_UNSPACED}]&&[\p{{L}}\p{{N}}]]\p{{M}}*)"
    # Apostrophes and emphasis inside a word do not end it: "un**employed**".
    rf"|(?P<word>{_LETTER}{_INNER}*(?:(?:'|\*{{1,3}}){_INNER}+)*)",
    regex.V1,
)
_SENTENCE: Final = regex.compile(r"[.!?\n。]")
_CLAUSE: Final = regex.compile(r"[.!?,;:()\[\]{}|\n。、]|\s-+\s|--")
_ELISION: Final = regex.compile(r"\.{3}|\[\s*\]")
_THOUSANDS: Final = regex.compile(r"-?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")
# French and Italian elisions; n' negates.
_ELIDED_ARTICLE: Final = regex.compile(r"(?P<article>l|d|j|m|t|s|c|n|qu)'(?P<rest>.{3,})")
_CLITIC: Final = regex.compile(r"'(?:s|m|re|ve|ll|d)$")


def tokenize(text: str) -> tuple[Token, ...]:
    """Split ``text`` into tokens, in reading order."""
    folded = fold_with_map(text)
    tokens: list[Token] = []
    cursor = 0
    after_number = False
    ended = elided = False
    for match in _TOKEN.finditer(folded.text):
        gap = folded.text[cursor : match.start()]
        cursor = match.end()
        start = folded.starts[match.start()]
        end = _end(folded, match.start(), match.end())
        plain = gap in ("", " ")  # most gaps; no need to search them
        sentence = not tokens or (not plain and _SENTENCE.search(gap) is not None)
        clause = sentence or (not plain and _CLAUSE.search(gap) is not None)
        ended = ended or sentence
        elided = elided or (not plain and _ELISION.search(gap) is not None)
        follows_number = after_number and gap in ("", " ", "-")
        pieces = _classify(match.group(), match.lastgroup or "", follows_number)
        for index, (word, kind) in enumerate(pieces):
            first = index == 0
            capital = kind is Kind.WORD and text[start].isupper()
            tokens.append(
                Token(
                    text=word,
                    kind=kind,
                    start=start,
                    end=end,
                    clause=first and clause,
                    sentence=first and ended,
                    elided=first and elided,
                    name=capital and not sentence,
                    capital=capital,
                )
            )
        if pieces[-1][1] is not Kind.STOP:
            ended = elided = False
        after_number = match.lastgroup == "number"
    return tuple(tokens)


def content_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of ``text`` that count for the coverage."""
    return tuple(token for token in tokenize(text) if token.content)


def _end(folded: Folded, start: int, end: int) -> int:
    # Reordered marks may come from a later place than the last folded character.
    if isinstance(folded.ends, range):
        return folded.ends[end - 1]
    return max(folded.ends[start:end])


def _classify(word: str, group: str, follows_number: bool) -> list[tuple[str, Kind]]:
    """Give the token or, for an elided negation such as n'habite, the two tokens of a word."""
    if group == "clock":
        return [(word[0] + "m", Kind.NUMBER)]
    if group == "symbol":
        return [(word, Kind.NUMBER)]
    if group == "number":
        plain = word.replace(",", "") if _THOUSANDS.fullmatch(word) else word
        return [(plain, Kind.NUMBER)]
    if group in ("ending", "character"):
        return [(word, _kind(word))]
    word = word.replace("*", "")
    if word.endswith("n't") or word.replace("'", "") in BARE_CONTRACTIONS:
        return [("not", Kind.NEGATION)]
    if follows_number and word in UNITS:
        return [(word, Kind.NUMBER)]
    if "'" in word:
        elided = _ELIDED_ARTICLE.fullmatch(word)
        if elided:
            rest = elided["rest"].replace("'", "")
            negation = [("ne", Kind.NEGATION)] if elided["article"] == "n" else []
            return [*negation, (rest, _kind(rest))]
        word = _CLITIC.sub("", word).replace("'", "")
    if word == "percent":
        return [("%", Kind.NUMBER)]
    return [(word, _kind(word))]


def _kind(word: str) -> Kind:
    if word in NEGATIONS or word.startswith(NEGATION_PREFIXES):
        return Kind.NEGATION
    if word in NUMBER_WORDS or any(character.isdigit() for character in word):
        return Kind.NUMBER
    return Kind.STOP if word in STOP_WORDS else Kind.WORD
