"""Sentences and words, as the rules see them; each text is cut and tokenised once.

A sentence keeps two forms: ``text``, copied from its source character for
character (quotations must match), and ``norm``, its words with single spaces
and written-out contractions, on which the patterns of the lexicon run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from stateauditor.program.retrieval.tokens import fold, stem

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Mt|Jr|Sr|vs|etc|approx|Ave)|e\.g|i\.e)\.$")
_TOKEN = re.compile(
    r"[$€£]?\d+(?:[.,:/-]\d+)*%?[^\W_]*(?:-[^\W_]+)*"  # figures: $1,200  5k  9-to-5
    r"|[^\W\d_]+(?:['’-][^\W_]+)*[+#]*"  # words: I've  half-marathon  C++
    r"|[,;:()—–\"“”!?.。！？，]"
)

# Written-out contractions, so that one pattern serves "I've" and "I have". The 's of
# "she's" is read as "is"; after other words it is left as the possessive marker.
_ENDINGS = {"'ve": "have", "'m": "am", "'re": "are", "'ll": "will", "'d": "would"}
_WHOLE = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "let's": ("let", "us"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "gotta": ("have", "to"),
    # Typed in haste.
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "didnt": ("did", "not"),
    "cant": ("can", "not"),
    "isnt": ("is", "not"),
    "arent": ("are", "not"),
}
# Open words in patterns are looked up by so many letters.
PREFIX = 3
_IS_HOSTS = {"it", "that", "there", "here", "he", "she", "what", "who", "where", "how"}

# Words that carry no content of their own: they never decide whether two phrases
# speak of the same thing. A closed list of function words, pronouns and fillers.
_FUNCTION_WORDS = """
a an the this that these those some any each every all both no not and or but if then so
because since while although though as than of in on at to from by for with without into
onto over under up down out off near about around after before during until till between
through i me my mine myself we us our ours you your yours he him his she her hers it its
they them their is am are was were be been being have has had do does did will would shall
should can could may might must also just only really very quite too still yet now again
ever never there here what which who whom whose when where why how user get got getting go
going goes one ones thing things lot bit new old current currently former previous own other
another more most much many few dr mr mrs ms
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True)
class Sentence:
    """One sentence; ``norm`` has a space at both ends, so that words match whole."""

    text: str
    norm: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The case-folded words and punctuation marks, and the words' first letters ("jog*")."""
        words = self.norm.casefold().split()
        return frozenset(words) | {f"{w[:PREFIX]}*" for w in words}

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of the content words."""
        return content_words(self.norm)


def _expand(token: str) -> tuple[str, ...]:
    token = token.replace("’", "'")
    folded = token.casefold()
    if folded in _WHOLE:
        return _WHOLE[folded]
    if folded.endswith("n't"):
        return (token[:-3], "not")
    head, mark, tail = token.rpartition("'")
    if not mark:
        return (token,)
    ending = _ENDINGS.get(f"'{tail.casefold()}")
    if ending is not None:
        return (head, ending)
    if tail.casefold() == "s":
        return (head, "is" if head.casefold() in _IS_HOSTS else "'s")
    return (token,)


def normalise(text: str) -> str:
    """The words of a text with single spaces, a space at both ends, case kept."""
    words = [w for m in _TOKEN.finditer(text) for w in _expand(m.group())]
    return f" {' '.join(words)} "


def _cuts(text: str) -> Iterator[str]:
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if _ABBREVIATION.search(text[start : match.start()].rstrip()):
            continue
        yield text[start : match.start()] + match.group().rstrip()
        start = match.end()
    yield text[start:]


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order; empty ones are left out."""
    cuts = (cut.strip() for cut in _cuts(text))
    return tuple(Sentence(cut, normalise(cut)) for cut in cuts if cut)


def content_words(text: str) -> frozenset[str]:
    """The stems of the content words of a phrase or text."""
    words = normalise(text).casefold().replace("-", " ").split()
    return frozenset(
        stem(fold(w))
        for w in words
        if w not in FUNCTION_WORDS and (len(w) > 1 or w.isdigit()) and w[0].isalnum()
    )
