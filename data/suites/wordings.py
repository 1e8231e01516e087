"""Edits of one quotation that change what it says; None where a sentence offers no place.

Each is made so that the outcome is certain. One word exchanged for another in a long
sentence is left out: four fifths of the words still stand in the entry, which is what the
paper's threshold allows (section 4.4). So is a negation at an edge, which merely cuts the
quotation shorter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

FOREIGN_SHARE: Final = 0.3
"""Share of a quotation's marks and words to exchange; above a fifth no entry can ground it."""

LONG: Final = re.compile(r"[^\W\d_]{4,}")
"""A word long enough to tell one sentence from another."""

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_MARK: Final = re.compile(r"\w+|[^\w\s]")
_FOREIGN: Final = (
    *("zeppelin", "quokka", "xylophone", "flugelhorn", "vuvuzela", "kumquat", "obelisk"),
    *("jodhpurs", "gazpacho", "ukulele", "wombat", "periwinkle", "samovar", "tuxedo"),
)
_NAMES: Final = ("Zlatoust", "Qaanaaq", "Xanthippe", "Vuokatti", "Jyderup", "Uummannaq")
_NUMBERS: Final = ("4471", "9038", "6257", "8863")
_NEVER: Final = ("never", "no longer", "not")
_KEPT: Final = frozenset(
    ("not", "never", "without", "hardly", "cannot", "none", "nothing", "nobody", "neither", "nor")
)

_DIGITS: Final = re.compile(r"(?<![\w.,:/])\d+(?:[.,:/]\d+)*(?!\w)")
_NUMBER_WORD: Final = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|ninety|hundred)\b(?!-)"
)
# A capital inside a sentence; "I" and its contractions are no names.
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?![\w'’])")
_NEGATION: Final = re.compile(r"\b(?:no longer|not|never|without|no) (?=[a-z])", re.IGNORECASE)
_CONTRACTED: Final = re.compile(r"\b(?P<verb>[a-z]+)n['’]t(?= [a-z])", re.IGNORECASE)
_CONTRACTIONS: Final = {"wo": "will", "ca": "can", "sha": "shall", "ai": "am"}
_DIRECTION: Final = re.compile(
    r"(?<=[a-z] )(?P<word>to|from|into)(?= (?:(?:the|my|our|a|an) )?[A-Za-z]{4})"
)
_OPPOSITE: Final = {"to": "from", "from": "to", "into": "from"}

_LOOKALIKES: Final = str.maketrans("aeopcxyiAEOPCTHKMBX", "аеорсхуіАЕОРСТНКМВХ")
ZERO_WIDTH: Final = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad")
"""Characters without width that the validator promises to ignore."""


# --- other words --------------------------------------------------------------


def foreign_words(quote: str, said: str) -> str | None:
    """So many words replaced by words that nobody said that too few are left.

    ``said`` is the whole history, case-folded. Every other word goes first.
    """
    pool = [word for word in _FOREIGN if word[:4] not in said]
    places = [m for m in _WORD.finditer(quote) if m.group().casefold() not in _KEPT]
    needed = int(len(_MARK.findall(quote)) * FOREIGN_SHARE) + 1
    chosen = (places[1::2] + places[::2])[:needed]
    if len(chosen) < needed or not pool:
        return None
    text = quote
    ordered = sorted(chosen, key=lambda m: m.start(), reverse=True)
    for number, match in enumerate(ordered):
        text = text[: match.start()] + pool[number % len(pool)] + text[match.end() :]
    return text


def paraphrase(attribute: str, value: str) -> str:
    """What the entry may well mean, in the words of a report about the user."""
    return (
        f"According to an earlier conversation, the customer reported concerning {attribute} "
        f"that the situation amounted to {value}, as far as anyone could establish"
    )


def joined(one: str, other: str) -> str | None:
    """The first words of one sentence and the last of another, as many of each.

    None where one of them repeats most of the other's words: it would hold it all.
    """
    first, second = (list(LONG.finditer(text)) for text in (one, other))
    count = min(len(first), len(second))
    if count < 2 or 2 * len(_words(one) & _words(other)) > min(
        len(_words(one)), len(_words(other))
    ):
        return None
    return f"{one[: first[count - 1].end()]} {other[second[-count].start() :]}"


def _words(text: str) -> set[str]:
    return {match.group().casefold() for match in LONG.finditer(text)}


# --- numbers, negations, names, directions ------------------------------------


def unused_number(said: str) -> str:
    """A number that nobody said."""
    return next(number for number in _NUMBERS if number not in said)


def altered_number(quote: str, said: str) -> str | None:
    """The first number replaced by one that nobody said."""
    match = _DIGITS.search(quote) or _NUMBER_WORD.search(quote)
    if match is None:
        return None
    return quote[: match.start()] + unused_number(said) + quote[match.end() :]


def dropped_number(quote: str) -> str | None:
    """A number left out between words, without an ellipsis."""
    for match in _DIGITS.finditer(quote):
        before, after = quote[: match.start()], quote[match.end() :]
        inside = re.search(r"[a-z]{4}", before) and re.match(r" [a-z]{4}", after)
        if inside and before.endswith(" "):
            return before + after.lstrip()
    return None


def inserted(quote: str, words: str) -> str | None:
    """Words put in after the quotation's first word."""
    first, space, rest = quote.partition(" ")
    return f"{first} {words} {rest}" if space and rest.strip() else None


def negating_word(entry: str) -> str | None:
    """A negation that the entry does not hold."""
    text = entry.casefold().replace("’", "'")
    held = {word for word in _NEVER if word in text} | ({"not"} if "n't" in text else set())
    if re.search(r"\bno\b", text):
        held.add("no longer")
    return next((word for word in _NEVER if word not in held), None)


def dropped_negation(quote: str) -> str | None:
    """A negation left out that governs the word after it."""
    match = _NEGATION.search(quote)
    if match is not None:
        return quote[: match.start()] + quote[match.end() :]
    match = _CONTRACTED.search(quote)
    if match is None:
        return None
    verb = _CONTRACTIONS.get(match["verb"].casefold(), match["verb"])
    return quote[: match.start()] + verb + quote[match.end() :]


def names(quote: str) -> list[str]:
    """The words that a capital letter inside a sentence marks as names."""
    return _NAME.findall(quote)


def altered_name(quote: str, said: str, name: str | None = None) -> str | None:
    """The first name replaced by ``name``, or by one that nobody said."""
    new = name or next(n for n in _NAMES if n.casefold()[:4] not in said)
    match = _NAME.search(quote)
    if match is None or match.group().rstrip("s") == new.rstrip("s"):
        return None  # a name and its plural are one name
    return quote[: match.start()] + new + quote[match.end() :]


def altered_first_name(quote: str, said: str) -> str | None:
    """A name that begins the quotation replaced; others must have it inside a sentence.

    ``said`` is the history in its own case: a capital at the start tells nothing by itself.
    """
    match = re.match(r"[A-Z][a-z]{2,}(?![\w'’])", quote)
    if match is None or match.group() not in names(said):
        return None
    new = next(n for n in _NAMES if n.casefold()[:4] not in said.casefold())
    return new + quote[match.end() :]


def name_behind(mark: str) -> Callable[[str, str], str | None]:
    """Like :func:`altered_name`, with the space before the name replaced by ``mark``."""

    def edit(quote: str, said: str) -> str | None:
        match, changed = _NAME.search(quote), altered_name(quote, said)
        if match is None or changed is None:
            return None
        return changed[: match.start() - 1] + mark + changed[match.start() :]

    return edit


def in_lower_case(quote: str, said: str) -> str | None:
    """Like :func:`altered_name`, without any capital that would mark it as a name."""
    changed = altered_name(quote, said)
    return None if changed is None else changed.lower()


def in_title_case(quote: str, said: str) -> str | None:
    """Like :func:`altered_name`, with capitals that mark every word."""
    changed = altered_name(quote, said)
    return None if changed is None else re.sub(r"\b[a-z]", lambda m: m.group().upper(), changed)


def opposite_direction(quote: str) -> str | None:
    """ "moved to" turned into "moved from" and back, inside the sentence."""
    match = _DIRECTION.search(quote)
    if match is None or not re.search(r"[a-z]{4}", quote[: match.start()]):
        return None
    return quote[: match.start()] + _OPPOSITE[match["word"]] + quote[match.end() :]


# --- disguises ------------------------------------------------------------------


def disguised(word: str) -> str | None:
    """The word with Latin letters replaced by Cyrillic ones that look the same.

    One Latin letter stays at least: a wholly Cyrillic word would be another word.
    """
    changed = word.translate(_LOOKALIKES)
    if changed == word:
        return None
    if not re.search(r"[A-Za-z]", changed):
        changed = changed[:-1] + word[-1]
    return changed if changed != word else None


def disguised_name(quote: str) -> str | None:
    """The first name disguised."""
    match = _NAME.search(quote)
    new = None if match is None else disguised(match.group())
    if match is None or new is None:
        return None
    return quote[: match.start()] + new + quote[match.end() :]


def disguised_words(quote: str) -> str | None:
    """All words disguised that can be; None where too many are left as they were."""
    places = [m for m in _WORD.finditer(quote) if m.group().casefold() not in _KEPT]
    text, done = quote, 0
    for match in reversed(places):
        new = disguised(match.group())
        if new is not None:
            text, done = text[: match.start()] + new + text[match.end() :], done + 1
    return text if done > len(_MARK.findall(quote)) * FOREIGN_SHARE else None


def hidden(word: str, mark: str) -> str:
    """A word with a mark of no width inside, so that it looks like another or like nothing."""
    half = len(word) // 2
    return word[:half] + mark + word[half:]
