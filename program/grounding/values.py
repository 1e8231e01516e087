"""When two values, attributes or path nodes say the same (paper, section 4.4).

Values are compared in a plainer form than quotations: stop words stay (the change
from "in" to "out" is one), only articles, punctuation and typography go.
"""

from __future__ import annotations

from typing import Final

import regex

from stateauditor.program.grounding.folding import fold
from stateauditor.program.grounding.word_lists import PLACEHOLDERS

# "3.5" keeps its point, "-5" its sign, "n/a", "C++", "C#" and "25%" their signs.
_PUNCTUATION: Final = regex.compile(
    r"(?<=\d)[.,:](?=\d)(*SKIP)(*FAIL)|(?<![\w])-(?=\d)(*SKIP)(*FAIL)|[\p{P}`~^--[%&@#/+']]|_",
    regex.V1,
)
_THOUSANDS: Final = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ARTICLES: Final = frozenset(("a", "an", "the"))


def plain_value(value: str) -> str:
    """Return ``value`` as it is compared: folded, without articles and punctuation.

    >>> plain_value("The “part-time” job.")
    'part time job'
    """
    text = _THOUSANDS.sub("", fold(value)).replace("'", "")
    words = _PUNCTUATION.sub(" ", text).split()
    # "a" alone is a value (a grade); an article has something after it.
    kept = [word for word in words[:-1] if word not in _ARTICLES] + words[-1:]
    return " ".join(kept)


def same_value(one: str, other: str) -> bool:
    """Whether two values differ in nothing but typography, case and articles."""
    return plain_value(one) == plain_value(other)


def is_missing(value: str) -> bool:
    """Whether ``value`` is blank or only says that there is none ("unknown", "n/a").

    A correction must carry the new value. Where the new state is an absence the
    proposer has to name it ("no pet").
    """
    plain = plain_value(value)
    return not plain or plain in PLACEHOLDERS
