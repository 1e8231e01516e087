"""The small pattern language of the lexicon files, compiled to regular expressions.

A pattern is a line of space-separated elements over the normal form of a
sentence (see ``words``), so that the YAML stays readable for people who do not
read regular expressions:

    ``moved``        this word, in any case
    ``live|lives``   one of these words
    ``jog*``         a word that starts so
    ``just?``        may be missing (also ``just|finally?``)
    ``..``           up to four words, none of them punctuation
    ``^``            the start of the sentence, or of a clause in it ("and", "but", "so", a comma)
    ``{place}``      a capitalised name, captured as the value
    ``{thing}``      one to three plain words, captured as the value
    ``{old}``        one to four plain words, what is over; determiners are left out
    ``{new}``        the same, what holds from now on
    ``{do}``         a plain verb with its preposition, or nothing ("going to", "likes")
    ``{must}``       the same, but it must be there

``i`` also stands for "we" and for "the user", which stored facts use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from stateauditor.program.offline.words import PREFIX, Sentence

_UPPER = "A-ZÀ-ÖØ-Þ"
_NAME = rf"(?-i:[{_UPPER}][^\s,;:().!?\"“”—–]*)"
_STOP = (
    r"(?!(?:a|an|the|and|or|but|so|to|for|from|in|on|at|with|because|since|when|while|after|before|"
    r"last|this|next|that|which|who|is|are|was|were|i|we|it|as|of|by|now|anymore|any|more|yesterday|"
    r"today|ago|about|until|because|then|has|have|had|will|would|he|she|they|you|my|our|his|her|"
    r"their|your|not|no|too|also|though|either|instead|these|those|completely|entirely|altogether|"
    r"recently|lately|finally|already|sadly|ages|years|btw|lol|rather|than|every|each|some|just|"
    r"really|much|been|be|s|me|us|him|them|if|into|onto|over|up|out|off|down|during|without)\s)"
)
_WORD = r"[^\s,;:().!?\"“”—–]+"
_DETERMINER = r"(?:(?:my|our|the|a|an|any|old|new|dear|beloved|trusty|usual) )*"
_PHRASE = rf"(?:{_STOP}{_WORD} ){{1,4}}"
# Verbs of what people regularly do, have and are: without them "living in Bergen" is "Bergen".
_VERB_STEMS = """
attend be bank belong bought buy commut cook do driv drink eat enjoy follow go goes got had hav has
join joined keep learn lik listen liv lov own pay play practic practis prefer read rent rid
run see shop sing speak start started stay studi study subscrib support swim switched tak teach
train us use watch wear work writ
"""
_VERB = rf"(?:{'|'.join(_VERB_STEMS.split())})(?:e|es|s|ing|ning|ting|ming)?"
_PREPOSITION = r"(?:at|in|to|for|with|on|by|as|from|of|about|into)"
_DOING = rf"(?:{_VERB} (?:{_PREPOSITION} )?|(?:up )?{_WORD} {_PREPOSITION} )"
_CAPTURES = {
    "{place}": rf"(?P<value>{_NAME}(?: (?:of |de |la |las |los |the )?{_NAME}){{0,3}}) ",
    "{thing}": rf"(?P<value>(?:{_STOP}{_WORD} ){{1,3}})",
    "{old}": rf"{_DETERMINER}(?P<old>{_PHRASE})",
    "{new}": rf"{_DETERMINER}(?P<new>{_PHRASE})",
    "{do}": rf"(?:{_DOING})?",
    "{must}": _DOING,
}
_ELEMENT = re.compile(r"\{\w+\}")
_SUBJECT = r"(?:i|we|user)"


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern stands in the normal form, and what it captured.

    ``literals`` are the words that the pattern itself spells out.
    """

    start: int
    end: int
    phrase: str
    literals: frozenset[str]
    value: str | None = None
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True)
class Pattern:
    """A pattern with the words that must be there for it to match."""

    source: str
    required: tuple[frozenset[str], ...]
    literals: frozenset[str]
    expression: str

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        # Compiled when first tried: most patterns never meet one of their anchors.
        return re.compile(self.expression, re.IGNORECASE)

    def find(self, sentence: Sentence) -> Match | None:
        """The first match in the sentence."""
        if any(words.isdisjoint(sentence.words) for words in self.required):
            return None
        found = self._regex.search(sentence.norm)
        if found is None:
            return None
        named = {name: text.strip() for name, text in found.groupdict().items() if text}
        return Match(found.start(), found.end(), found.group().strip(), self.literals, **named)


def _element(element: str) -> str:
    if element == "..":
        return rf"(?:{_WORD} ){{0,4}}?"
    if element == "^":
        return r"(?:(?<=^ )|(?<=[,;:.—] )|(?<= (?:and|but) )|(?<= so ))"
    if _ELEMENT.match(element):
        return "".join(_CAPTURES[part] for part in _ELEMENT.findall(element))
    optional = element.endswith("?")
    words = element.rstrip("?").split("|")
    alternatives = "|".join(
        _SUBJECT if w == "i" else re.escape(w[:-1]) + r"[^\s]*" if w.endswith("*") else re.escape(w)
        for w in words
    )
    return rf"(?:(?:{alternatives}) ){'?' if optional else ''}"


def _required(elements: Iterable[str]) -> tuple[frozenset[str], ...]:
    """What must stand in a sentence for a pattern to match: one word of each set.

    Open words ("jog*") are required by their first letters, as in ``Sentence.words``.
    """
    required = []
    for element in elements:
        if element in ("..", "^") or element[0] == "{" or element.endswith("?"):
            continue
        words = element.casefold().split("|")
        required.append(
            frozenset(f"{w[:PREFIX]}*" if w.endswith("*") else w for w in words)
            | ({"we", "user"} if "i" in words else set())
        )
    return tuple(sorted(required, key=_commonness))


def _commonness(words: frozenset[str]) -> tuple[int, int]:
    """Short words and long lists are met often; the rest makes the better index."""
    return (-min(map(len, words)), len(words))


def compile_pattern(source: str) -> Pattern:
    """Compile one line of the pattern language."""
    elements = source.split()
    if not _required(elements):
        raise ValueError(f"a pattern needs at least one plain word: {source!r}")
    body = "".join(_element(e) for e in elements)
    literals = {w for e in elements for w in e.casefold().rstrip("?").split("|")}
    return Pattern(source, _required(elements), frozenset(literals), rf"(?<=\s){body}")


class PatternIndex:
    """Patterns by anchor word: only those that can match a sentence are tried."""

    def __init__(self, labelled: Iterable[tuple[str, Pattern]]) -> None:
        self._by_word: dict[str, list[tuple[int, str, Pattern]]] = {}
        for order, (label, pattern) in enumerate(labelled):
            for word in pattern.required[0]:
                self._by_word.setdefault(word, []).append((order, label, pattern))
        # The roles of one audit read the same lines.
        self._found = lru_cache(maxsize=4_096)(self._find)

    def matches(self, sentence: Sentence) -> bool:
        """Whether any pattern stands in the sentence."""
        return bool(self._found(sentence))

    def find(self, sentence: Sentence) -> Iterator[tuple[str, Match]]:
        """Labels and matches in the order of the lexicon; one match a pattern."""
        return iter(self._found(sentence))

    def _find(self, sentence: Sentence) -> tuple[tuple[str, Match], ...]:
        candidates = {
            order: (label, pattern)
            for word in sentence.words & self._by_word.keys()
            for order, label, pattern in self._by_word[word]
        }
        ordered = (candidates[order] for order in sorted(candidates))
        tried = ((label, pattern.find(sentence)) for label, pattern in ordered)
        return tuple((label, match) for label, match in tried if match is not None)
