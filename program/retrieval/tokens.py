"""Words for the index, and the price of a text in tokens.

Words are found by Unicode class, so that no script is lost: letters and digits
with their marks, emoji. Scripts that write no space between words (Han, kana,
Hangul, Thai, Lao, Khmer, Burmese) are indexed by characters and pairs of
characters. Words are folded (case, accents, typographic apostrophes) as they
are found; a light stemmer makes index terms of them. The same functions serve
entries and questions.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import regex

_DENSE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
_LETTER: Final = rf"[[\p{{L}}\p{{N}}]--[{_DENSE}]]"
_MARKED: Final = rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_DENSE}]]"
_WORD: Final = regex.compile(
    rf"(?V1){_LETTER}{_MARKED}*(?:['’ʼ]{_MARKED}+)*"
    rf"|[{_DENSE}][{_DENSE}\p{{M}}]*"
    r"|[\U0001F1E6-\U0001F1FF]{2}|\p{Extended_Pictographic}"
)
BREAK: Final = "\0"
"""Stands between texts in :func:`words_of_all`; no word holds it."""
# The same on ASCII text, many times as fast: what no word holds becomes a space.
# A test holds the two together.
_ASCII: Final = "".join(
    char.lower() if char.isalnum() or char in ("'", BREAK) else " " for char in map(chr, range(128))
)
_DENSE_RUN: Final = regex.compile(rf"[{_DENSE}]")
_WIDE: Final = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}　-〿！-｠]"
)
CHARS_PER_TOKEN: Final = 4


def words(text: str) -> list[str]:
    """The folded words of ``text``, in order.

    >>> words("I'm at 7:42, 我搬家")
    ["i'm", 'at', '7', '42', '我', '搬', '家', '我搬', '搬家']
    """
    if text.isascii():
        return _split_ascii(text.replace(BREAK, " "))
    found: list[str] = []
    for word in _WORD.findall(text):
        folded = fold(word)
        if _DENSE_RUN.match(word):
            found.extend(folded)
            found.extend(folded[i : i + 2] for i in range(len(folded) - 1))
        elif folded:
            found.append(folded)
    return found


def words_of_all(texts: Iterable[str]) -> list[str]:
    """The words of many texts, with a ``BREAK`` after each text.

    ASCII texts are joined, so that one call splits thousands of them.
    """
    found: list[str] = []
    plain: list[str] = []
    for text in texts:
        if text.isascii() and BREAK not in text:
            plain.append(text)
            plain.append(BREAK)
            continue
        found += _split_ascii(" ".join(plain))
        plain.clear()
        found += words(text)
        found.append(BREAK)
    found += _split_ascii(" ".join(plain))
    return found


def _split_ascii(text: str) -> list[str]:
    blanked = text.translate(_ASCII)
    if "'" in blanked:  # an apostrophe counts only between two letters
        blanked = f" {blanked} ".replace("''", "  ").replace(" '", "  ").replace("' ", "  ")
    return blanked.split()


def count_tokens(text: str) -> int:
    """What ``text`` costs in a prompt: four characters a token, one per wide character.

    An estimate on purpose: it needs no tokenizer, no network and no model, and
    errs on the dear side for scripts whose characters are tokens of their own.

    >>> count_tokens("twelve chars"), count_tokens("我搬家了")
    (3, 4)
    """
    if text.isascii():
        return -(-len(text) // CHARS_PER_TOKEN)
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // CHARS_PER_TOKEN)


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """``word`` without case, accents, typographic apostrophes and Arabic vowel signs."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).casefold().replace("’", "'").replace("ʼ", "'")
    if "\u0600" <= plain[:1] <= "\u06ff":
        plain = plain.translate(_ARABIC)
    elif not plain.isascii() and plain[:1] < "\u0300":
        plain = plain.translate(_LATIN)
    return unicodedata.normalize("NFC", _strip_accents(plain))


def _strip_accents(text: str) -> str:
    if text[:1] < "\u0370":  # Latin only: elsewhere a mark may be half of the letter
        return "".join(char for char in text if not unicodedata.combining(char))
    return text


# Letters that NFKD does not take apart.
_LATIN: Final = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ı": "i", "œ": "oe", "æ": "ae"})
# One form of alif, yāʾ and tāʾ marbūṭa; no vowel signs, no stretching.
_ARABIC: Final = str.maketrans(
    {**dict.fromkeys("أإآٱ", "ا"), "ى": "ي", "ة": "ه", "ـ": None}
    | {chr(code): None for code in (*range(0x064B, 0x0660), 0x0670)}
)


@lru_cache(maxsize=65_536)
def stem(folded: str) -> str:
    """A light stem: inflection goes, the word stays (hike, hikes, hiking -> hik).

    Lighter than Porter's, so that "general" and "generous" stay apart, and
    fast enough to run on every new word of a memory while it is indexed.
    """
    if not folded.isascii():
        return _stem_arabic(folded) if "\u0600" <= folded[:1] <= "\u06ff" else folded
    word = folded
    if word.endswith(("'s", "s'")):
        word = word[:-2] if word.endswith("'s") else word[:-1]
    if len(word) < 4 or not word.isalpha():
        return word
    word = _strip_plural(word)
    for suffix in ("ingly", "edly", "ing", "ied", "ed", "ly"):
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if suffix == "ied":
                word = base + "y"
            elif len(base) >= 3 and _VOWEL.search(base):
                word = _undouble(base)
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    elif len(word) > 3 and word[-1] == "y" and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word


_VOWEL: Final = regex.compile("[aeiouy]")


def _strip_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word[-1] == "s" and word[-2] not in "suia":
        return word[:-1]
    return word


def _undouble(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word


def _stem_arabic(word: str) -> str:
    for prefix in ("وال", "بال", "لل", "ال"):
        if word.startswith(prefix) and len(word) - len(prefix) >= 3:
            return word[len(prefix) :]
    return word


def term(word: str) -> str:
    """The index term of a word as written: folded and stemmed."""
    return stem(fold(word))
