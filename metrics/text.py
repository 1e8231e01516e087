"""How texts are compared when nothing is asked of an LM.

Deliberately apart from the program's own tokens and folding: what measures the
program must not change with it. Written for the English of the benchmarks; other
scripts fold and compare, but are not stemmed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, Final

import regex
import snowballstemmer

_SAME: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′´`", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
        "\u00ad": "",
        "\u200b": "",
        "\ufeff": "",
    }
)
_SPACE: Final = re.compile(r"\s+")
_WORD: Final = regex.compile(r"\p{N}+(?:[.,:]\p{N}+)*|[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*")
_NEGATED: Final = re.compile(r"(?:n't|^cannot|^without)$")
# A sentence ends at its mark and what closes after it, before a space.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
_TRIM: Final = " \t\"'()[].!?,;:-"
_STOP: Final = frozenset(
    word
    for line in (
        "a an the and or but so as at by for from in into of off on onto over to under up with",
        "about after before than then there here this that these those it its i you he she we",
        "they me him her us them my mine your his our their user user's users i'm i've i'd i'll",
        "am is are was were be been being do does did have has had will would can could should",
        "may might now current currently still just also very really per",
    )
    for word in line.split()
)


def fold(text: str) -> str:
    """One spelling for typography, case and white space.

    >>> fold("I’m  “in”\\nDenver")
    'i\\'m "in" denver'
    """
    plain = unicodedata.normalize("NFKC", text.translate(_SAME)).translate(_SAME)
    return _SPACE.sub(" ", plain.casefold()).strip()


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, folded, without the marks around them; blank ones dropped."""
    parts = (fold(part).strip(_TRIM) for part in _SENTENCE_END.split(text.translate(_SAME)))
    return tuple(part for part in parts if part)


def contains(text: str, part: str) -> bool:
    """Whether ``part`` stands in ``text`` as whole words, both already folded.

    A blank part stands nowhere.
    """
    at = text.find(part) if part else -1
    while at >= 0:
        end = at + len(part)
        cut_before = at > 0 and part[0].isalnum() and text[at - 1].isalnum()
        cut_after = end < len(text) and part[-1].isalnum() and text[end].isalnum()
        if not (cut_before or cut_after):
            return True
        at = text.find(part, at + 1)
    return False


@lru_cache(maxsize=4096)
def content_tokens(text: str) -> frozenset[str]:
    """The stemmed words that carry meaning; every negation is the token ``not``.

    >>> sorted(content_tokens("The user isn't working nights in Denver"))
    ['denver', 'night', 'not', 'work']
    """
    stemmer = snowballstemmer.stemmer("english")  # holds state: one for each call
    words = _WORD.findall(fold(text))
    return frozenset(_token(word, stemmer) for word in words if word not in _STOP)


def coverage(part: frozenset[str], whole: frozenset[str]) -> float:
    """Share of ``part`` that stands in ``whole``, 0 to 1; 0 for an empty part."""
    return len(part & whole) / len(part) if part else 0.0


def _token(word: str, stemmer: Any) -> str:
    if word in ("no", "not", "never", "none") or _NEGATED.search(word):
        return "not"
    stem: str = stemmer.stemWord(word.removesuffix("'s"))
    return stem
