"""Stored facts that name the user, or name nobody: read as facts about "User".

Stores write "User lives in Ghent", "Kim lives in Ghent" or "Lives in Ghent" for the same
thing. Who Kim is, only the caller knows (`user=`). Other text is left as it is: what is
rewritten wrongly would be quoted as evidence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

USER: Final = "User"

_STATES = """
lives works likes loves prefers has is was owns uses drives rides studies teaches speaks plays
eats drinks enjoys hates dislikes avoids needs wants plans intends hopes rents runs trains
attends manages leads collects wears takes keeps practises practices travels commutes banks
moved relocated started stopped quit left joined bought sold got became adopted married
divorced retired graduated broke switched changed finished began lost gave now no recently
currently just used also still
"""
_CONDITION_WORDS = """
allergic vegetarian vegan married divorced single retired pregnant unemployed based
"""
_VERBS: Final = frozenset(_STATES.split())
_CONDITIONS: Final = frozenset(_CONDITION_WORDS.split())
_WORD: Final = re.compile(r"\s*([^\W\d_]+)\b")
# "married to Ana", "retired": a state; "married Ana in 2020": an event. Both read well with "is"
# only in front of these words.
_STATE_FOLLOWS: Final = re.compile(r"\s*(?:$|[.,;!]|(?:to|from|in|at|since|with|and|but|for)\b)")


def as_user(text: str, name: str) -> str:
    """`text` with the user's `name` as "User", and with a subject where it has none.

    The name stands for the user alone: "Kim Novak" is somebody else.
    """
    named = _pattern(name).sub(_as_user, text)
    first = _WORD.match(named)
    if first is None or named != text:
        return named
    word = first[1]
    rest = named[first.end() :]
    if word.casefold() in _CONDITIONS and _STATE_FOLLOWS.match(rest):
        return f"{USER} is {word[0].lower()}{word[1:]}{rest}"
    # "Has a dog", and not "has", the tail of a sentence that was cut.
    if word[:1].isupper() and word.casefold() in _VERBS:
        return f"{USER} {word[0].lower()}{word[1:]}{rest}"
    return named


def _as_user(match: re.Match[str]) -> str:
    """The user, unless a capital beside it makes it another name: "Kim Novak", "Lee Kim"."""
    text = match.string
    before = text[: match.start()].split(" ")
    after = text[match.end() :]
    joined_before = len(before) > 1 and not before[-1] and before[-2].isalpha()
    if joined_before and before[-2][0].isupper():
        return match[0]
    if after.startswith(" ") and after.lstrip(" ")[:1].isupper():
        return match[0]
    return USER


@lru_cache(maxsize=16)
def _pattern(name: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<![\w-]){words}(?![\w-])")
