"""The lexicon of update cues and life attributes, read from ``lexicon.yaml``.

The words are data and every group says why it is there; this module only
checks the file and turns it into look-ups on folded words (cues) and on stems
(attributes). See the paper, section 4.1, for what the cues must find: a life
event told in words that neither the question nor the old statement shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from stateauditor.program.retrieval.tokens import stem, words
from stateauditor.signatures.errors import ConfigError
from stateauditor.signatures.models import Frozen

_FILE: Final = "lexicon.yaml"
_VERSION: Final = "1"
# Every scalar stays a string: "no", "on" and "yes" are words here, not booleans.
_Loader: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Group(Frozen):
    """A named group of words and phrases, and the reason for it."""

    why: str = Field(min_length=1)
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()


class Attribute(Group):
    """A life attribute, and those that a change of it often changes too."""

    touches: tuple[str, ...] = ()


class LexiconFile(Frozen):
    """The file as written; unknown keys and groups without a reason are refused."""

    version: str = Field(pattern=f"^{_VERSION}$")
    cues: dict[str, Group] = Field(min_length=1)
    attributes: dict[str, Attribute] = Field(min_length=1)
    frame_words: Group
    stop_words: Group

    @model_validator(mode="after")
    def _touches_what_there_is(self) -> Self:
        unknown = {
            name for group in self.attributes.values() for name in group.touches
        } - self.attributes.keys()
        if unknown:
            raise ValueError(f"touches unknown attributes: {', '.join(sorted(unknown))}")
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """Look-ups; cue and attribute numbers are positions in ``cues`` and ``attributes``."""

    cues: tuple[str, ...]
    attributes: tuple[str, ...]
    cue_words: dict[str, tuple[int, ...]]
    cue_phrases: tuple[tuple[tuple[str, ...], int], ...]
    attribute_stems: dict[str, tuple[int, ...]]
    touches: tuple[tuple[int, ...], ...]
    stop_words: frozenset[str]
    frame_words: frozenset[str]

    def attributes_of(self, text: str) -> tuple[str, ...]:
        """The life attributes that the words of ``text`` touch, in file order."""
        found = {
            number for word in words(text) for number in self.attribute_stems.get(stem(word), ())
        }
        return tuple(self.attributes[number] for number in sorted(found))


@cache
def load_lexicon() -> Lexicon:
    """The lexicon that comes with the package, read and checked once a process."""
    return parse_lexicon(
        resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8"), _FILE
    )


def parse_lexicon(text: str, name: str = "lexicon") -> Lexicon:
    """Read a lexicon from YAML text; every mistake is reported at once with its path."""
    try:
        raw: Any = yaml.load(text, Loader=_Loader)
        file = LexiconFile.model_validate(raw)
    except yaml.YAMLError as error:
        raise ConfigError(f"{name} is not readable YAML: {error}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or name}: {fault['msg']}"
            for fault in error.errors()
        )
        raise ConfigError(f"{name}: {faults}") from error
    return _compile(file)


def _compile(file: LexiconFile) -> Lexicon:
    cue_words: dict[str, list[int]] = {}
    phrases: list[tuple[tuple[str, ...], int]] = []
    for number, group in enumerate(file.cues.values()):
        for item in dict.fromkeys((*group.words, *group.phrases)):
            parts = _parts(item)
            if len(parts) == 1:
                cue_words.setdefault(parts[0], []).append(number)
            elif parts:
                phrases.append((parts, number))
    stop = frozenset(part for item in file.stop_words.words for part in _parts(item))
    stems: dict[str, list[int]] = {}
    for number, group in enumerate(file.attributes.values()):
        parts_of_all = (part for item in group.words for part in _parts(item))
        for key in dict.fromkeys(stem(part) for part in parts_of_all if part not in stop):
            stems.setdefault(key, []).append(number)
    number_of = {name: number for number, name in enumerate(file.attributes)}
    return Lexicon(
        cues=tuple(file.cues),
        attributes=tuple(file.attributes),
        cue_words={word: tuple(dict.fromkeys(found)) for word, found in cue_words.items()},
        cue_phrases=tuple(phrases),
        touches=tuple(
            tuple(number_of[name] for name in group.touches) for group in file.attributes.values()
        ),
        attribute_stems={key: tuple(found) for key, found in stems.items()},
        stop_words=stop,
        frame_words=frozenset(p for w in file.frame_words.words for p in _parts(w)),
    )


def _parts(item: str) -> tuple[str, ...]:
    """An item as the index sees it; a word of a dense script becomes its character pairs."""
    parts = tuple(words(item))
    pairs = tuple(part for part in parts if len(part) == 2)
    dense = len(item) > 1 and " " not in item and pairs and len(parts) > 1 and not item.isascii()
    return pairs if dense else parts
